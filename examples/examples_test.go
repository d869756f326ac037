// Package examples_test checks what the example stores promise to show, so that the README, the
// tests of the commands and readers can rely on it.
package examples_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

type issue struct {
	ID                 string
	Title              string
	Description        string
	AcceptanceCriteria string `json:"acceptance_criteria"`
	Notes              string
	Status             string
	Priority           int
	Type               string    `json:"issue_type"`
	Assignee           string    `json:"assignee"`
	Created            time.Time `json:"created_at"`
	Updated            time.Time `json:"updated_at"`
	Closed             time.Time `json:"closed_at"`
	CloseReason        string    `json:"close_reason"`
	Labels             []string
	Dependencies       []struct {
		Issue string `json:"issue_id"`
		On    string `json:"depends_on_id"`
		Type  string
	}
}

type store map[string]issue

// TestHarborIsWrittenAsBdWritesIt: readers compare the store with the export of bd 0.49, and
// the lossless layers are demonstrated on it.
func TestHarborIsWrittenAsBdWritesIt(t *testing.T) {
	ids := []string{}
	for _, line := range lines(t) {
		var compact, escaped bytes.Buffer
		if err := json.Compact(&compact, line); err != nil {
			t.Fatalf("%v in %.60s", err, line)
		}
		json.HTMLEscape(&escaped, compact.Bytes())
		if !bytes.Equal(escaped.Bytes(), line) {
			t.Errorf("%.60s: not as Go's encoder writes it", line)
		}
		if got := keys(t, line); !slices.IsSortedFunc(got, func(a, b string) int {
			return slices.Index(keyOrder, a) - slices.Index(keyOrder, b)
		}) || slices.Contains(got, "") || !slices.Contains(got, "priority") {
			t.Errorf("%.60s: keys %v, want the order %v", line, got, keyOrder)
		}
		ids = append(ids, decode(t, line).ID)
	}
	if !slices.IsSorted(ids) || len(slices.Compact(slices.Clone(ids))) != len(ids) {
		t.Errorf("ids are not sorted, or one repeats: %q", ids)
	}
	if len(ids) < 20 || len(ids) > 40 {
		t.Errorf("%d issues, want 20 to 40", len(ids))
	}
}

var keyOrder = []string{"id", "title", "description", "design", "acceptance_criteria", "notes", "status",
	"priority", "issue_type", "assignee", "owner", "estimated_minutes", "created_at", "created_by",
	"updated_at", "closed_at", "close_reason", "defer_until", "labels", "dependencies", "comments"}

// TestHarborIsConsistent: nothing in the example contains a mistake.
func TestHarborIsConsistent(t *testing.T) {
	s := harbor(t)
	for id, i := range s {
		if i.Title == "" || i.AcceptanceCriteria == "" || i.Priority < 0 || i.Priority > 4 {
			t.Errorf("%s: title, criteria or priority are missing or wrong", id)
		}
		if i.Updated.Before(i.Created) || i.Updated.After(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: created %v, updated %v", id, i.Created, i.Updated)
		}
		closed := i.Status == "closed"
		if closed != (i.CloseReason != "") || closed != i.Closed.Equal(i.Updated) {
			t.Errorf("%s: %s, closed at %v because %q", id, i.Status, i.Closed, i.CloseReason)
		}
		if closed && (i.signal("progress") != "verifying" || !trail.MatchString(i.CloseReason)) {
			t.Errorf("%s: closed with progress %s and reason %q", id, i.signal("progress"), i.CloseReason)
		}
		if p := i.signal("progress"); (p == "implementing" || p == "blocked") && i.section("checkpoint-context") == "" {
			t.Errorf("%s: %s without a checkpoint", id, p)
		}
		if i.Notes != "" && i.signal("planning-depth") != depths[i.signal("cynefin")] {
			t.Errorf("%s: %s with depth %s", id, i.signal("cynefin"), i.signal("planning-depth"))
		}
		parts := asked.FindAllStringSubmatch(i.section("escalation-context"), -1)
		want := "none"
		if len(parts) > 0 {
			want = strings.ToLower(parts[len(parts)-1][1])
		}
		if i.Notes != "" && i.signal("escalation") != want {
			t.Errorf("%s: escalation %s, its section says %s", id, i.signal("escalation"), want)
		}
		for _, d := range i.Dependencies {
			on, there := s[d.On]
			if d.Issue != id || !there {
				t.Errorf("%s: dangling dependency %+v", id, d)
			}
			if closed && d.Type == "blocks" && (on.Status != "closed" || on.Closed.After(i.Closed)) {
				t.Errorf("%s: closed before its blocker %s", id, d.On)
			}
		}
		for _, name := range mentioned.FindAllString(i.Description+i.Notes+i.CloseReason, -1) {
			if _, there := s[strings.TrimSuffix(name, ".")]; !there {
				t.Errorf("%s: speaks of %s, which there is not", id, name)
			}
		}
	}
}

var (
	trail     = regexp.MustCompile(`^(Verified: .+ All acceptance criteria pass: \d/\d \[.+\] at [0-9a-f]{7}\.|Unverified: .+ Waived: .+\.)$`)
	asked     = regexp.MustCompile(`(?m)^## (Pending|Resolved) \(2026-\d\d-\d\d\) by \w+$`)
	mentioned = regexp.MustCompile(`harbor-[0-9a-z.]+`)
	depths    = map[string]string{"clear": "shallow", "complicated": "standard", "complex": "deep", "chaotic": "probe"}
)

// TestHarborTablesAreCanonical: six rows in order, or nine, and nothing else.
func TestHarborTablesAreCanonical(t *testing.T) {
	const date = `2026-1[01]-\d\d`
	table := regexp.MustCompile(`^<!-- stigmergic-signals -->
\| Signal \| Value \| Updated \|
\|---\|---\|---\|
\| schema-version \| 1 \| ` + date + ` \|
\| cynefin \| (clear|complicated|complex|chaotic) \| ` + date + ` \|
\| surprise \| 0\.\d+ \| ` + date + ` \|
\| progress \| (not-started|exploring|implementing|verifying|blocked) \| ` + date + ` \|
\| escalation \| (none \| —|(pending|resolved) \| ` + date + `) \|
\| planning-depth \| (shallow|standard|deep|probe) \| ` + date + ` \|
(\| confidence \| [a-z-]+ \| ` + date + ` \|
\| evidence-freshness \| ` + date + ` \| ` + date + ` \|
\| regression-guard \| (none|manual|automated|runtime) \| ` + date + ` \|
)?<!-- /stigmergic-signals -->(\n\n<!--|$)`)
	for id, i := range harbor(t) {
		if i.Notes != "" && !table.MatchString(i.Notes) {
			t.Errorf("%s: not the canonical table:\n%s", id, i.Notes)
		}
	}
}

// TestHarborShows lists what the example must show, each with the issues that show it, so that
// examples/harbor/README.md can name them.
func TestHarborShows(t *testing.T) {
	s := harbor(t)
	ready := func(i issue) bool { return i.Status == "open" && len(s.open(i)) == 0 }
	promises := []struct {
		what  string
		shown func(issue) bool
		ids   []string // "" stands for any others
	}{
		{"an epic", func(i issue) bool { return i.Type == "epic" }, []string{"harbor-4ke", "harbor-9fd"}},
		{"a ready shallow issue with an interface", func(i issue) bool {
			return ready(i) && i.signal("planning-depth") == "shallow" && slices.ContainsFunc(s.blockers(i), func(b issue) bool {
				return slices.Contains(b.Labels, "interface")
			})
		}, []string{"harbor-4ke.4", ""}},
		{"a ready standard issue with a chain behind it", func(i issue) bool {
			return ready(i) && i.signal("planning-depth") == "standard" && s.distance(i) >= 3
		}, []string{"harbor-9fd.3"}},
		{"a ready deep issue with what is not known", func(i issue) bool {
			return ready(i) && i.signal("planning-depth") == "deep" && headed(i, "Open questions", "Unknowns")
		}, []string{"harbor-4ke.5"}},
		{"a ready probe", func(i issue) bool {
			return ready(i) && i.signal("planning-depth") == "probe" && headed(i, "Hypothesis", "Smallest intervention", "Feedback mechanism")
		}, []string{"harbor-m8t"}},
		{"work in progress that went otherwise than planned", func(i issue) bool {
			return i.Status == "in_progress" && i.signal("surprise") == "0.4" && i.section("checkpoint-context") != ""
		}, []string{"harbor-9fd.6"}},
		{"a pending escalation", func(i issue) bool { return i.signal("escalation") == "pending" }, []string{"harbor-b7q"}},
		{"a resolved escalation", func(i issue) bool { return i.signal("escalation") == "resolved" }, []string{"harbor-c20"}},
		{"an issue without notes", func(i issue) bool { return i.Notes == "" }, []string{"harbor-d3w"}},
		{"an open issue blocked by open ones", func(i issue) bool { return i.Status == "open" && len(s.open(i)) > 0 },
			[]string{"harbor-9fd.4", "harbor-n4s", ""}},
		{"a deferred issue", func(i issue) bool { return i.Status == "deferred" }, []string{"harbor-e5n"}},
		{"a blocked issue", func(i issue) bool { return i.Status == "blocked" }, []string{"harbor-f1r"}},
		{"a table with evidence", func(i issue) bool { return i.signal("confidence") != "" }, []string{"harbor-9fd.2", ""}},
		{"a shallow dependency that is told because it names the issue", func(i issue) bool {
			return i.signal("planning-depth") == "shallow" && slices.ContainsFunc(s.blockers(i), func(b issue) bool {
				_, impact, _ := strings.Cut(b.section("checkpoint-context"), "Downstream impact:")
				return strings.Contains(impact, i.ID)
			})
		}, []string{"harbor-t3c"}},
		{"a convergence point whose blockers surprised", func(i issue) bool {
			return ready(i) && i.signal("cynefin") == "complex" && len(s.blockers(i)) == 1 && s.blockers(i)[0].signal("surprise") == "0.4"
		}, []string{"harbor-4ke.5"}},
		{"criteria in a fence", func(i issue) bool { return len(fences(i)) > 0 }, []string{"harbor-4ke.1", ""}},
		{"criteria in inline code", func(i issue) bool { return inline.MatchString(i.AcceptanceCriteria) }, []string{"harbor-h2j", ""}},
		{"criteria in prose alone", func(i issue) bool { return !strings.Contains(i.AcceptanceCriteria, "`") }, []string{"harbor-9fd.4", ""}},
		{"a waived criterion", func(i issue) bool { return strings.HasPrefix(i.CloseReason, "Unverified: ") }, []string{"harbor-k9p"}},
	}
	readme, err := os.ReadFile("harbor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range promises {
		var got []string
		for id, i := range s {
			if p.shown(i) {
				got = append(got, id)
			}
		}
		slices.Sort(got)
		more := slices.Contains(p.ids, "")
		for _, id := range p.ids {
			if id != "" && !slices.Contains(got, id) {
				t.Errorf("%s: %s does not show it", p.what, id)
			}
		}
		if !more && len(got) != len(p.ids) {
			t.Errorf("%s: shown by %v, want %v", p.what, got, p.ids)
		}
	}
	for _, name := range mentioned.FindAllString(string(readme), -1) {
		if _, there := s[name]; !there {
			t.Errorf("README.md: no issue %s", name)
		}
	}
	for _, kind := range []string{"epic", "task", "bug", "feature", "chore"} {
		if !slices.ContainsFunc(s.all(), func(i issue) bool { return i.Type == kind }) {
			t.Errorf("no issue of type %s", kind)
		}
	}
	for priority := range 5 {
		if !slices.ContainsFunc(s.all(), func(i issue) bool { return i.Priority == priority }) {
			t.Errorf("no issue of priority %d", priority)
		}
	}
}

// TestHarborTellsTheTruth runs the criteria: those of closed issues pass,
// those of issues that are still to be done do not.
func TestHarborTellsTheTruth(t *testing.T) {
	ran := 0
	tree := t.TempDir()
	if err := os.CopyFS(tree, os.DirFS("harbor")); err != nil {
		t.Fatal(err)
	}
	for id, i := range harbor(t) {
		for _, script := range fences(i) {
			cmd := exec.Command("bash", "-euo", "pipefail", "-c", script)
			cmd.Dir = tree
			out, err := cmd.CombinedOutput()
			if passed := err == nil; passed != (i.Status == "closed") {
				t.Errorf("%s is %s, but of its criteria\n%s\ncame %v\n%s", id, i.Status, script, err, out)
			}
			ran++
		}
	}
	if ran == 0 {
		t.Error("no criteria were run")
	}
}

var (
	fence  = regexp.MustCompile("(?s)```sh\n(.*?)```")
	inline = regexp.MustCompile("(?m)(^|[^`])`(\\./\\S+|\\w+ [^`]+)`")
)

func fences(i issue) (scripts []string) {
	for _, m := range fence.FindAllStringSubmatch(i.AcceptanceCriteria, -1) {
		scripts = append(scripts, m[1])
	}
	return scripts
}

func headed(i issue, headings ...string) bool {
	for _, h := range headings {
		if !strings.Contains(i.Description, "## "+h+"\n") {
			return false
		}
	}
	return true
}

func (i issue) section(name string) string {
	_, rest, _ := strings.Cut(i.Notes, "<!-- "+name+" -->\n")
	body, _, _ := strings.Cut(rest, "<!-- /"+name+" -->")
	return body
}

func (i issue) signal(name string) string {
	_, rest, found := strings.Cut(i.section("stigmergic-signals"), "\n| "+name+" | ")
	if !found {
		return ""
	}
	value, _, _ := strings.Cut(rest, " |")
	return value
}

func (s store) all() (all []issue) {
	for _, i := range s {
		all = append(all, i)
	}
	return all
}

func (s store) blockers(i issue) (all []issue) {
	for _, d := range i.Dependencies {
		if d.Type == "blocks" {
			all = append(all, s[d.On])
		}
	}
	return all
}

func (s store) open(i issue) []issue {
	return slices.DeleteFunc(s.blockers(i), func(b issue) bool { return b.Status == "closed" })
}

// distance is that of the farthest closed blocker.
func (s store) distance(i issue) int {
	farthest := 0
	for _, b := range s.blockers(i) {
		if b.Status == "closed" {
			farthest = max(farthest, 1+s.distance(b))
		}
	}
	return farthest
}

func harbor(t *testing.T) store {
	t.Helper()
	s := store{}
	for _, line := range lines(t) {
		i := decode(t, line)
		s[i.ID] = i
	}
	return s
}

func decode(t *testing.T, line []byte) (i issue) {
	t.Helper()
	if err := json.Unmarshal(line, &i); err != nil {
		t.Fatalf("%v in %.60s", err, line)
	}
	return i
}

func lines(t *testing.T) [][]byte {
	t.Helper()
	data, err := os.ReadFile("harbor/.beads/issues.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text, complete := bytes.CutSuffix(data, []byte("\n"))
	if !complete {
		t.Fatal("no newline at the end")
	}
	return bytes.Split(text, []byte("\n"))
}

// keys lists the keys of a line in its order; an unknown one is "".
func keys(t *testing.T, line []byte) (names []string) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(line))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		name := key.(string)
		if !slices.Contains(keyOrder, name) {
			name = ""
		}
		names = append(names, name)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	return names
}
