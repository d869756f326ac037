package orient_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"stig/dag"
	"stig/internal/beads"
	"stig/orient"
)

// line is one issue of a test store.
type line struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
	Status      string `json:"status"`
	Type        string `json:"issue_type"`
	Priority    int    `json:"priority"`
	Assignee    string `json:"assignee,omitempty"`
	UpdatedAt   string `json:"updated_at"`
	Notes       string `json:"notes,omitempty"`
	Ephemeral   bool   `json:"ephemeral,omitempty"`
	Template    bool   `json:"is_template,omitempty"`
	Deps        []dep  `json:"dependencies,omitempty"`
}

type dep struct {
	From string `json:"issue_id"`
	On   string `json:"depends_on_id"`
	Type string `json:"type"`
}

func issue(id, status string, more ...func(*line)) line {
	l := line{ID: id, Title: "title of " + id, Status: status, Type: "task", Priority: 2, UpdatedAt: "2026-11-19T09:00:00Z"}
	for _, m := range more {
		m(&l)
	}
	return l
}

// has gives an issue a signal table with these rows.
func has(rows ...string) func(*line) {
	return func(l *line) {
		table := "<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n"
		for _, row := range rows {
			table += "| " + row + " | 2026-11-01 |\n"
		}
		l.Notes = table + "<!-- /stigmergic-signals -->"
	}
}

func on(ids ...string) func(*line)   { return linked("blocks", ids) }
func child(epic string) func(*line)  { return linked("parent-child", []string{epic}) }
func updated(at string) func(*line)  { return func(l *line) { l.UpdatedAt = at } }
func priority(p int) func(*line)     { return func(l *line) { l.Priority = p } }
func by(name string) func(*line)     { return func(l *line) { l.Assignee = name } }
func kind(name string) func(*line)   { return func(l *line) { l.Type = name } }
func titled(text string) func(*line) { return func(l *line) { l.Title = text } }

// flagged marks an issue as ephemeral or as a template; surveys do not count such issues.
func flagged(key string) func(*line) {
	return func(l *line) { l.Ephemeral, l.Template = key == "ephemeral", key == "is_template" }
}

func linked(kind string, ids []string) func(*line) {
	return func(l *line) {
		for _, id := range ids {
			l.Deps = append(l.Deps, dep{l.ID, id, kind})
		}
	}
}

func store(t *testing.T, lines ...line) *beads.Snapshot {
	t.Helper()
	var text strings.Builder
	for _, l := range lines {
		data, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(append(data, '\n'))
	}
	return held(t, text.String())
}

func look(t *testing.T, file *beads.Snapshot, request orient.SurveyRequest) *orient.Survey {
	t.Helper()
	s, err := orient.NewSurvey(file, dag.New(file), request, rules())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// children returns n closed children of an epic.
func children(n int, epic string, more ...func(*line)) (list []line) {
	for k := range n {
		list = append(list, issue(fmt.Sprintf("%s.%d", epic, k), "closed", append(more, child(epic))...))
	}
	return list
}

// TestSurveyAlerts checks the threshold of every alert, and which issue it is about.
func TestSurveyAlerts(t *testing.T) {
	late, atLimit := updated("2026-10-21T08:59:59Z"), updated("2026-10-21T09:00:00Z")
	tests := []struct {
		name  string
		lines []line
		want  string // rules and ids of the attention entries
	}{
		{"nothing", []line{issue("a-1", "open")}, ""},
		{"stale", []line{issue("a-1", "in_progress", late), issue("a-2", "in_progress", atLimit), issue("a-3", "open", late)}, "stale a-1"},
		{"epic above", []line{issue("a-1", "open", kind("epic")), issue("a-2", "closed", child("a-1"), has("surprise | 1.0")),
			issue("a-3", "open", child("a-1"), has("surprise | 1.0")), issue("a-4", "closed", child("a-1"), has("surprise | 0.01"))}, "replanning a-1"},
		{"epic at", []line{issue("a-1", "open", kind("epic")), issue("a-2", "closed", child("a-1"), has("surprise | 1.0")),
			issue("a-3", "open", child("a-1"), has("surprise | 1.0"))}, ""},
		{"epic closed", []line{issue("a-1", "closed", kind("epic")), issue("a-2", "closed", child("a-1"), has("surprise | 1.0")),
			issue("a-3", "closed", child("a-1"), has("surprise | 1.0")), issue("a-4", "closed", child("a-1"), has("surprise | 1.0"))}, ""},
		{"converges above", []line{issue("a-1", "closed", has("surprise | 0.3")), issue("a-2", "closed", has("surprise | 0.31")),
			issue("a-3", "open", on("a-1", "a-2"))}, "convergence-surprise a-3"},
		{"converges at", []line{issue("a-1", "closed", has("surprise | 0.2")), issue("a-2", "closed", has("surprise | 0.4")),
			issue("a-3", "open", on("a-1", "a-2"))}, ""},
		{"converges by its own domain", []line{issue("a-0", "closed"), issue("a-1", "closed", has("surprise | 0.4")),
			issue("a-2", "open", on("a-0", "a-1"), has("cynefin | clear")), issue("a-3", "open", on("a-0", "a-1"), has("cynefin | chaotic"))}, "convergence-surprise a-3"},
		{"one blocker does not converge", []line{issue("a-1", "closed", has("surprise | 1.0")), issue("a-2", "open", on("a-1"), has("cynefin | chaotic"))}, ""},
		{"an epic of many that surprised a little", append(children(40, "a-1", has("surprise | 0.14")), issue("a-1", "open", kind("epic"))), ""},
		{"children without a table do not count", append(children(8, "a-1"), issue("a-1", "open", kind("epic")), issue("a-3", "closed", child("a-1"), has("surprise | 0.7")),
			issue("a-4", "closed", child("a-1"), has("surprise | 0.7")), issue("a-5", "closed", child("a-1"), has("surprise | 0.7"))), "replanning a-1"},
		{"ephemeral and templates", []line{issue("a-1", "in_progress", late, flagged("ephemeral")), issue("a-2", "in_progress", late, flagged("is_template")),
			issue("a-3", "open", on("a-4"), flagged("ephemeral")), issue("a-4", "open", on("a-3"), flagged("ephemeral"))}, ""},
		{"a child that is assigned keeps its epic going", []line{issue("a-1", "open", kind("epic")), issue("a-2", "open", child("a-1"), by("ann"))}, ""},
		{"a child that waits for an answer does not", []line{issue("a-1", "open", kind("epic")), issue("a-2", "open", child("a-1"), has("escalation | pending"))},
			"escalation-pending a-2 stuck-epic a-1"},
		{"a question that the signal does not tell of", []line{issue("a-1", "open", func(l *line) {
			l.Notes = "<!-- escalation-context -->\n## Pending (2026-11-02)\nWhich?\n<!-- /escalation-context -->"
		})}, "escalation-pending a-1"},
		{"three children that wait for their own epic", []line{issue("a-1", "open", kind("epic")), issue("a-2", "open", child("a-1"), on("a-1")),
			issue("a-3", "open", child("a-1"), on("a-1")), issue("a-4", "open", child("a-1"), on("a-1"))}, "deadlock a-1 stuck-epic a-1"},
		{"does not converge yet", []line{issue("a-1", "closed", has("surprise | 0.9")), issue("a-2", "open"),
			issue("a-3", "open", on("a-1", "a-2"))}, ""},
		{"stuck", []line{issue("a-1", "in_progress", kind("epic")), issue("a-2", "open", child("a-1"), on("a-9")), issue("a-9", "open")}, "stuck-epic a-1"},
		{"one child in progress", []line{issue("a-1", "in_progress", kind("epic")), issue("a-2", "open", child("a-1"), on("a-9")),
			issue("a-3", "in_progress", child("a-1")), issue("a-9", "open")}, ""},
		{"pending", []line{issue("a-1", "open", has("escalation | pending")), issue("a-2", "open", has("escalation | resolved"))}, "escalation-pending a-1"},
		{"regressed", []line{issue("a-1", "closed", has("confidence | regressed")), issue("a-2", "closed", has("confidence | validated"))}, "regressed a-1"},
		{"violations", []line{issue("a-1", "open", has("surprise | high")), issue("a-2", "closed", has("surprise | 2.0")), issue("a-3", "closed", has("progress | gone"))},
			"violation a-1"},
		{"a section that does not end", []line{issue("a-1", "open", func(l *line) { l.Notes = "<!-- stigmergic-signals -->\n" })}, "violation a-1"},
		{"deadlock", []line{issue("a-1", "open", on("a-2")), issue("a-2", "open", on("a-1"))}, "deadlock a-1"},
		{"in order", []line{issue("a-1", "in_progress", late, has("escalation | pending")), issue("a-2", "open", on("a-3"), has("surprise | -")), issue("a-3", "open", on("a-2"))},
			"deadlock a-2 escalation-pending a-1 stale a-1 violation a-2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, a := range look(t, store(t, test.lines...), orient.SurveyRequest{}).Attention {
				got = append(got, a.Rule+" "+a.ID)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("attention: %q, want %q", strings.Join(got, " "), test.want)
			}
		})
	}
}

// TestSurveyRanks checks the order of ready work: priority, then the number of waiting issues,
// then id; and the recommended step.
func TestSurveyRanks(t *testing.T) {
	lines := []line{
		issue("a-1", "open"), issue("a-2", "open"), issue("a-3", "open", priority(1)), issue("a-x", "open", priority(0), has("escalation | pending")),
		issue("a-4", "open", on("a-2")), issue("a-5", "open", on("a-4")), issue("a-6", "open", on("a-9")), issue("a-9", "open"),
		issue("a-0", "open", priority(0), kind("epic")), issue("a-7", "in_progress", child("a-0"), by("ann")), issue("a-8", "in_progress", by("bob")),
	}
	s := look(t, store(t, lines...), orient.SurveyRequest{})
	var ids []string
	for _, e := range s.Ready {
		ids = append(ids, fmt.Sprintf("%s/%d", e.ID, e.Unblocks))
	}
	if got, want := strings.Join(ids, " "), "a-3/0 a-2/2 a-9/1 a-1/0"; got != want {
		t.Errorf("ready: %s, want %s", got, want)
	}
	if got := strings.Join(s.Next[0].Argv, " "); got != "stig orient a-3" { // of the issues before it, one is an epic and one waits for an answer
		t.Errorf("next: %s", got)
	}
	if got := strings.Join(s.CriticalPath, " "); got != "a-2 a-4 a-5" {
		t.Errorf("critical path: %s", got)
	}
	if want := (orient.Counts{Total: 11, Open: 9, InProgress: 2, Blocked: 3, Ready: 4, Asked: 1, Epics: 1, Unclosed: 11}); s.Counts != want {
		t.Errorf("counts: %+v, want %+v", s.Counts, want)
	}
	s = look(t, store(t, lines...), orient.SurveyRequest{As: "bob"})
	if s.InProgress[0].ID != "a-8" || s.Next[0].Argv[2] != "a-8" {
		t.Errorf("bob's own claim is not first: %v, next %v", s.InProgress, s.Next)
	}
}

// TestSurveyCaller: a survey offers what its reader can take, gives the state of everything
// else, and its numbers add up.
func TestSurveyCaller(t *testing.T) {
	file := store(t,
		issue("a-1", "open", by("ann")), issue("a-2", "open", by("bob"), priority(1)), issue("a-3", "open"),
		issue("a-4", "open", kind("epic"), priority(0)), issue("a-5", "closed", child("a-4")), issue("a-6", "inreview"), issue("a-7", "open", flagged("ephemeral")))
	for actor, want := range map[string]string{"": "a-3", "ann": "a-1 a-3", "bob": "a-2 a-3", "cem": "a-3"} {
		s := look(t, file, orient.SurveyRequest{Actor: actor})
		var ids []string
		for _, e := range s.Ready {
			ids = append(ids, e.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%q can take %s, want %s", actor, got, want)
		}
	}
	text := look(t, file, orient.SurveyRequest{}).Markdown()
	for _, want := range []string{
		"Next: `stig orient a-3`: P2, the only one that can be started: title of a-3\n",
		"\n# 6 issues: 5 unclosed, 1 closed\n",
		"\n1 ready · 2 assigned to others · 1 other epic · 1 of status inreview\n",
		"\nNot counted: 1 unclosed that are ephemeral or templates.\n",
		"\n- a-4 title of a-4: its only child is closed: close the epic (`stig orient a-4`)\n",
	} {
		if !strings.Contains("\n"+text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for seed := range uint64(20) {
		c := look(t, store(t, workshop(t, seed, 60)...), orient.SurveyRequest{As: "ann"}).Counts
		sum := c.Ready + c.InProgress + c.Asked + c.Assigned + c.Blocked + c.Deferred + c.Epics + c.Unknown + c.Other
		if sum != c.Unclosed || c.Unclosed+c.Closed != c.Total {
			t.Errorf("seed %d: the numbers do not add up: %+v", seed, c)
		}
	}
}

// TestSurveyWords: each thing that holds people up is shown once, in one line, in the order of
// action.
func TestSurveyWords(t *testing.T) {
	late := updated("2026-10-01T09:00:00Z")
	text := look(t, store(t,
		issue("a-1", "open", kind("epic")), issue("a-2", "open", child("a-1"), on("a-1")), issue("a-3", "open", child("a-1"), on("a-1")),
		issue("b-1", "in_progress", late), issue("b-2", "in_progress", by("ann"), late, has("progress | exploring")), issue("b-3", "in_progress", by("bob")),
		issue("c-1", "open", func(l *line) {
			l.Notes = "<!-- escalation-context -->\n## Pending (2026-11-17) by ann\nWhich quay?\n\n## Pending (2026-11-18) by ann\nWhen?\n<!-- /escalation-context -->"
		}),
		issue("d-1", "open")), orient.SurveyRequest{}).Markdown()
	at := 0
	for _, want := range []string{
		"Next: `stig orient d-1`: ", "## What holds people up\n\n",
		"- dependency cycle: a-1 can be closed only after its child a-2 is; a-2 can start only after a-1 is closed; 1 more dependency forms such a cycle with these (`stig cycles`)\n",
		"- question: c-1 title of c-1: asked 3 days ago by ann: Which quay? (and 1 more) (`stig orient c-1`)\n",
		"- stale claim: b-1 title of b-1: nobody named, unchanged for 50 days (`stig orient b-1`)\n",
		"- stale claim: b-2 title of b-2: ann, unchanged for 50 days (`stig orient b-2`)\n",
		"## Ready\n", "## Epics\n", "- a-1 title of a-1: 0 of 2 closed; 2 blocked\n", "## In progress\n\n- b-3 title of b-3: bob\n\n## Worth knowing\n",
	} {
		next := strings.Index(text[at:], want)
		if next < 0 {
			t.Fatalf("no %q after character %d of\n%s", want, at, text)
		}
		at += next + len(want)
	}
	if strings.Count(text, "- b-2")+strings.Count(text, ": b-2") != 1 {
		t.Errorf("a stale claim is told twice:\n%s", text)
	}
}

// TestSurveyNextQuestion: if only questions are left, the first step names the issue and
// nothing more.
func TestSurveyNextQuestion(t *testing.T) {
	text := look(t, store(t, issue("c-1", "open", func(l *line) {
		l.Notes = "<!-- escalation-context -->\n## Pending (2026-11-17) by ann\nWhich quay?\n<!-- /escalation-context -->"
	})), orient.SurveyRequest{}).Markdown()
	if want := "Next: `stig orient c-1`: nothing can be started; begin with what holds people up: question: c-1 title of c-1\n"; !strings.HasPrefix(text, want) {
		t.Errorf("it begins with\n%.150s\nwant\n%s", text, want)
	}
}

// TestSurveyScales checks the limits of the scales: under 30 unclosed issues, 30 to 100, over
// 100.
func TestSurveyScales(t *testing.T) {
	for unclosed, want := range map[int]string{0: orient.Small, 29: orient.Small, 30: orient.Medium, 100: orient.Medium, 101: orient.Large} {
		lines := []line{issue("a-done", "closed")}
		for k := range unclosed {
			lines = append(lines, issue(fmt.Sprintf("a-%d", k), "open"))
		}
		s := look(t, store(t, lines...), orient.SurveyRequest{})
		shown := map[string]int{orient.Small: unclosed, orient.Medium: 10, orient.Large: 5}[want]
		if s.Scale != want || len(s.Ready) != shown {
			t.Errorf("%d unclosed: %s with %d ready, want %s with %d", unclosed, s.Scale, len(s.Ready), want, shown)
		}
		if text, err := json.Marshal(s); err != nil || strings.Contains(string(text), ":null") {
			t.Errorf("%d unclosed: a part without rows is no list: %s %v", unclosed, text, err)
		}
		if full := look(t, store(t, lines...), orient.SurveyRequest{Full: true}); len(full.Ready) != unclosed || len(full.Omitted) != 0 {
			t.Errorf("%d unclosed: in full %d ready, left out %v", unclosed, len(full.Ready), full.Omitted)
		}
	}
}

// workshop returns a generated store of n issues, the same for the same seed.
func workshop(t *testing.T, seed uint64, issues int) []line {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	var lines []line
	for k := range issues {
		id := fmt.Sprintf("loom-%03d", k)
		l := issue(id, pick("open", "open", "open", "open", "closed", "in_progress"),
			titled(pick("Mend", "Thread", "Oil", "Measure", "Sketch")+" the "+pick("heddle", "shuttle", "warp beam", "reed", "treadle")+" of loom "+fmt.Sprint(r.IntN(40))),
			priority(r.IntN(5)), updated(fmt.Sprintf("2026-%02d-%02dT08:00:00Z", 9+r.IntN(3), 1+r.IntN(19))))
		if l.Status == "in_progress" {
			l.Assignee = pick("ann", "bob", "")
		}
		if k%9 == 0 {
			l.Type, l.Status = "epic", "open"
		} else if r.IntN(4) > 0 {
			child(fmt.Sprintf("loom-%03d", k/9*9))(&l)
		}
		for range r.IntN(3) {
			if k > 1 {
				if earlier := r.IntN(k); earlier%9 != 0 {
					on(fmt.Sprintf("loom-%03d", earlier))(&l)
				}
			}
		}
		if r.IntN(3) > 0 {
			has("cynefin | "+pick("clear", "complicated", "complex", "chaotic"), fmt.Sprintf("surprise | 0.%d", r.IntN(10)),
				"escalation | "+pick("none", "none", "none", "pending"), "confidence | "+pick("prototype", "validated", "regressed", "validated"))(&l)
		}
		if r.IntN(30) == 0 {
			has("progress | somewhere")(&l)
		}
		lines = append(lines, l)
	}
	return lines
}

// TestSurveyGolden compares the survey of one store of each scale with a golden file. It fits
// its budget, and the order of the lines does not matter.
func TestSurveyGolden(t *testing.T) {
	request := orient.SurveyRequest{Budget: orient.SurveyBudget}
	for _, scale := range []string{orient.Small, orient.Medium, orient.Large} {
		t.Run(scale, func(t *testing.T) {
			file := harbor(t)
			if scale != orient.Small {
				lines := workshop(t, 7, map[string]int{orient.Medium: 90, orient.Large: 400}[scale])
				file = store(t, lines...)
				slices.Reverse(lines)
				if look(t, store(t, lines...), request).Markdown() != look(t, file, request).Markdown() {
					t.Error("the order of the lines changes the survey")
				}
			}
			s := look(t, file, request)
			if s.Scale != scale {
				t.Errorf("scale %s with %d unclosed issues", s.Scale, s.Counts.Unclosed)
			}
			data, err := json.MarshalIndent(s, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "survey_"+scale+".md", s.Markdown())
			golden(t, "survey_"+scale+".json", string(data)+"\n")
		})
	}
}

// TestSurveyBudget: a survey fits its budget, names what it leaves out, and is complete if the
// budget suffices.
func TestSurveyBudget(t *testing.T) {
	files := []*beads.Snapshot{harbor(t), store(t, workshop(t, 1, 90)...), store(t, workshop(t, 2, 400)...)}
	for _, long := range []string{strings.Repeat("long ", 400), "tïtle\nof two lines"} {
		lines := workshop(t, 3, 60)
		for k := range lines {
			lines[k].Title = long
			lines[k].Description = long
		}
		files = append(files, store(t, lines...))
	}
	for _, file := range files {
		for _, full := range []bool{false, true} {
			whole := look(t, file, orient.SurveyRequest{Full: full}).Markdown()
			for _, budget := range []int{orient.MinBudget, 4000, orient.SurveyBudget} {
				text := look(t, file, orient.SurveyRequest{Full: full, Budget: budget}).Markdown()
				if n := utf8.RuneCountInString(text); n > budget {
					t.Errorf("%d characters, budget %d\n%s", n, budget, text)
				}
				if fits := utf8.RuneCountInString(whole) <= budget; fits != (text == whole) {
					t.Errorf("budget %d, %d characters in all: changed %v", budget, utf8.RuneCountInString(whole), text != whole)
				}
				if text != whole && !strings.HasSuffix(lastLine(text), "(`stig orient --full`)") {
					t.Errorf("cut without saying so: %q", lastLine(text))
				}
			}
		}
	}
}

// TestReview checks the numbers in the judgement of a convergence point.
func TestReview(t *testing.T) {
	file := store(t,
		issue("a-1", "closed", has("surprise | 0.6", "confidence | validated", "evidence-freshness | 2026-11-10")),
		issue("a-2", "closed", on("a-1"), has("surprise | 0.2", "confidence | prototype", "evidence-freshness | 2026-11-12")),
		issue("a-3", "closed", on("a-1"), has("surprise | 0.4", "confidence | regressed")),
		issue("a-4", "closed"),
		issue("a-5", "open", on("a-2", "a-3", "a-4")),
		issue("a-6", "open", on("a-2", "a-3"), has("cynefin | complex")))
	review := func(id string) *orient.Review {
		at, _ := file.Index(id)
		r, err := orient.Assess(file, dag.New(file), at, rules())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := review("a-5")
	var order []string
	for _, d := range r.Dependencies {
		order = append(order, d.ID)
	}
	if got := strings.Join(order, " "); got != "a-1 a-2 a-3 a-4" {
		t.Errorf("trails: %s", got)
	}
	if want := (orient.Surprise{Sum: 0.6, Blockers: 3, Theta: 0.3, Limit: 0.9}); r.Surprise != want || len(r.Alerts) > 0 {
		t.Errorf("surprise %+v, want %+v; alerts %v", r.Surprise, want, r.Alerts)
	}
	e := r.Evidence
	if got := fmt.Sprint(e.Weakest, e.WeakestIn, e.Oldest, e.OldestIn, e.OldestDays, e.Undated, e.Unrecorded); got != "regressed[a-3]2026-11-10[a-1] 10 [a-3] [a-4]" {
		t.Errorf("evidence: %s", got)
	}
	if r = review("a-6"); !r.Surprise.Over || len(r.Alerts) != 1 || !r.Converges { // of the two blockers
		t.Errorf("over θ: %+v, alerts %v, converges %v", r.Surprise, r.Alerts, r.Converges)
	}
}
