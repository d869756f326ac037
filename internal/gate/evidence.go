package gate

import (
	"fmt"
	"strings"
)

// Evidence is why an issue may close: a *Verdict or a Waiver, and nothing else.
type Evidence interface {
	// Allows returns an error unless the issue may close on this evidence. criteria is the
	// current text of its criteria.
	Allows(id, criteria string) error
	sealed()
}

func (*Verdict) sealed() {}
func (Waiver) sealed()   {}

// Allows returns an error unless the verdict is for this issue, with these criteria, and
// passed.
func (v *Verdict) Allows(id, criteria string) error {
	switch {
	case v == nil || len(v.outcomes) == 0:
		return fmt.Errorf("%s: no check has run", id)
	case v.issue != id:
		return fmt.Errorf("%s: the verdict is on %s", id, v.issue)
	case v.hash != Hash(criteria):
		return fmt.Errorf("%s: its criteria have changed since the checks ran", id)
	}
	for _, o := range v.outcomes {
		if !o.Passed() {
			return fmt.Errorf("%s: %s: exit %d", id, quotedText(o.Named()), o.Exit)
		}
	}
	return nil
}

// Waiver is somebody's statement that an issue may close without a verdict. Only Waive makes
// one that allows anything.
type Waiver struct {
	why, actor string
	tried      string // the results of its checks, as at the end of a close reason; "" for none
}

// Waive returns an error if the reason is empty of content; see SaysNothing.
func Waive(why, actor string) (Waiver, error) {
	if why = strings.TrimSpace(why); SaysNothing(why) {
		return Waiver{}, fmt.Errorf("a waiver must say why; found %q", why)
	}
	return Waiver{why: why, actor: actor}, nil
}

// Tried returns the waiver for an issue whose checks were run first and did not all pass.
func (w Waiver) Tried(v *Verdict) Waiver {
	w.tried = tried + v.Summary()
	return w
}

// NotTried returns the waiver for an issue whose checks could not be run first.
func (w Waiver) NotTried(why string) Waiver {
	w.tried = notTried + why
	return w
}

// Reason formats the close reason, given what exists now.
func (w Waiver) Reason(what string) string {
	return Waived(what, w.why, w.actor) + w.tried
}

// Allows returns an error for the zero value only.
func (w Waiver) Allows(id, _ string) error {
	if w.why == "" {
		return fmt.Errorf("%s: a waiver needs a reason", id)
	}
	return nil
}

// Why returns the given reason.
func (w Waiver) Why() string { return w.why }

// Actor is who waived.
func (w Waiver) Actor() string { return w.actor }
