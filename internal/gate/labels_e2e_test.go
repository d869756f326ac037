//go:build e2e

package gate_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stig/internal/gate"
	"stig/internal/testkit/sample"
)

// heldBack are the stores that were read only after the rules were final.
var heldBack = []string{
	"steveyegge+beads.largest.jsonl", "Dicklesworthstone+mcp_agent_mail.jsonl", "edge/conflict-markers.steveyegge+beads@66d0dc4332.jsonl",
}

// TestLabels compares Plan with a reader's judgement of real criteria. The file of labels says
// how they were assigned.
func TestLabels(t *testing.T) {
	corpus := sample.CorpusDir(t)
	text, err := os.ReadFile("testdata/labels")
	if err != nil {
		t.Fatal(err)
	}
	var all, held score
	read := score{read: true}
	byStore := map[string]*score{}
	stores := map[string]map[string]gate.Check{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 6 || fields[0] == "#" {
			continue
		}
		store, issue, origin, span, label := fields[0], fields[1], fields[2], fields[3], fields[4]
		if stores[store] == nil {
			stores[store] = planned(t, filepath.Join(corpus, filepath.FromSlash(store)))
		}
		check, found := stores[store][issue+" "+origin+" "+span]
		if !found {
			t.Errorf("%s: %s holds no %s %s", store, issue, origin, span)
			continue
		}
		said := label == "run"
		if is := check.Asked(); label != "open" && is != said && (is || label != "manual") {
			t.Logf("%s %s, labelled %s: %s %s %s", store, issue, label, check.Class, check.Text, check.Reason)
		}
		all.count(check, label)
		read.count(check, label)
		if byStore[store] == nil {
			byStore[store] = &score{}
		}
		byStore[store].count(check, label)
		for _, name := range heldBack {
			if name == store {
				held.count(check, label)
			}
		}
	}
	for _, store := range slices.Sorted(maps.Keys(byStore)) {
		t.Logf("%s: %s", store, byStore[store])
	}
	t.Logf("all:       %s", all)
	t.Logf("held back: %s", held)
	t.Logf("to read:   %s", read)
	if read.right < 70 || all.precision() < 0.98 || all.recall() < 0.95 {
		t.Errorf("precision must be 0.98 and recall 0.95 at least, and 70 commands be found")
	}
}

// TestSpans compares Plan with a reader's judgement of invented criteria.
func TestSpans(t *testing.T) {
	file, err := os.ReadFile("testdata/spans")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{"r": "run", "m": "manual", "n": "not", "o": "open"}
	mark := regexp.MustCompile("`\\{([rmno])\\}")
	_, texts, _ := strings.Cut(string(file), "\n---\n")
	var all score
	read := score{read: true}
	for text := range strings.SplitSeq(texts, "\n---\n") {
		labels := mark.FindAllStringSubmatch(text, -1)
		for _, check := range gate.Plan(mark.ReplaceAllString(text, "`")) {
			if check.Origin != gate.Span {
				continue
			}
			if len(labels) == 0 {
				t.Fatalf("%q has no label", check.Text)
			}
			label := said[labels[0][1]]
			labels = labels[1:]
			if is := check.Asked(); label != "open" && is != (label == "run") && (is || label != "manual") {
				t.Logf("labelled %s: %s %s %s", label, check.Class, check.Text, check.Reason)
			}
			all.count(check, label)
			read.count(check, label)
		}
		if len(labels) > 0 {
			t.Fatalf("%d labels without code in %q", len(labels), text)
		}
	}
	t.Logf("to run:  %s", all)
	t.Logf("to read: %s", read)
	if all.precision() < 0.98 || all.recall() < 0.95 {
		t.Errorf("%s: precision must be 0.98 and recall 0.95 at least", all)
	}
}

// score counts what was taken for a command to run and, with read, for one that a person must
// read too.
type score struct {
	right, wrong, missed, open, spans int
	read                              bool
}

func (s *score) count(check gate.Check, label string) {
	is, said := check.Asked(), label == "run"
	if s.read {
		is, said = check.Class != gate.Mention, label != "not"
	}
	s.spans++
	switch {
	case label == "open":
		s.open++
	case is && said:
		s.right++
	case is:
		s.wrong++
	case said:
		s.missed++
	}
}

func (s score) precision() float64 { return float64(s.right) / float64(max(1, s.right+s.wrong)) }
func (s score) recall() float64    { return float64(s.right) / float64(max(1, s.right+s.missed)) }

func (s score) String() string {
	return fmt.Sprintf("precision %.3f (%d wrong), recall %.3f (%d missed), %d commands of %d spans, %d open",
		s.precision(), s.wrong, s.recall(), s.missed, s.right+s.missed, s.spans, s.open)
}

// planned plans all criteria of a store on a machine without programs, so that the answer is
// the same everywhere.
func planned(t *testing.T, path string) map[string]gate.Check {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	checks := map[string]gate.Check{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var issue struct {
			ID                  string
			Acceptance          string `json:"acceptance_criteria"`
			Description, Design string
		}
		if json.Unmarshal(lines.Bytes(), &issue) != nil {
			continue // edge/ has stores in this state
		}
		seen := map[string]int{}
		for _, check := range gate.Find(issue.Acceptance, issue.Description, issue.Design).Plan() {
			seen[check.Text]++
			hash := sha256.Sum256([]byte(check.Text))
			checks[fmt.Sprintf("%s %s %x.%d", issue.ID, check.Origin, hash[:6], seen[check.Text])] = check
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return checks
}
