package orient

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func texts(list ...string) (documents []Document) {
	for _, text := range list {
		title, more, _ := strings.Cut(text, "\n")
		documents = append(documents, Document{Fields: []Field{{Text: title, Weight: 4}, {Text: more, Weight: 1}}})
	}
	return documents
}

// TestRank checks what counts in a ranking.
func TestRank(t *testing.T) {
	documents := texts(
		"Read the gauge\nThe tide is at the pier.",
		"Planning the harbour\nTides were planned.",
		"Paint the mast\n"+strings.Repeat("It is high, and the wind is strong. ", 20)+"Ask for the tide.",
		"Crane\nThe LoadCell of the crane leaks.",
		"Crane\nThe LoadCell of the crane leaks.",
	)
	documents[4].Prior = 1.2
	tests := []struct {
		question string
		want     []int
	}{
		{"where does the tide stand?", []int{1, 0, 2}}, // the shorter text first
		{"plans", []int{1}},
		{"load cell", []int{4, 3}}, // a part of a name; the prior
		{"tide gauge wind", []int{0, 2, 1}},
		{"anchor", nil},
		{"what is it for", nil},
		{"", nil},
	}
	for _, test := range tests {
		var got []int
		for _, r := range Rank(Ask(Field{Text: test.question, Weight: 1}), slices.Values(documents)).Ranked {
			got = append(got, r.Doc)
			if !(r.Score > 0) || r.Score > 1.2 || math.IsNaN(r.Score) {
				t.Errorf("%q: score %v", test.question, r.Score)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, want %v", test.question, got, test.want)
		}
		q := Ask(Field{Text: test.question, Weight: 1})
		shared := Rank(q, slices.Values(documents[:1]), slices.Values(documents[1:1]), slices.Values(documents[1:])).Ranked
		if !slices.Equal(shared, Rank(q, slices.Values(documents)).Ranked) {
			t.Errorf("%q: in shares %v", test.question, shared)
		}
	}
}

// TestRankCountsTheTelling: the most telling words of a long question count.
func TestRankCountsTheTelling(t *testing.T) {
	var many []string
	for i := range 3 * mostStems {
		many = append(many, "w"+strings.Repeat("x", i+1))
	}
	documents := texts(strings.Join(many, " "), "sextant")
	question := Ask(Field{Text: "sextant", Weight: 9}, Field{Text: strings.Join(many, " "), Weight: 1})
	if got := Rank(question, slices.Values(documents)).Ranked; got[0].Doc != 0 || len(got) != 2 || got[1].Score < 0.02 {
		t.Errorf("%v", got)
	}
}

func TestStem(t *testing.T) {
	for _, same := range []string{
		"test tests tested testing", "plan plans planned planning", "close closes closed closing", "dependency dependencies",
		"release released", "class classes", "status", "analysis", "kiss kissing", "miss misses", "ring rings", "bed beds", "red", "string strings",
	} {
		words := strings.Fields(same)
		for _, word := range words {
			if stem(word) != stem(words[0]) {
				t.Errorf("%s: %s, but %s: %s", words[0], stem(words[0]), word, stem(word))
			}
		}
	}
	for _, other := range [][2]string{{"is", "i"}, {"sing", "s"}, {"need", "ne"}, {"bus", "bu"}, {"tide", "tied"}} {
		if stem(other[0]) == stem(other[1]) {
			t.Errorf("%v have one stem", other)
		}
	}
}

func TestPassage(t *testing.T) {
	documents := texts("The pump", "The mast")
	ranking := Rank(Ask(Field{Text: "pump mast rope", Weight: 1}), slices.Values(documents))
	tests := []struct{ text, want string }{
		{"Nothing here.\nThe pump fails. The mast stands; no more.\n\nAnd that is the pump.", "The pump fails. The mast stands;"},
		{"The pump. " + strings.Repeat("It is far to the next one, ", 20) + "mast. Pump, mast.", "Pump, mast."},
		{"# Mast\n\nIt is v1.2.3 of the pump.", "# Mast\n\nIt is v1.2.3 of the pump."},
		{"anchor", ""},
		{"", ""},
	}
	for _, test := range tests {
		got, worth := ranking.passage(test.text, 100)
		if got != test.want || (worth > 0) != (got != "") {
			t.Errorf("%q: %q (%v), want %q", test.text, got, worth, test.want)
		}
	}
	if got := firstSentences("First. Second.\nThird.", 15); got != "First. Second." {
		t.Errorf("opening %q", got)
	}
	long := strings.Repeat("ü", 50)
	if got := firstSentences(long+". No.", 15); got != long[:14] {
		t.Errorf("opening %q", got)
	}
	if got, _ := ranking.passage(long+" pump "+long, 15); !strings.Contains(got, "pump") || len(got) > 15 {
		t.Errorf("passage %q", got)
	}
}

// FuzzRank checks that a document is found by each of its words that count, and that scores are
// numbers.
func FuzzRank(f *testing.F) {
	f.Add("tide gauge", "tides sing")
	f.Add("İ ß 潮", "LoadCell İ")
	f.Fuzz(func(t *testing.T, text, question string) {
		documents := slices.Values(texts(text, "b"))
		for word := range partsOf(text) {
			q := Ask(Field{Text: word, Weight: 1})
			if !q.Empty() && !slices.ContainsFunc(Rank(q, documents).Ranked, func(r Ranked) bool { return r.Doc == 0 }) {
				t.Errorf("%q does not find %q", word, text)
			}
		}
		ranking := Rank(Ask(Field{Text: question, Weight: 1}), documents)
		for _, r := range ranking.Ranked {
			if !(r.Score > 0) {
				t.Errorf("%q in %q: %+v", question, text, r)
			}
		}
		if passage, _ := ranking.passage(text, 50); !strings.Contains(text, passage) || len(passage) > 50 {
			t.Errorf("%q is not in %q", passage, text)
		}
	})
}
