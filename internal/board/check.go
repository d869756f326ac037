package board

import (
	"stig/internal/lint"
	"stig/internal/service"
)

// broken is a rule with its diagnostics.
type broken struct {
	lint.Rule
	Found []lint.Diagnostic
	More  int // not shown
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
			list = append(list, broken{r, shown, len(found) - len(shown)})
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
