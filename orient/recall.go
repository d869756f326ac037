package orient

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
)

// Field is one text of a document, with the weight of its words.
type Field struct {
	Name   string // such as "title"
	Text   string
	Weight float64
}

// Document is a text to search. Results refer to it by index.
type Document struct {
	Fields []Field
	Prior  float64 // factor of the score in a ranking; 0 means 1

	bag *bag // used instead of the fields; nil for none
}

// Hit is a document that contains at least one word of a query.
type Hit struct {
	Doc   int     // index among the documents
	Words int     // number of query words in the document
	Score float64 // higher is better; comparable within one search only
	Field string  // the field that counted most
}

const (
	saturation  = 1.2 // k1 of BM25
	byLength    = 0.75
	prefixValue = 0.5 // weight of a longer word that begins with a query word
	prefixLeast = 3   // minimum bytes of a query word that finds longer ones
)

// tally is the counts of a search in one document.
type tally struct {
	doc       int
	length    float64   // of all its words, weighted
	frequency []float64 // of each word of the query, weighted
	fields    []string  // the field in which each word counts most
}

// Search returns the documents that contain words of a query, the best first. Each document is
// visited once and not kept.
//
// Documents with more of the words come first. Among those with the same number of words, the
// score decides (BM25 over weighted fields), then the order of the documents.
//
//   - Words are compared case-insensitively. A word is a run of letters and digits;
//     in scripts without spaces every letter is a word.
//   - A query word of at least three letters also finds longer words that begin with it:
//     "tide" finds "tides", with half the weight.
//   - Each occurrence of a word counts by the weight of its field, and repeated ones
//     count less (k1 = 1.2).
//   - A rare word counts more than a frequent one: ln(1 + (N-n+½)/(n+½)) if n of N
//     documents contain it.
//   - The same words count more in a shorter document (b = 0.75).
func Search(query string, documents iter.Seq[Document]) []Hit {
	words := distinct(Words(query))
	var found []tally
	held := make([]int, len(words)) // number of documents that contain a word
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

// hit returns the hit of a document with its score.
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

// rarity is the weight of a word that occurs in holding of total documents.
func rarity(holding, total int) float64 {
	return math.Log(1 + (float64(total-holding)+0.5)/(float64(holding)+0.5))
}

// saturated returns the score of a word's frequency in a document; length is relative to the
// average.
func saturated(often, length float64) float64 {
	return often * (saturation + 1) / (often + saturation*(1-byLength+byLength*length))
}

// counting counts the words in a document. A longer word that begins with a query word counts
// half.
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

// Words returns the words of a text in order, in lower case.
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

// nearlySame is the share of common words from which two titles are nearly the same.
const nearlySame = 0.6

// NearTitles reports whether two titles are nearly the same: at least three of five of all
// their words, without stop words, occur in both. Words of four or more letters match longer
// ones that begin with them.
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
	return float64(common) >= nearlySame*float64(len(x)+len(y)) // y has only its own words left
}

// alike reports whether two words differ only in their ending.
func alike(a, b string) bool {
	const least = 4 // letters
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= least && len(b)-len(a) <= 3 && strings.HasPrefix(b, a)
}

// telling returns the distinct words of a title without stop words.
func telling(title string) []string {
	const little = " a an and as at be by for from in into is it its no not of on or so that the their this to up when with "
	return slices.DeleteFunc(distinct(Words(title)), func(w string) bool { return strings.Contains(little, " "+w+" ") })
}
