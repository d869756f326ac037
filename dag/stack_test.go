package dag_test

import (
	"strings"
	"testing"

	"stig/dag"
)

// stacked is a store whose issues with a title are in review: "review" waits for reviewers.
type stacked struct{ store }

func (s stacked) Requests() func(i int) (number int, waits bool) {
	return func(i int) (number int, waits bool) {
		if s.At(i).Title == "" {
			return 0, false
		}
		return i + 1, s.At(i).Title == "review"
	}
}

// TestStacks checks which issues can be worked on upon a request: those in a linear chain.
func TestStacks(t *testing.T) {
	for _, c := range []struct{ name, issues, review, feedback, want string }{
		{"one request", "a\nb: b>a", "a", "", "b upon 1 of a"},
		{"a chain", "a\nb: b>a\nc: b>b", "a b", "", "b upon 1 of a, c upon 2 of b"},
		{"the chain ends where nothing is in review", "a\nb: b>a\nc: b>b", "a", "", "b upon 1 of a"},
		{"the lowest waits for something else", "x\na: b>x\nb: b>a\nc: b>b", "a b", "", ""},
		{"two dependents", "a\nb: b>a\nc: b>a", "a", "", ""},
		{"a dependent is closed", "a\nb: b>a\nc closed: b>a", "a", "", "b upon 1 of a"},
		{"two blockers", "a\nx\nb: b>a b>x", "a x", "", ""},
		{"a blocker is closed", "a\nx closed\nb: b>a b>x", "a", "", "b upon 1 of a"},
		{"a dependency on another store", "a\nb: b>a b>external:dock:x", "a", "", ""},
		{"only if it fails", "a\nb: c>a", "a", "", ""},
		{"an epic waits for it", "a\ne open epic: b>a\nb: p>e", "a", "", ""},
		{"its epic waits for something else", "a\nx\ne open epic: b>x\nb: p>e b>a", "a", "", ""},
		{"a worker answers reviewers", "a\nb: b>a", "", "a", ""},
		{"work began before that", "a\nb in_progress: b>a", "", "a", "b upon 1 of a"},
		{"a cycle", "a: b>b\nb: b>a", "a b", "", ""},
	} {
		s := parse(t, c.issues)
		for _, issue := range s {
			if strings.Contains(c.review, issue.ID) {
				issue.Title = "review"
			} else if strings.Contains(c.feedback, issue.ID) {
				issue.Title = "feedback"
			}
		}
		graph, plain := dag.New(stacked{s}), dag.New(s)
		var got []string
		for i, issue := range s {
			u, ok := graph.Upon(i)
			if !ok {
				if graph.State(i, dag.Worker{}) != plain.State(i, dag.Worker{}) {
					t.Errorf("%s: %s stands elsewhere without a stack", c.name, issue.ID)
				}
				continue
			}
			got = append(got, strings.NewReplacer("upon request #", issue.ID+" upon ").Replace(u.Words(func(i int) string { return s[i].ID })))
			if state := graph.State(i, dag.Worker{}); state == dag.StateBlocked {
				t.Errorf("%s: %s is %s", c.name, issue.ID, state)
			}
			if graph.Standing(i, dag.Worker{}).KeepsOpen().Free() {
				t.Errorf("%s: %s can be closed before what it is built upon", c.name, issue.ID)
			}
		}
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
