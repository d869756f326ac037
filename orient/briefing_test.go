package orient_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/visible"
	"stig/notes"
	"stig/orient"
	"stig/signals"
)

// TestBriefings compares briefings with what a worker on the task must learn from them. Each
// case says why it is right.
func TestBriefings(t *testing.T) {
	tests := []struct{ store, id, why string }{
		{"ferry", "ferry-1", "the task stands in the comments: newest last, with author and day"},
		{"ferry", "ferry-2", "the design says how; nothing is said of signals but that there are none"},
		{"ferry", "ferry-3", "an epic says what of it can be started, by whom the rest is held, and what surprised"},
		{"ferry", "ferry-3.3", "who holds it since when; no claim is proposed of it"},
		{"ferry", "ferry-3.4", "blocked: by what and by whom that is held; no close is proposed of it"},
		{"ferry", "ferry-3.6", "the answer stands with its question, and no claim is proposed while another question waits"},
		{"ferry", "ferry-3.7", "deferred and told by its title alone: both are said, once"},
		{"ferry", "ferry-4", "all children are closed: closing it is proposed, and a bare reason is no heading"},
		{"ferry", "ferry-5.1", "blocked through its epic, which is said"},
		{"ferry", "ferry-7", "what it is related to stands in one line"},
		{"ferry", "ferry-8", "repeated lines are folded, and of a long design the middle is left out and counted"},
		{"mill", "mill-0", "of thirty dependencies each is named within the budget, and its own text stays whole"},
		{"orchard", "orchard-1", "shallow: the first paragraph, the criteria and the interface"},
		{"orchard", "orchard-3", "shallow without criteria: the whole description"},
		{"orchard", "orchard-4", "standard: direct dependencies first, farther ones where they left something, the rest by id"},
		{"orchard", "orchard-9", "deep: open questions under labels, headings and in task lists"},
		{"orchard", "orchard-11", "probe: one line for all that is not written down"},
		{"orchard", "orchard-12", "who asked, who answered and when"},
		{"toll", "toll-1", "criteria under a bold label of the description and a heading of the design stand once, in their section"},
		{"toll", "toll-2", "the issues live in a Dolt database: each command writes there"},
		{"toll", "toll-4", "deep, nothing known: one line says so, and the criterion behind a label stands once"},
	}
	for _, test := range tests {
		t.Run(test.id, func(t *testing.T) {
			path := filepath.Join("testdata", "briefings", test.store+".jsonl")
			file := open(t, path)
			if test.store == "toll" {
				file = openIn(t, path, beads.Export)
			}
			b := brief(t, file, test.id, orient.Request{Budget: orient.BriefingBudget})
			golden(t, filepath.Join("briefings", test.id+".md"), "Right, since "+test.why+".\n\n"+b.Markdown())
			whole(t, file, dag.New(file), test.id)
		})
	}
}

// The holder of an issue is not told to leave it to its holder.
func TestBriefingOfHolder(t *testing.T) {
	file := open(t, filepath.Join("testdata", "briefings", "ferry.jsonl"))
	for reader, want := range map[string]string{
		"":      "unless you are tomas: leave it to them",
		"ines":  "tomas has it: leave it to them",
		"tomas": "",
	} {
		text := brief(t, file, "ferry-7", orient.Request{Reader: reader}).Markdown()
		if want == "" && strings.Contains(text, "leave it to them") || !strings.Contains(text, want) || strings.Contains(text, "stig claim") {
			t.Errorf("%q reads\n%s", reader, text)
		}
	}
}

// whole checks an issue's briefing at every depth: it fits the budget and uses it, has no empty
// heading, and names every missing comment, design and criterion; with Full, nothing is
// missing.
func whole(t *testing.T, file *beads.Snapshot, graph *dag.Graph, id string) {
	t.Helper()
	at, _ := file.Index(id)
	record, err := file.At(at).Record()
	if err != nil {
		t.Fatal(err)
	}
	for _, depth := range append([]string{""}, signals.PlanningDepth.Domain()...) {
		make := func(request orient.Request) *orient.Briefing {
			request.Depth = depth
			b, err := orient.Brief(file, graph, at, request, rules())
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		b := make(orient.Request{Budget: orient.BriefingBudget})
		text := b.Markdown()
		size := utf8.RuneCountInString(text)
		if size > orient.BriefingBudget {
			t.Errorf("%s %s: %d characters", id, depth, size)
		}
		if unlimited := make(orient.Request{}).Markdown(); unlimited != text && size < orient.BriefingBudget/2 && !named(b.Omitted, "repeated line") {
			t.Errorf("%s %s: cut to %d of %d characters", id, depth, size, utf8.RuneCountInString(unlimited))
		}
		if depth == signals.PlanningDepthStandard || depth == signals.PlanningDepthDeep {
			trail(t, file, graph, at, b)
		}
		if heading, ok := emptyHeading(text); ok {
			t.Errorf("%s %s: nothing under %q", id, depth, heading)
		}
		full := make(orient.Request{Full: true})
		fullText := full.Markdown()
		for _, part := range textsOf(record, full) {
			if line := missing(fullText, part.text); line != "" {
				t.Errorf("%s %s --full: of %s %q is missing", id, depth, part.name, line)
			}
			if line := missing(text, part.text); line != "" && !named(b.Omitted, part.name) {
				t.Errorf("%s %s: of %s %q is missing, and not named in %q", id, depth, part.name, line, lastLine(text))
			}
		}
	}
}

// trail checks that a briefing shows each closed dependency with its title, after those that it
// was built on, and in full unless the budget is used up; dependencies that are not shown must
// be counted as omitted.
func trail(t *testing.T, file *beads.Snapshot, graph *dag.Graph, at int, b *orient.Briefing) {
	t.Helper()
	id, text, before := file.At(at).ID, b.Markdown(), -1
	left := utf8.RuneCountInString(text) < orient.BriefingBudget*3/4
	for _, d := range graph.ClosedDependencies(at) {
		is := file.At(d.Index)
		place := strings.Index(text, "\n"+strings.TrimSpace("- "+is.ID+" "+visible.OneLine(is.Title))+" (")
		record, err := is.Record()
		if err != nil {
			t.Fatal(err)
		}
		reason := missing(text, strings.TrimSpace(record.Text(beads.CloseReason)))
		if line, _, _ := strings.Cut(text[max(0, place+1):], "\n"); strings.Contains(line, "closed without a reason") {
			reason = "" // such as "Done."
		}
		switch {
		case place < 0 && !named(b.Omitted, "closed dependenc"):
			t.Errorf("%s: %s is neither shown nor counted", id, is.ID)
		case place >= 0 && place < before:
			t.Errorf("%s: %s stands before what it was built on", id, is.ID)
		case left && (place < 0 || reason != "" && !named(b.Omitted, "closed dependenc")):
			t.Errorf("%s: of %s, of %d characters, %q is missing", id, is.ID, len(text), reason)
		}
		before = max(before, place)
	}
}

type partText struct{ name, text string }

// textsOf returns the texts that must not be dropped silently, each with the word that an
// omission notice uses for it.
func textsOf(record *beads.Record, b *orient.Briefing) []partText {
	mark := "[… see the acceptance criteria below …]"
	description, design := gate.Without(record.Text(beads.AcceptanceCriteria), record.Text(beads.Description), mark), gate.Without(record.Text(beads.AcceptanceCriteria), record.Text(beads.Design), mark)
	list := []partText{{"criteria", b.Acceptance.Text}, {"description", description}}
	if !strings.Contains(visible.OneLine(record.Text(beads.Description)), visible.OneLine(record.Text(beads.Design))) {
		list = append(list, partText{"design", design})
	}
	for _, c := range record.Comments() {
		list = append(list, partText{"comment", c.Text})
	}
	return list
}

func named(omitted []orient.Omission, word string) bool {
	for _, o := range omitted {
		if strings.Contains(o.What, word) || word == "description" && strings.Contains(o.What, "repeated line") {
			return true
		}
	}
	return false
}

// missing returns the first line of a text that a briefing does not contain; "" if it contains
// all.
func missing(briefing, text string) string {
	held := visible.OneLine(strings.ReplaceAll(briefing, "\n>", "\n"))
	for line := range strings.Lines(text) {
		if line = visible.OneLine(line); !strings.HasPrefix(line, "```") && !strings.Contains(held, line) {
			return line
		}
	}
	return ""
}

// emptyHeading finds a heading of a briefing's own with nothing before the next.
func emptyHeading(text string) (heading string, found bool) {
	parts := notes.Parts(text)
	for k, p := range parts {
		end := len(text)
		if k+1 < len(parts) {
			end = parts[k+1].Start
		}
		own := strings.TrimSpace(text[p.Start:end])
		_, body, _ := strings.Cut(own, "\n")
		if strings.TrimSpace(body) == "" && !(k+1 < len(parts) && parts[k+1].Level > p.Level) {
			return p.Heading, true
		}
	}
	return "", false
}
