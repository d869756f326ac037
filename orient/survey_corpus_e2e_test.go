//go:build e2e

package orient_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"stig/dag"
	"stig/internal/testkit/sample"
	"stig/orient"
)

// TestSurveyCorpus surveys real stores and reviews what converges in them.
func TestSurveyCorpus(t *testing.T) {
	for _, path := range sample.Corpus(t, "*.jsonl") {
		file := open(t, path)
		s := look(t, file, orient.SurveyRequest{Budget: orient.SurveyBudget})
		text := s.Markdown()
		if n := utf8.RuneCountInString(text); n > orient.SurveyBudget {
			t.Errorf("%s: %d characters", path, n)
		}
		if len(s.Next) != 1 || !strings.HasPrefix(text, "Next: `") {
			t.Errorf("%s: recommends %v", path, s.Next)
		}
		for _, c := range s.Convergence {
			at, _ := file.Index(c.ID)
			r, err := orient.Assess(file, dag.New(file), at, rules())
			if err != nil {
				t.Fatal(err)
			}
			if !r.Converges || r.Surprise.Sum != c.Surprise || r.Surprise.Limit != c.Limit || r.Surprise.Blockers != c.Blockers {
				t.Errorf("%s: the survey says %+v, the review %+v", path, c, r.Surprise)
			}
		}
	}
}
