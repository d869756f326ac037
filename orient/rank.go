package orient

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stig/internal/visible"
)

// Question is the query of a ranking: stems and their weights.
type Question struct {
	stems   []string // sorted
	weights []float64
	known   *vocabulary // of the documents' bags; nil without bags
}

// repeated dampens further occurrences of a word in a question (k3 of BM25).
const repeated = 2

// Ask returns the question for some texts. Each occurrence of a word counts by the weight of
// its field, and repeated ones count less. Stop words such as "the" are ignored.
func Ask(fields ...Field) Question {
	weights := map[string]float64{}
	for _, f := range fields {
		for word := range partsOf(f.Text) {
			if !little(word) {
				weights[stem(word)] += f.Weight
			}
		}
	}
	var q Question
	for _, s := range slices.Sorted(maps.Keys(weights)) {
		w := weights[s]
		q.stems, q.weights = append(q.stems, s), append(q.weights, w*(repeated+1)/(w+repeated))
	}
	return q
}

// Empty reports whether a question has no words that count.
func (q Question) Empty() bool { return len(q.stems) == 0 }

// Ranking is the documents that contain words of a question, the best first.
type Ranking struct {
	Ranked []Ranked

	places  map[string]int // indices of the stems in values
	numbers numbered       // the same for bags
	values  []float64      // the value of each stem, from its weight and rarity
}

// Ranked is a document with its score from 0 to 1. 1 would be a short document that repeats
// each word of the question many times.
type Ranked struct {
	Doc   int
	Score float64
}

// mostStems limits the words of a question: the most valuable ones, then those that no document
// contains. A question from a whole issue has hundreds.
const mostStems = 40

// Rank ranks documents by how much they say about a question. Each document is visited once and
// not kept. The shares are processed concurrently; Doc numbers the documents of all shares in
// order.
//
// Only the score decides, so a question may have words that no text contains. English endings
// are ignored ("tested" finds "tests"), stop words such as "the" too, and a name such as
// OwnedRow is found by its parts. The score is relative to the maximum for the question, so
// scores of different questions can be compared.
func Rank(q Question, shares ...iter.Seq[Document]) *Ranking {
	r := &Ranking{places: map[string]int{}}
	for i, s := range q.stems {
		r.places[s] = i
	}
	if q.known != nil {
		r.numbers = q.known.places(r.places)
	}
	counts := make([]counts, len(shares))
	var group sync.WaitGroup
	for i, documents := range shares {
		group.Go(func() { counts[i] = r.count(documents) })
	}
	group.Wait()
	holding := make([]int, len(q.stems))
	total, length := 0, 0.0
	for _, c := range counts {
		total, length = total+c.total, length+c.length
		for _, d := range c.found {
			for _, h := range d.held {
				holding[h.stem]++
			}
		}
	}
	whole := r.value(q, holding, total) * (saturation + 1)
	before := 0
	for _, c := range counts {
		for _, d := range c.found {
			if score := d.score(r.values, length/float64(total)); score > 0 {
				r.Ranked = append(r.Ranked, Ranked{before + d.doc, score / whole})
			}
		}
		before += c.total
	}
	slices.SortStableFunc(r.Ranked, func(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) })
	return r
}

// counts is the matches in a share of the documents.
type counts struct {
	found  []holder
	total  int     // documents
	length float64 // of all of them
}

// holder is a document that contains stems of a question.
type holder struct {
	doc    int // index in its share
	length float64
	prior  float64
	held   []held
}

// held is a stem with its weighted frequency in a document.
type held struct {
	stem  int
	often float64
}

func (h holder) score(values []float64, average float64) (score float64) {
	for _, s := range h.held {
		score += values[s.stem] * saturated(s.often, h.length/average)
	}
	return score * h.prior
}

func (r *Ranking) count(documents iter.Seq[Document]) (c counts) {
	counter := counter{places: r.places, known: map[string]met{}, often: make([]float64, len(r.places))}
	for d := range documents {
		length := 0.0
		if d.bag != nil {
			length = counter.countBag(d.bag, r.numbers)
		} else {
			length = counter.count(d)
		}
		if list := counter.take(); len(list) > 0 {
			c.found = append(c.found, holder{c.total, length, cmp.Or(d.Prior, 1), list})
		}
		c.total, c.length = c.total+1, c.length+length
	}
	return c
}

// value computes the value of each stem, removes stems that do not count, and returns the sum.
func (r *Ranking) value(q Question, holding []int, total int) (whole float64) {
	r.values = make([]float64, len(q.stems))
	order := make([]int, len(q.stems))
	for i := range q.stems {
		r.values[i] = q.weights[i] * rarity(holding[i], total)
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(min(holding[b], 1), min(holding[a], 1)), cmp.Compare(r.values[b], r.values[a]))
	})
	for n, i := range order {
		if n >= mostStems {
			r.values[i] = 0
		}
		whole += r.values[i]
	}
	return whole
}

// counter counts the stems of a question in documents.
type counter struct {
	places map[string]int // of stems
	known  map[string]met // the words seen so far, as written
	often  []float64      // in the current document
	found  []int          // indices of the nonzero elements of often
	room   []held         // memory for the results of take
}

// met is a seen word: its number of parts, and the places of those in the question.
type met struct {
	parts  int
	places []int
}

func (c *counter) meet(word string) met {
	list := parts(word)
	m := met{parts: len(list)}
	for _, part := range list {
		if at, asked := c.places[stem(part)]; asked {
			m.places = append(m.places, at)
		}
	}
	c.known[strings.Clone(word)] = m
	return m
}

func (c *counter) count(d Document) (length float64) {
	for _, f := range d.Fields {
		for word := range written(f.Text) {
			m, known := c.known[word]
			if !known {
				m = c.meet(word)
			}
			length += float64(m.parts) * f.Weight
			for _, at := range m.places {
				c.add(at, f.Weight)
			}
		}
	}
	return length
}

func (c *counter) add(at int, often float64) {
	if c.often[at] == 0 {
		c.found = append(c.found, at)
	}
	c.often[at] += often
}

// take returns the counts of the current document, ordered by place, and resets them.
func (c *counter) take() []held {
	slices.Sort(c.found)
	if cap(c.room)-len(c.room) < len(c.found) {
		c.room = make([]held, 0, max(4096, len(c.found)))
	}
	start := len(c.room)
	for _, at := range c.found {
		c.room = append(c.room, held{at, c.often[at]})
		c.often[at] = 0
	}
	c.found = c.found[:0]
	return slices.Clip(c.room[start:])
}

// worth returns the sum of the values of the question's words in a text, each counted once.
func (r *Ranking) worth(text string, seen map[int]bool) (worth float64) {
	for word := range partsOf(text) {
		if at, asked := r.places[stem(word)]; asked && !seen[at] {
			seen[at] = true
			worth += r.values[at]
		}
	}
	return worth
}

// passage returns the shortest piece of a text that says most about the question, and its
// worth. The piece consists of whole sentences or lines with at most most bytes; it is "" if
// nothing matches.
func (r *Ranking) passage(text string, most int) (passage string, worth float64) {
	spans := sentences(text, most)
	for i, s := range spans {
		seen := map[int]bool{}
		sum := 0.0
		for _, next := range spans[i:] {
			if next.end-s.start > most && next != s {
				break
			}
			sum += r.worth(text[next.start:next.end], seen)
			if sum > worth || sum == worth && next.end-s.start < len(passage) {
				passage, worth = text[s.start:next.end], sum
			}
		}
	}
	return strings.TrimSpace(passage), worth
}

// firstSentences returns the first sentences or lines of a text, in at most most bytes.
func firstSentences(text string, most int) string {
	end := 0
	for _, s := range sentences(text, most) {
		if s.end > most && end > 0 {
			break
		}
		end = s.end
	}
	return strings.TrimSpace(text[:end])
}

type span struct{ start, end int }

// sentences splits a text after full stops, semicolons and line ends, and wherever a part would
// be longer than most bytes.
func sentences(text string, most int) (list []span) {
	start := 0
	add := func(end int) {
		if strings.TrimSpace(text[start:end]) != "" {
			list = append(list, span{start, end})
		}
		start = end
	}
	for i, c := range text {
		if i-start+utf8.RuneLen(c) > most {
			add(i)
		}
		if c == '\n' || c == ' ' && i > 0 && strings.IndexByte(".;!?", text[i-1]) >= 0 {
			add(i + 1)
		}
	}
	add(len(text))
	return list
}

// partsOf returns the words of a text as Words does, and the parts of camel-case names.
func partsOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range written(text) {
			for _, part := range parts(word) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// parts returns a word and its camel-case parts, in lower case.
func parts(word string) (list []string) {
	from := 0
	for i := 1; i < len(word); i++ {
		if 'A' <= word[i] && word[i] <= 'Z' && 'a' <= word[i-1] && word[i-1] <= 'z' {
			list = append(list, strings.ToLower(word[from:i]))
			from = i
		}
	}
	if from > 0 {
		list = append(list, strings.ToLower(word[from:]))
	}
	return append(list, strings.ToLower(word))
}

// written returns the words of a text as written.
func written(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range text {
			inWord := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' ||
				r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r))
			alone := inWord && visible.Unspaced(r)
			if start >= 0 && (!inWord || alone) {
				if !yield(text[start:i]) {
					return
				}
				start = -1
			}
			switch {
			case alone:
				if !yield(string(r)) {
					return
				}
			case inWord && start < 0:
				start = i
			}
		}
		if start >= 0 {
			yield(text[start:])
		}
	}
}

// stem returns an English word without the ending for number or tense, so that "tests",
// "tested" and "testing" are equal. It may shorten words of other languages too, always in the
// same way.
func stem(word string) string {
	for _, e := range []struct {
		ending, by string
		least      int // least number of bytes before the ending
	}{{"ies", "y", 2}, {"sses", "ss", 2}, {"ss", "ss", 0}, {"us", "us", 0}, {"is", "is", 0}, {"s", "", 3}} {
		if rest, ok := strings.CutSuffix(word, e.ending); ok && len(rest) >= e.least {
			word = rest + e.by
			break
		}
	}
	for _, ending := range []string{"ing", "ed"} {
		rest, ok := strings.CutSuffix(word, ending)
		if !ok || len(rest) < 3 || !strings.ContainsAny(rest, "aeiouy") {
			continue
		}
		if n := len(rest); rest[n-1] == rest[n-2] && !strings.Contains("lsz", rest[n-1:]) {
			rest = rest[:n-1] // planned → plan
		}
		word = rest
		break
	}
	if rest, ok := strings.CutSuffix(word, "e"); ok && len(rest) >= 3 {
		return rest // closed → close
	}
	return word
}

// little reports whether a word is a stop word.
func little(word string) bool {
	const words = " a an and any are as at be because been before but by can do does for from get give had has have how i if in into is it its itself me my no not of on once only or our should so such than that the their them then there these this to up us use used very was we were what when where which while who why will with without would you your "
	return strings.Contains(words, " "+word+" ")
}
