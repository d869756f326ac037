package gate_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"stig/internal/gate"
)

// Each description with its criteria, as line and text. They are found under headings and
// labels in any case, and nowhere else.
var findCases = []struct {
	name, description string
	want              []string
}{
	// headings
	{"heading", "Intro.\n\n## Acceptance criteria\n\n- `a b`\n\n### Of the rest\nc\n\n## Notes\nx", []string{"5: - `a b`\n\n### Of the rest\nc"}},
	{"two headings", "# Acceptance\na\n# Other\nb\n\nACCEPTANCE\n---\nd\n", []string{"2: a", "8: d"}},
	{"heading in any case", "### SUCCESS criteria\n- a", []string{"2: - a"}},
	{"definition of done", "## Definition of Done\n- a", []string{"2: - a"}},
	{"done when", "## Done when\n1. a\n2. b\n## Later\n- c", []string{"2: 1. a\n2. b"}},
	{"AC", "## AC\n- a", []string{"2: - a"}},
	{"numbered heading", "## 5. Acceptance criteria (draft)\n- a", []string{"2: - a"}},
	{"marked heading", "## ✅ **Acceptance**\n- a", []string{"2: - a"}},
	{"heading of a phase", "## Phase 2 success criteria\n- a", []string{"2: - a"}},
	{"heading with a colon", "## Acceptance:\n- a", []string{"2: - a"}},
	{"heading that holds them", "## Acceptance: the pump runs\n\n## Notes", []string{"1: the pump runs"}},
	{"heading without a text", "## Acceptance criteria\n\n## Notes\nx", nil},
	{"other headings", "## Criteria for acceptance\nx\n## Actions\ny\n## Accepted risks\nz\n## Undone when dry\nw", nil},

	// labels with a text
	{"label", "The pump stops.\nAcceptance: the pump runs\nfor a day.\n\nLater.", []string{"2: the pump runs\nfor a day."}},
	{"label in any case", "acceptance criteria: the pump runs", []string{"1: the pump runs"}},
	{"short label", "AC: the pump runs\n\nLater", []string{"1: the pump runs"}},
	{"numbered label", "AC1: the pump runs\nAC2: it stops", []string{"1: the pump runs\nAC2: it stops"}},
	{"bold label", "**Acceptance**: the pump runs", []string{"1: the pump runs"}},
	{"bold label and colon", "**Done when:** the pump runs", []string{"1: the pump runs"}},
	{"done means", "Intro.\n\nDone means: the pump runs.", []string{"3: the pump runs."}},
	{"done means in a sentence", "Done means done.", nil},
	{"sentence", "Done when the pump runs.", []string{"1: the pump runs."}},
	{"bold sentence", "**Done when** the pump runs.", []string{"1: the pump runs."}},
	{"label in a sentence", "Mend the pump. ACCEPTANCE: it runs; nobody hears it.\nNEEDS: oil", []string{"1: it runs; nobody hears it."}},
	{"label behind a sentence", "Mend the pump (the old one). Acceptance: it runs.", []string{"1: it runs."}},
	{"label and a list", "Acceptance, see below.\nAcceptance: all of these:\n\n- a\n- b\n\nOther:\n- c", []string{"2: all of these:\n\n- a\n- b"}},
	{"label and code", "Acceptance: this passes\n\n```verify\nmake pump\n```\n\n```sh\nrm x\n```", []string{"1: this passes\n\n```verify\nmake pump\n```\n\n```sh\nrm x\n```"}},
	{"label and another list", "Acceptance: it runs.\n\n- a\n- b", []string{"1: it runs."}},
	{"label and another label", "**Acceptance**: it runs\n**Risk**: it leaks", []string{"1: it runs"}},
	{"label with more words", "Acceptance criteria for the pump (new): it runs", []string{"1: it runs"}},
	{"label of a phase", "**Phase 1 Success Criteria**:\n- a", []string{"2: - a"}},

	// labels without
	{"label line", "Acceptance\n- a\n- b\n\nKey files:\n- c", []string{"2: - a\n- b"}},
	{"label line with a colon", "Context.\nACCEPTANCE CRITERIA:\n- [ ] a\n- [x] b\n\n## Other\nc", []string{"3: - [ ] a\n- [x] b"}},
	{"label line in bold", "**Success criteria**\n\n1. a\n\n**Risks**\n\n- b", []string{"3: 1. a"}},
	{"label line and a paragraph", "Acceptance\n\nThe pump runs.\n\nIt is old.", []string{"3: The pump runs."}},
	{"label line and lines", "Acceptance:\n• a\n• b\n\nIt is old.", []string{"2: • a\n• b"}},
	{"label line and code", "Done when:\n\n```verify\nmake pump\n```\n\nIt is old.\n\n```sh\nrm x\n```", []string{"3: ```verify\nmake pump\n```"}},
	{"label line, list and code", "AC:\n- a\n\n```sh\nb c\n```\nIt is old.", []string{"2: - a\n\n```sh\nb c\n```"}},
	{"label line and nothing", "Acceptance:\n\n**Risks**: it leaks", nil},
	{"CRLF", "Acceptance:\r\n- a\r\n- b\r\n", []string{"2: - a\r\n- b"}},

	// lists
	{"label in a list", "- Pump\n- Acceptance: it runs\n  for a day\n- Risk: it leaks", []string{"2: it runs\nfor a day"}},
	{"label line in a list", "1. Pump\n   - **Acceptance criteria**:\n     - a\n\n       ```verify\n       make pump\n       ```\n   - Risk\n2. Quay",
		[]string{"3: - a\n\n  ```verify\n  make pump\n  ```"}},
	{"task in a list", "- [ ] Acceptance: it runs", []string{"1: it runs"}},
	{"sections in a list", "The report has:\n- Goals\n- Success criteria\n- Acceptance criteria\n\nMore.", nil},

	// not a label
	{"code", "```\nAcceptance:\n- a\n```\n\n`Acceptance: x` and `Done when y`\n\n    Acceptance: z", nil},
	{"quote", "> Acceptance: it runs", nil},
	{"prose", "The report lacks acceptance criteria, and success criteria are vague.\nIt is not done when the pump\nstops. Accepted: no. Acceptance should be quick. acceptance of a: b.", nil},
	{"names", "- acceptance_criteria\n- `--acceptance`: sets them\nACCEPTANCE CRITERIA FORMAT:\n- a", nil},
	{"wrapped prose", "It counts as\ndone when the pump runs, after its\nacceptance\nby the harbour.", nil},
	{"words that begin so", "Action: pump\nACL: none\nAC current: 3 A\nDone: the pump", nil},
	{"nothing", "", nil},
	{"a label and a blank that is none of ASCII", "AC\n\u2028", nil},
}

func TestFind(t *testing.T) {
	for _, c := range findCases {
		t.Run(c.name, func(t *testing.T) {
			checkFound(t, c.description, gate.Find("", c.description, ""), gate.FieldDescription, c.want)
			checkFound(t, c.description, gate.Find("", "", c.description), gate.FieldDesign, c.want)
		})
	}
}

func checkFound(t *testing.T, text string, found gate.Criteria, field string, want []string) {
	t.Helper()
	var got []string
	for _, p := range found {
		if p.Field != field {
			t.Errorf("%q: found in %s", text, p.Field)
		}
		got = append(got, strconv.Itoa(p.Line)+": "+p.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q: found %q, want %q", text, got, want)
	}
}

// The field counts alone and as written; of the others each text counts once.
func TestFindInSeveralFields(t *testing.T) {
	const description, design = "## Acceptance\n- `go vet` works\n- it holds", "Done when:\n- `go test` works\n- `go vet` works"
	for _, c := range []struct{ acceptance, description, design, want string }{
		{"given\n", "", "", "given\n"},
		{"given\n", description, design, "given\n"},
		{"", description, design, "- `go vet` works\n- it holds\n\n- `go test` works\n- `go vet` works"},
		{" \n", description, "", "- `go vet` works\n- it holds"},
		{"", description, "Done when:\n\n- `go vet` works\n- it  holds", "- `go vet` works\n- it holds"},
		{"", "", "", ""},
	} {
		if got := gate.Find(c.acceptance, c.description, c.design).Text(); got != c.want {
			t.Errorf("%q, %q, %q: %q, want %q", c.acceptance, c.description, c.design, got, c.want)
		}
	}
	var got []string
	for _, check := range gate.Find("", "Acceptance: `cargo test` works\n\n"+description, "Intro.\n\n"+design).Plan() {
		got = append(got, strings.Join([]string{check.Field, strconv.Itoa(check.Line), check.Text}, " "))
	}
	if want := []string{"description 1 cargo test", "description 4 go vet", "design 4 go test"}; !slices.Equal(got, want) {
		t.Errorf("planned %q, want %q", got, want)
	}
}

// Without removes what Find finds, and nothing else.
func TestWithout(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Intro.\n\n## Acceptance criteria\n\n- a\n\n### Of the rest\nc\n\n## Notes\nx", "Intro.\n\n## Acceptance criteria\n\n[here]\n\n## Notes\nx"},
		{"It runs. **Acceptance**: the pump runs\n\nLater", "It runs. **Acceptance**: [here]\n\nLater"},
		{"AC: a\n\nMore.\n\n## Done when\n- b\n", "AC: [here]\n\nMore.\n\n## Done when\n[here]\n"},
		{"nothing of that kind\n", "nothing of that kind\n"},
	} {
		if got := gate.Without(" ", c.text, "[here]"); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// FuzzFind checks that what is found is in the text, line by line, where the passage says, and
// that Without keeps the text around it.
func FuzzFind(f *testing.F) {
	for _, c := range findCases {
		f.Add(c.description)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		for _, p := range gate.Find("", text, "") {
			if strings.TrimSpace(p.Text) == "" {
				t.Fatalf("%q: found nothing", text)
			}
			for i, line := range strings.Split(p.Text, "\n") {
				if at := p.Line - 1 + i; at >= len(lines) || !strings.Contains(lines[at], line) {
					t.Fatalf("%q: line %d is not %q", text, at+1, line)
				}
			}
		}
		const mark = "\x01here\x01"
		rest := text
		for kept := range strings.SplitSeq(gate.Without("", text, mark), mark) {
			_, after, ok := strings.Cut(rest, kept)
			if !ok {
				t.Fatalf("%q: %q is left, and not in it", text, kept)
			}
			rest = after
		}
	})
}
