package orient

import (
	"slices"
	"strings"
	"testing"

	"stig/cue"
	"stig/dag"
	"stig/internal/beads"
)

// like returns a store with issues similar to h-1, and others that make their words rare.
func like(t *testing.T, depth, more string) *beads.Snapshot {
	t.Helper()
	lines := []string{
		`{"id":"h-1","title":"Read the tide gauge at the north pier","description":"It stands behind the fence.","status":"open","dependencies":[{"issue_id":"h-1","depends_on_id":"h-3","type":"blocks"},{"issue_id":"h-1","depends_on_id":"h-4","type":"related"}],"notes":"<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| schema-version | 1 | 2026-11-01 |\n| planning-depth | ` + depth + ` | 2026-11-01 |\n<!-- /stigmergic-signals -->"}`,
		`{"id":"h-2","title":"Read the tide gauge at the south pier","status":"closed","close_reason":"Painted first. The gauge speaks Modbus on port 502."}`,
		`{"id":"h-3","title":"Mount the tide gauge at the north pier","status":"closed","close_reason":"It hangs."}`,
		`{"id":"h-4","title":"Read the tide gauge at the north pier fence","status":"open"}`,
		`{"id":"h-5","title":"Tide","status":"closed","close_reason":"A word in common says little."}`,
		`{"_type":"memory","key":"pier","value":"The fence of the north pier is locked at night; the gauge is read from the tide table then."}`,
	}
	for word := range strings.FieldsSeq("sail mast rope buoy crane lamp hull winch") {
		lines = append(lines, `{"id":"o-`+word+`","title":"Paint the `+word+`","status":"closed"}`)
	}
	content := strings.Join(lines, "\n") + "\n" + more
	file, err := beads.NewSnapshot(beads.Place{Path: "issues.jsonl"}, beads.Source{Lines: strings.NewReader(content), Size: int64(len(content))})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSeenBefore checks which briefings show similar issues, and that they show nothing twice.
func TestSeenBefore(t *testing.T) {
	const seen = "\n## Seen before\n\n" +
		"- memory pier: The fence of the north pier is locked at night; the gauge is read from the tide table then.\n" +
		"- h-2 Read the tide gauge at the south pier (closed): The gauge speaks Modbus on port 502.\n"
	for depth, want := range map[string]string{"shallow": "", "standard": "", "deep": seen, "probe": seen} {
		file := like(t, depth, "")
		b, err := Brief(file, dag.New(file), 0, Request{}, Rules{Schema: cue.Embedded()})
		if err != nil {
			t.Fatal(err)
		}
		text := b.Markdown()
		if want == "" && strings.Contains(text, "Seen before") || !strings.Contains(text, want) {
			t.Errorf("%s: %+v\n%s", depth, b.Seen, text)
		}
		if depth != "deep" {
			continue
		}
		if b, err = Brief(file, dag.New(file), 0, Request{Budget: len(text) - 50}, Rules{Schema: cue.Embedded()}); err != nil {
			t.Fatal(err)
		}
		if left := func(o Omission) bool { return strings.Contains(o.What, "seen before") }; len(b.Seen) == 2 || !slices.ContainsFunc(b.Omitted, left) {
			t.Errorf("not cut first: %+v", b.Omitted)
		}
	}
}

// TestSeenBeforeOfLargeStores: for a large store the briefing names the command and does not
// search.
func TestSeenBeforeOfLargeStores(t *testing.T) {
	file := like(t, "deep", strings.Repeat(" ", MostSearched)+"\n")
	for full, want := range map[bool]int{false: 0, true: 2} {
		b, err := Brief(file, dag.New(file), 0, Request{Full: full}, Rules{Schema: cue.Embedded()})
		if err != nil {
			t.Fatal(err)
		}
		if named := strings.Contains(b.Markdown(), "what was seen before (`stig recall --like h-1`)"); len(b.Seen) != want || named == full {
			t.Errorf("full %v: %+v %+v", full, b.Seen, b.Omitted)
		}
	}
}
