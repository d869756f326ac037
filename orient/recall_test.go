package orient_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stig/orient"
)

// recallIssue returns a document like those of an issue tracker.
func recallIssue(id, title, text string) orient.Document {
	return orient.Document{Fields: []orient.Field{{"id", id, 8}, {"title", title, 4}, {"text", text, 1}}}
}

func recallHarbor() []orient.Document {
	return []orient.Document{
		recallIssue("h-1", "Read the gauge", "The gauge of the tide stands at the pier."),
		recallIssue("h-2", "Tides of December", "What the almanac says."),
		recallIssue("h-3", "Paint the mast", strings.Repeat("It is high, and the wind is strong. ", 20)+"Ask for the tide."),
		recallIssue("h-4", "Tide gauge", "Buy one."),
		recallIssue("h-5", "潮の高さを読む", "毎日"),
	}
}

// TestSearchRanks checks the order that the package documents.
func TestSearchRanks(t *testing.T) {
	tests := []struct {
		query string
		want  []int
	}{
		{"tide gauge", []int{3, 0, 1, 2}}, // both words in the title, both somewhere, one in the title, one in a long text
		{"TIDE", []int{3, 1, 0, 2}},
		{"潮", []int{4}},
		{"高さ", []int{4}},
		{"ti", nil}, // too short to find longer words
		{"the", []int{0, 2, 1}},
		{"...", nil},
		{"", nil},
	}
	search := func(query string) []orient.Hit { return orient.Search(query, slices.Values(recallHarbor())) }
	for _, test := range tests {
		var got []int
		for _, hit := range search(test.query) {
			got = append(got, hit.Doc)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, want %v", test.query, got, test.want)
		}
	}
	if hits := search("h-3"); hits[0].Doc != 2 || hits[0].Field != "id" {
		t.Errorf("h-3: %+v", hits)
	}
	if hits := search("almanac"); len(hits) != 1 || hits[0].Field != "text" || hits[0].Words != 1 || hits[0].Score <= 0 {
		t.Errorf("almanac: %+v", hits)
	}
	if len(orient.Search("tide", slices.Values([]orient.Document(nil)))) > 0 {
		t.Error("found something in nothing")
	}
}

// TestNear checks which titles are nearly the same.
func TestNear(t *testing.T) {
	tests := []struct {
		a, b string
		want bool
	}{
		{"Read the tide gauge", "Read the tide gauges!", true},
		{"Read the tide gauge", "read tide gauge twice", true},
		{"Read the tide gauge", "Paint the tide gauge", false},
		{"Fix login", "Fix logout", false},
		{"Show tomorrow's arrivals", "Show arrivals of tomorrow", true},
		{"On it", "on it", true},
		{"On it", "The", false},
		{"", "", false},
		{"潮の高さを読む", "潮の高さを読め", true},
	}
	for _, test := range tests {
		if orient.NearTitles(test.a, test.b) != test.want || orient.NearTitles(test.b, test.a) != test.want {
			t.Errorf("%q, %q: want %v", test.a, test.b, test.want)
		}
	}
}

// FuzzSearch checks that every hit contains a word of the query, and that a document is found
// by each of its words.
func FuzzSearch(f *testing.F) {
	f.Add("tide gauge", "tides")
	f.Add("İ ß 潮", "i")
	f.Fuzz(func(t *testing.T, text, query string) {
		documents := slices.Values([]orient.Document{recallIssue("a", "b", text), recallIssue("c", "d", "e")})
		for _, word := range orient.Words(text) {
			if hits := orient.Search(word, documents); !slices.ContainsFunc(hits, func(h orient.Hit) bool { return h.Doc == 0 }) {
				t.Errorf("%q does not find %q", word, text)
			}
		}
		for _, hit := range orient.Search(query, documents) {
			if hit.Words < 1 || !(hit.Score > 0) {
				t.Errorf("%q in %q: %+v", query, text, hit)
			}
		}
	})
}

func ExampleSearch() {
	titles := []string{"Read the tide gauge", "Paint the mast", "Gauge the wind"}
	var documents []orient.Document
	for _, title := range titles {
		documents = append(documents, orient.Document{Fields: []orient.Field{{"title", title, 1}}})
	}
	for _, hit := range orient.Search("tide gauge", slices.Values(documents)) {
		fmt.Println(titles[hit.Doc])
	}
	// Output:
	// Read the tide gauge
	// Gauge the wind
}
