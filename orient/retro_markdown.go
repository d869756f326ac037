package orient

import (
	"fmt"
	"strings"

	"stig/signals"
)

// Markdown renders the retrospective.
func (r *Retro) Markdown() string {
	w := &page{}
	where := "the store"
	if r.Epic != "" {
		where = "epic " + r.Epic
	}
	w.linef("# Retrospective of %s", where)
	w.blank()
	w.line(r.looked())
	w.blank()
	w.linef("- surprise: %s", r.Surprise.words())
	w.linef("- shifts of domain: %s", r.Shifts.words())
	w.linef("- passed at first: %s closed as verified%s", r.FirstPass.words(), r.FirstPass.few())
	w.linef("- waived: %s%s", r.Waivers.words(), r.Waivers.few())
	if r.Reopened == nil {
		w.line("- reopened: not known, the store has no history")
	} else {
		w.linef("- reopened: %s%s", r.Reopened.words(), r.Reopened.few())
	}
	w.linef("- no surprise at all: %s, without a checkpoint: %s%s", r.ZeroSurprise.words(), r.NoCheckpoint.words(), r.ZeroSurprise.few())
	if r.Draft == "" {
		w.blank()
		w.line("No pattern stands out.")
		return w.String()
	}
	w.heading("To escalate")
	w.quote(r.Draft)
	return strings.TrimRight(w.String(), "\n") + "\n"
}

// looked says what was looked at.
func (r *Retro) looked() string {
	if len(r.Closed) == 0 {
		return "Nothing is closed yet."
	}
	return fmt.Sprintf("The last %s closed, from %s to %s.", count(len(r.Closed), "issue"), r.From, r.To)
}

// few says that nothing is claimed of a share.
func (s Share) few() string {
	if s.Of > signals.ThresholdTooFew {
		return ""
	}
	return " (too few to say more)"
}

func (s *RetroShifts) words() string {
	switch {
	case s == nil:
		return "not known, the store has no history"
	case s.N <= signals.ThresholdTooFew:
		return fmt.Sprintf("%d up, %d down (too few to say more)", s.Up, s.Down)
	}
	return fmt.Sprintf("%d up, %d down", s.Up, s.Down)
}
