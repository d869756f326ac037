package board_test

import (
	"fmt"
	"html"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stig/internal/board"
)

// fleet is a store with an issue in each column but one, in two epics and in none.
const fleet = `{"id":"pier-1","title":"Hull","status":"open","priority":1,"issue_type":"epic"}
{"id":"pier-1.1","title":"Keel","status":"in_progress","assignee":"ann","priority":1,"issue_type":"task","dependencies":[{"issue_id":"pier-1.1","depends_on_id":"pier-1","type":"parent-child"}]}
{"id":"pier-1.2","title":"Planks","description":"Oak\n","status":"open","priority":1,"issue_type":"task","labels":["oak","wet"],"dependencies":[{"issue_id":"pier-1.2","depends_on_id":"pier-1","type":"parent-child"},{"issue_id":"pier-1.2","depends_on_id":"pier-1.1","type":"blocks"}]}
{"id":"pier-1.3","title":"Frames","status":"closed","priority":1,"issue_type":"task","updated_at":"2026-11-19T09:00:00Z","dependencies":[{"issue_id":"pier-1.3","depends_on_id":"pier-1","type":"parent-child"}]}
{"id":"pier-2","title":"Sail","status":"open","priority":2,"issue_type":"bug"}
{"id":"pier-3","title":"Flag","status":"deferred","priority":2,"issue_type":"task"}
{"id":"pier-4","title":"Old anchor","status":"closed","priority":2,"issue_type":"task","updated_at":"2026-10-01T09:00:00Z"}
{"id":"pier-5","title":"Anchor","status":"open","priority":2,"issue_type":"task"}
{"id":"pier-6","title":"Rud\u202eder","status":"closed","priority":2,"issue_type":"task","updated_at":"2026-10-01T09:00:00Z"}
`

// cells returns the titles on the wall of a page, by lane and column.
func cells(body string) map[string]string {
	found := map[string]string{}
	for _, lane := range strings.Split(body, `<section class="lane">`)[1:] {
		head, _, _ := strings.Cut(lane, "</h2>")
		name := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(head, "")
		for _, cell := range strings.Split(lane, `<div class="cell`)[2:] {
			column := regexp.MustCompile(`<h3>(.*?)</h3>`).FindStringSubmatch(cell)[1]
			for _, title := range regexp.MustCompile(`<a class="name"[^>]*>(.*?)</a>`).FindAllStringSubmatch(cell, -1) {
				found[name+", "+column] = strings.TrimPrefix(found[name+", "+column]+" "+title[1], " ")
			}
		}
	}
	return found
}

// TestColumns: each issue is in the lane of its epic and in the column of its state, which the
// filter of the list finds too.
func TestColumns(t *testing.T) {
	s := serve(t, fleet, nil)
	s.askOn(t, "pier-5", "ann", "How heavy?")
	c := s.browser(t)
	body := c.ready(t, "/issues?as=columns")
	want := map[string]string{
		"Hull 1 of 3 closed, running": "Keel", "Hull 1 of 3 closed, waits": "Planks", "Hull 1 of 3 closed, closed": "Frames",
		"No epic, ready": "Sail", "No epic, waits": "Flag Anchor",
	}
	got := cells(body)
	for cell, titles := range want {
		if got[cell] != titles {
			t.Errorf("%s: %q, want %q", cell, got[cell], titles)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the wall has %v", got)
	}
	contains(t, body, "blocked by 1", "waits for you", "deferred")
	for query, want := range map[string]string{
		"state=ready": "pier-2", "state=running": "pier-1.1", "state=waits": "pier-1.2 pier-3 pier-5", "state=blocked": "pier-1.2 pier-3", "state=waits+for+you": "pier-5", "state=closed": "pier-1.3 pier-4 pier-6", "state=to+land": "",
		"state=waits&parent=pier-1": "pier-1.2", "state=waits&q=anchor": "pier-5",
	} {
		if got := ids(c.ready(t, "/issues?"+query)); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if status, body := c.get(t, "/issues?state=done"); status != 422 || !strings.Contains(body, "state: must be one of ready, running, waits for you, blocked, to land, closed") {
		t.Errorf("%d %s", status, body)
	}
}

// TestFullCells: a cell shows the first issues, and links to a list of all.
func TestFullCells(t *testing.T) {
	var text strings.Builder
	for _, n := range strings.Fields("a b c d e f g h i j") {
		text.WriteString(`{"id":"pier-` + n + `","title":"Rope ` + n + `","status":"open","priority":2,"issue_type":"task"}` + "\n")
	}
	c := serve(t, text.String(), nil).browser(t)
	body := c.ready(t, "/issues?as=columns")
	if got := cells(body)["No epic, ready"]; strings.Count(got, "Rope") != 6 {
		t.Errorf("the cell has %s", got)
	}
	contains(t, body, `<a href="/issues?state=ready">4 more</a>`)
}

// TestNoIssues: an empty list says what to do next.
func TestNoIssues(t *testing.T) {
	c := serve(t, `{"id":"pier-1","title":"Rope","status":"closed"}`+"\n", nil).browser(t)
	for path, want := range map[string]string{
		"/issues": `type <code class="copy">stig create`, "/issues?as=columns&q=sail": `<a href="/issues">Show all`, "/issues?label=wet": `<a href="/issues">Show all`,
		"/graph": `type <code class="copy">stig create`, "/graph?status=open": `<a href="/graph">Draw all`,
	} {
		contains(t, c.ready(t, path), want)
	}
}

// TestMenus: the filters offer what is in the store, and keep what the query has.
func TestMenus(t *testing.T) {
	c := serve(t, fleet, nil).browser(t)
	body := c.ready(t, "/issues?label=wet&since=30d")
	contains(t, body, `<option value="oak">`, `<option value="wet" selected>`, `<option value="ann">`, `<option value="bug">`, `<option value="pier-1">Hull (pier-1)</option>`,
		`<input type="hidden" name="since" value="30d">`)
	if n := strings.Count(body, `type="search"`); n != 1 {
		t.Errorf("%d search fields", n)
	}
}

// TestSavedViews: a view has a name, and all boards of the clone show it.
func TestSavedViews(t *testing.T) {
	s := serve(t, fleet, nil)
	c := s.browser(t)
	c.form = "/issues?new=yes"
	for _, f := range [][]string{{"name", "", "query", "state=waits"}, {"name", "x", "query", ""}, {"name", strings.Repeat("x", 41), "query", "state=waits"}} {
		if status, _ := c.post(t, "/store/save", f...); status != 422 {
			t.Errorf("%v: %d", f, status)
		}
	}
	query := url.Values{"state": {"waits"}, "as": {"columns"}}.Encode()
	if status, body := c.post(t, "/store/save", "name", "What <waits>", "query", query); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	contains(t, c.ready(t, "/issues"), `<a href="/issues?`+html.EscapeString(query)+`">What &lt;waits&gt;</a>`)
	contains(t, c.ready(t, "/issues?"+query), `aria-current="true">What &lt;waits&gt;</a>`, `action="/store/forget"`)
	if status, _ := c.post(t, "/store/forget", "name", "What <waits>"); status != 200 {
		t.Errorf("forget: %d", status)
	}
	if _, body := c.get(t, "/issues"); strings.Contains(body, "What &lt;waits") {
		t.Error("the view is still there")
	}
	for n := range 31 {
		if status, body := c.post(t, "/store/save", "name", fmt.Sprint(n), "query", query); (status != 200) != (n == 30) {
			t.Errorf("view %d: %d %s", n, status, body)
		}
	}
	if err := os.WriteFile(s.dir+"/.stig.cue", []byte(`views: bugs: type: ["bug"]`), 0o644); err != nil {
		t.Fatal(err)
	}
	contains(t, c.ready(t, "/issues"), `<a href="/issues?view=bugs">bugs</a>`)
	if got := ids(c.ready(t, "/issues?view=bugs")); got != "pier-2" {
		t.Errorf("the view of the configuration finds %q", got)
	}
}

// TestCreate: a form creates an issue and shows it; a rejected one keeps what was typed.
func TestCreate(t *testing.T) {
	s := serve(t, fleet, nil)
	c := s.browser(t)
	c.form = "/issues?new=yes&parent=pier-1"
	contains(t, c.ready(t, c.form), `<option value="pier-1" selected>Hull`)
	status, body := c.post(t, "/store/create", "form", "create", "title", " ", "priority", "2", "type", "task", "description", "of teak")
	if contains(t, body, "the title is empty", "of teak</textarea>"); status != 422 {
		t.Errorf("without a title: %d", status)
	}
	status, body = c.post(t, "/store/create", "form", "create", "title", "Deck", "priority", "1", "type", "feature", "parent", "pier-1", "labels", "teak, wet ,", "description", "of teak\r\nor oak", "criteria", "")
	if contains(t, body, "<title>Deck"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	text, _ := os.ReadFile(s.store())
	line := regexp.MustCompile(`.*"Deck".*`).FindString(string(text))
	for _, want := range []string{`"priority":1`, `"issue_type":"feature"`, `"labels":["teak","wet"]`, `of teak\nor oak`, `parent-child`} {
		if !strings.Contains(line, want) {
			t.Errorf("%s lacks %s", line, want)
		}
	}
}

// TestEdit: a form changes only what was changed in it, and never what somebody else has changed
// since.
func TestEdit(t *testing.T) {
	s := serve(t, fleet, nil)
	c := s.browser(t)
	c.form = "/issues?edit=pier-1.2"
	with := func(changes ...string) []string {
		sum := regexp.MustCompile(`name="sum" value="([^"]*)"`).FindStringSubmatch(c.ready(t, c.form))[1]
		fields := []string{"form", "edit", "sum", sum, "title", "Planks", "priority", "1", "type", "task", "parent", "pier-1", "labels", "oak, wet", "description", "Oak\r\n", "criteria", ""}
		for i := 0; i < len(changes); i += 2 {
			fields[slices.Index(fields, changes[i])+1] = changes[i+1]
		}
		return fields
	}
	if body := c.ready(t, "/issues/pier-1.2?edit=pier-1.2"); !strings.Contains(body, ">Oak\n</textarea>") || strings.Contains(body, "<h2>Description") {
		t.Errorf("on the page of the issue, the form is not in the place of the description: %s", body)
	}
	before, _ := os.ReadFile(s.store())
	if status, body := c.post(t, "/issues/pier-1.2/edit", with()...); status != 200 {
		t.Errorf("no change: %d %s", status, body)
	}
	if after, _ := os.ReadFile(s.store()); string(after) != string(before) {
		t.Error("a form without changes changed the store")
	}
	if status, body := c.post(t, "/issues/pier-1.2/edit", with("parent", "pier-9")...); status != 404 || !strings.Contains(body, `name="title" required value="Planks"`) {
		t.Errorf("an epic that there is not: %d %s", status, body)
	}
	old := with("description", "Of pine, I say")
	if status, body := c.post(t, "/issues/pier-1.2/edit", with("title", "Long planks", "priority", "0", "labels", "")...); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	after, _ := os.ReadFile(s.store())
	line := regexp.MustCompile(`.*"Long planks".*`).FindString(string(after))
	if contains(t, line, `"description":"Oak\n"`, `"priority":0`); strings.Contains(line, "wet") {
		t.Errorf("the labels are still there: %s", line)
	}
	status, body := c.post(t, "/issues/pier-1.2/edit", old...)
	if contains(t, body, "somebody else has changed it", "Of pine, I say</textarea>"); status != 409 {
		t.Errorf("after somebody else: %d", status)
	}
	if status, body := c.get(t, "/issues?edit=pier-6"); status != 422 || !strings.Contains(body, "has hidden characters") {
		t.Errorf("a text that a form would lose: %d %s", status, body)
	}
	far := serve(t, fleet, func(o *board.Options) { o.Local = false }).browser(t)
	if body := far.ready(t, "/issues?edit=pier-1.2&new=yes"); strings.Contains(body, `<form class="box`) || strings.Contains(body, "edit=pier-1.1") {
		t.Error("a board for other machines offers edits")
	}
	far.form = "/issues/pier-2"
	if status, _ := far.post(t, "/issues/pier-2/edit", "title", "Sails"); status != 405 {
		t.Errorf("an edit from another machine: %d", status)
	}
	if status, _ := far.post(t, "/store/create", "title", "Sails"); status != 405 {
		t.Errorf("an issue from another machine: %d", status)
	}
}

// ids returns the ids of the issues in the list of a page, sorted.
func ids(body string) string {
	var list []string
	for _, row := range regexp.MustCompile(`<tr class="item"><td><a class="name" href="/issues/([^"]*)">`).FindAllStringSubmatch(body, -1) {
		list = append(list, row[1])
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestElsewhere: an issue that depends on another project waits on the board too, and its page
// says why.
func TestElsewhere(t *testing.T) {
	s := serve(t, `{"id":"pier-1","title":"Chart","status":"open","dependencies":[{"issue_id":"pier-1","depends_on_id":"external:api:auth","type":"blocks"}]}`+"\n", nil)
	c := s.browser(t)
	if got := cells(c.ready(t, "/issues?as=columns")); got["No epic, waits"] != "Chart" {
		t.Errorf("columns: %q", got)
	}
	if body := html.UnescapeString(c.ready(t, "/issues/pier-1")); !strings.Contains(body, `no project "api" is configured`) {
		t.Errorf("the page does not say why it waits:\n%s", body)
	}
}
