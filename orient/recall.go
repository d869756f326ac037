package orient

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
)

// Field is one text of a document, and how much a word in it counts.
type Field struct {
	Name   string // such as "title"
	Text   string
	Weight float64
}

// Document is what is searched. A search gives it by its place.
type Document struct {
	Fields []Field
	Prior  float64 // what a ranking multiplies its score by; 0 is 1

	bag *bag // instead of the fields; nil for none
}

// Hit is a document that holds at least one word of a query.
type Hit struct {
	Doc   int     // its place among the documents
	Words int     // how many of the words of the query it holds
	Score float64 // more is better; comparable within one search only
	Field string  // the field that counted most
}

const (
	saturation  = 1.2 // k1 of BM25
	byLength    = 0.75
	prefixValue = 0.5 // of a longer word that begins with that of the query
	prefixLeast = 3   // bytes of a word that finds longer ones
)

// tally is what a search keeps of one document.
type tally struct {
	doc       int
	length    float64   // of all its words, weighted
	frequency []float64 // of each word of the query, weighted
	fields    []string  // the field in which each word counts most
}

// Search gives the documents that hold words of a query, the best first. Each
// document is looked at once, and not kept.
//
// Documents that hold more of the words come first; among those that hold the same
// number of words the score decides (BM25 over weighted fields), then the order in
// which they were given.
//
//   - Words are compared without case. A word is a run of letters and digits;
//     in scripts without blanks every letter is a word.
//   - A word of a query also finds longer words that begin with it, from three
//     letters on: "tide" finds "tides", for half of what "tide" itself counts.
//   - A word counts by its field's weight each time it occurs, and less each further
//     time (k1 = 1.2).
//   - A rare word counts more than a frequent one: ln(1 + (N-n+½)/(n+½)) of N
//     documents, n of which hold it.
//   - The same words in a shorter document count more (b = 0.75).
func Search(query string, documents iter.Seq[Document]) []Hit {
	words := distinct(Words(query))
	var found []tally
	held := make([]int, len(words)) // how many documents hold a word
	total, length := 0, 0.0
	for d := range documents {
		c := counting(d, words)
		c.doc = total
		total, length = total+1, length+c.length
		if slices.Max(append(c.frequency, 0)) == 0 {
			continue
		}
		found = append(found, c)
		for w, f := range c.frequency {
			if f > 0 {
				held[w]++
			}
		}
	}
	hits := make([]Hit, 0, len(found))
	for _, c := range found {
		hits = append(hits, c.hit(held, total, length/float64(total)))
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Words, a.Words), cmp.Compare(b.Score, a.Score))
	})
	return hits
}

// hit scores a document.
func (c tally) hit(held []int, total int, average float64) Hit {
	h, best := Hit{Doc: c.doc}, 0.0
	for w, f := range c.frequency {
		if f == 0 {
			continue
		}
		score := rarity(held[w], total) * saturated(f, c.length/average)
		h.Words++
		h.Score += score
		if score > best {
			best, h.Field = score, c.fields[w]
		}
	}
	return h
}

// rarity is what a word counts that so many of all documents hold.
func rarity(holding, total int) float64 {
	return math.Log(1 + (float64(total-holding)+0.5)/(float64(holding)+0.5))
}

// saturated is what a word counts that stands so often in a document of a length, as
// a share of the average.
func saturated(often, length float64) float64 {
	return often * (saturation + 1) / (often + saturation*(1-byLength+byLength*length))
}

// counting counts words in a document. Of a text that holds longer words too, each
// such counts for half.
func counting(d Document, words []string) tally {
	c := tally{frequency: make([]float64, len(words)), fields: make([]string, len(words))}
	most := make([]float64, len(words))
	for _, f := range d.Fields {
		inField := make([]float64, len(words))
		for word := range wordsOf(f.Text) {
			c.length += f.Weight
			for w, wanted := range words {
				switch {
				case word == wanted:
					inField[w] += f.Weight
				case len(wanted) >= prefixLeast && strings.HasPrefix(word, wanted):
					inField[w] += f.Weight * prefixValue
				}
			}
		}
		for w, n := range inField {
			c.frequency[w] += n
			if n > most[w] {
				most[w], c.fields[w] = n, f.Name
			}
		}
	}
	return c
}

// Words are the words of a text in their order, in lower case.
func Words(text string) []string { return slices.Collect(wordsOf(text)) }

func wordsOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range written(text) {
			if !yield(strings.ToLower(word)) {
				return
			}
		}
	}
}

func distinct(words []string) (list []string) {
	for _, w := range words {
		if !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// nearlySame is the share of the words that two titles have in common from which on
// they say nearly the same.
const nearlySame = 0.6

// NearTitles reports whether two titles say nearly the same: three of five of all their
// words, words such as "the" left out, stand in both. Words of four letters and more
// are the same as longer ones that begin with them.
func NearTitles(a, b string) bool {
	x, y := telling(a), telling(b)
	if len(x) == 0 || len(y) == 0 {
		return slices.Equal(Words(a), Words(b)) && len(Words(a)) > 0
	}
	common := 0
	for _, word := range x {
		if at := slices.IndexFunc(y, func(other string) bool { return alike(word, other) }); at >= 0 {
			y = slices.Delete(y, at, at+1)
			common++
		}
	}
	return float64(common) >= nearlySame*float64(len(x)+len(y)) // y holds its own words alone by now
}

// alike reports whether two words differ in their ending alone.
func alike(a, b string) bool {
	const least = 4 // letters
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= least && len(b)-len(a) <= 3 && strings.HasPrefix(b, a)
}

// telling are the distinct words of a title that say what it is about.
func telling(title string) []string {
	const little = " a an and as at be by for from in into is it its no not of on or so that the their this to up when with "
	return slices.DeleteFunc(distinct(Words(title)), func(w string) bool { return strings.Contains(little, " "+w+" ") })
}
