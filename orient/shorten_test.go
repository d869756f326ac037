package orient

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestMiddleOut checks for random texts and limits that the result fits, begins like the text,
// leaves no fence open, and equals the text if that fits.
func TestMiddleOut(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 2))
	pieces := []string{"word ", "a longer word, ", "é", "\n", "\n\n", "```\n", "- item\n", strings.Repeat("x", 90), "— "}
	cut := 0
	for range 20_000 {
		var b strings.Builder
		for range random.IntN(80) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		text, limit := strings.TrimSpace(b.String()), random.IntN(900)
		got := middleOut(text, limit)
		all, kept := utf8.RuneCountInString(text), utf8.RuneCountInString(got)
		switch {
		case all <= limit && got != text:
			t.Fatalf("%q fits %d, and is %q", text, limit, got)
		case kept > limit:
			t.Fatalf("%q: %d characters of at most %d: %q", text, kept, limit, got)
		case !utf8.ValidString(got):
			t.Fatalf("%q: cut inside of a character: %q", text, got)
		case limit > 100 && all > limit && !strings.Contains(got, "…"):
			t.Fatalf("%q: cut without saying so: %q", text, got)
		case limit > 100 && !inFence(text) && inFence(got):
			t.Fatalf("%q: a fence stays open: %q", text, got)
		}
		if strings.Contains(got, " left out …]") {
			cut++
		}
	}
	if cut < 1000 {
		t.Errorf("%d middles cut out: too few to mean much", cut)
	}
}

func TestFoldRepeated(t *testing.T) {
	tests := []struct {
		name, text, want string
		folded           int
	}{
		{"a log", "begin\n10:01 try 1\n10:02 try 2\n10:03 try 3\n10:04 try 4\n10:05 try 5\nend", "begin\n10:01 try 1\n… 4 similar lines\nend", 4},
		{"lines in turns", "a 1\nb 1\na 2\nb 2\na 3\nb 3\nend", "a 1\nb 1\n… 4 similar lines\nend", 4},
		{"half a turn left", "a 1\nb 1\na 2\nb 2\na 3\nb 3\na 4\nend", "a 1\nb 1\n… 4 similar lines\na 4\nend", 4},
		{"too few", "a 1\na 2\na 3\na 4", "a 1\na 2\na 3\na 4", 0},
		{"blank lines", "a\n\n\n\n\n\n\nb", "a\n\n\n\n\n\n\nb", 0},
		{"other words", "one\ntwo\nthree\nfour\nfive\nsix", "one\ntwo\nthree\nfour\nfive\nsix", 0},
		{"addresses", "at 0x7ffe01\nat 0x7ffe02\nat 0x7ffe03\nat 0xdeadbeef\nat 0x1", "at 0x7ffe01\n… 4 similar lines", 4},
	}
	for _, test := range tests {
		if got, folded := foldRepeated(test.text); got != test.want || folded != test.folded {
			t.Errorf("%s: %d folded\n%s", test.name, folded, got)
		}
	}
}

// TestFoldRepeatedBlank asserts that a run of blank lines takes about as long as other
// lines that do not repeat.
func TestFoldRepeatedBlank(t *testing.T) {
	took := func(text string) time.Duration {
		least := time.Hour
		for range 3 {
			begun := time.Now()
			if _, folded := foldRepeated(text); folded > 0 {
				t.Errorf("%d folded", folded)
			}
			least = min(least, time.Since(begun))
		}
		return least
	}
	var other strings.Builder
	for n := range 10_000 {
		other.WriteString(strings.Repeat("x", n%17) + strings.Repeat("y", n%23) + "\n")
	}
	words := took(other.String())
	if blank := took("a" + strings.Repeat("\n", 10_000) + "b"); blank > 20*words {
		t.Errorf("blank lines took %s, as many others %s", blank, words)
	}
}

// TestOpenQuestions finds what is open wherever people write it, and nothing that
// is answered.
func TestOpenQuestions(t *testing.T) {
	tests := []struct {
		name, text string
		want       []Item
	}{
		{"a heading", "## Open questions\n\n- Which quay\n- whose money", []Item{{"Open questions", "Which quay"}, {"Open questions", "whose money"}}},
		{"tasks", "## Unknowns\n\n- [ ] the depth\n- [x] the width?", []Item{{"Unknowns", "the depth"}}},
		{"a label", "Assumptions:\n- the bees come\n- it rains\n\nAfter that:\n- prune", []Item{{"Assumptions", "the bees come"}, {"Assumptions", "it rains"}}},
		{"a bold label", "**Risks:** the wall falls.", []Item{{"Risks", "the wall falls."}}},
		{"a bold label, the colon outside", "__To decide__: who digs", []Item{{"To decide", "who digs"}}},
		{"a label above a blank line", "QUESTIONS:\n\n1. when\n2. where", []Item{{"QUESTIONS", "when"}, {"QUESTIONS", "where"}}},
		{"items beside a label", "- Question: which port?\n- Owner: mara\n- Due: Friday\n\nRisk: valve is old\n- Budget is approved", []Item{{"Question", "which port?"}, {"Risk", "valve is old"}}},
		{"a list within a label", "- Risks:\n  - frost\n  - drought,\n    which is worse\n- Owner: mara\n\n* Unknowns:\n\n\t* the depth\n* Due: Friday", []Item{{"Risks", "frost"}, {"Risks", "drought, which is worse"}, {"Unknowns", "the depth"}}},
		{"a label in a heading", "## Question: which port?", []Item{{"description", "Question: which port?"}}},
		{"prose", "Dig. Is it wet? The drain ends TBD.", []Item{{"description", "Dig. Is it wet? The drain ends TBD."}}},
		{"code", "```\nx = y ? 1 : 2\n```", nil},
		{"nothing asked", "The question was answered.\n\nRisky as it is: dig.", nil},
	}
	for _, test := range tests {
		if got := openQuestions("description", test.text); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %q", test.name, got)
		}
	}
}

// numberless is a regular expression, without its cost: of 10 MB of notes that was seconds.
func TestNumberless(t *testing.T) {
	numbers := regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9a-fA-F]{8,}|[0-9]+`)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		line := make([]byte, random.IntN(24))
		for i := range line {
			line[i] = "0123x0xabcdefABF gz-é"[random.IntN(22)]
		}
		if got, want := numberless(string(line)), numbers.ReplaceAllString(string(line), "0"); got != want {
			t.Fatalf("%q: %q, want %q", line, got, want)
		}
	}
}
