package board

import (
	"strings"

	"stig/internal/lint"
	"stig/internal/service"
)

// broken is a rule with its diagnostics.
type broken struct {
	lint.Rule
	Hints []hinted
	Count int
	More  int // not shown
}

// hinted is the diagnostics that have the same hint, apart from the id of the issue.
type hinted struct {
	Hint    string // "" for none
	Message string // of all of them; "" if they differ
	Found   []lint.Diagnostic
}

// byHint groups diagnostics by their hints, in order.
func byHint(list []lint.Diagnostic) (groups []hinted) {
	at := map[string]int{}
	for _, d := range list {
		hint := d.Hint
		if d.ID != "" {
			hint = strings.ReplaceAll(hint, d.ID, "ID")
		}
		k, known := at[hint]
		if !known {
			k, at[hint] = len(groups), len(groups)
			groups = append(groups, hinted{Hint: d.Hint, Message: d.Message})
		}
		g := &groups[k]
		if g.Found = append(g.Found, d); known {
			g.Hint = hint
		}
		if g.Message != d.Message {
			g.Message = ""
		}
	}
	return groups
}

// Tone returns the class of a rule's state.
func (b broken) Tone() string {
	return map[lint.Severity]string{lint.Error: "bad", lint.Warning: "warn"}[b.Severity]
}

// Limits of the diagnostics shown per rule, and in all.
const (
	perRule  = 20
	allRules = 120
)

// check is the page of all diagnostics, by rule.
func check(v *view) (page, error) {
	p := page{Title: "Check", Section: "Check"}
	last, err := looked(v, "check", longer, true, func(v *view) (*service.Checked, error) {
		return service.Check(v.ctx, v.Run, service.CheckRequest{Command: "check"})
	})
	if err != nil {
		return p, err
	}
	checked := last.Value
	if checked == nil {
		checked = &service.Checked{}
	}
	by := map[string][]lint.Diagnostic{}
	for _, d := range checked.Found {
		by[d.Rule] = append(by[d.Rule], d)
	}
	var list []broken
	room := allRules
	for _, r := range checked.Rules {
		if found := by[r.ID]; len(found) > 0 {
			shown := found[:min(len(found), perRule, room)]
			room -= len(shown)
			list = append(list, broken{r, byHint(shown), len(found), len(found) - len(shown)})
		}
	}
	p.Parts = []part{v.part("diagnostics", struct {
		Rules  []broken
		Issues int
		Count  int
		Last   latest[*service.Checked]
	}{list, checked.Issues, len(checked.Found), last})}
	return p, nil
}
