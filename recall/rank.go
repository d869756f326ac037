package recall

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Question is what a ranking looks for: stems of words, and how much each counts.
type Question struct {
	stems   []string // sorted
	weights []float64
}

// repeated is how much less a further occurrence of a word in a question counts (k3
// of BM25).
const repeated = 2

// Ask makes a question of texts. A word counts by the weight of its field each time
// it occurs, and less each further time. Words such as "the" do not count.
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

// Empty reports whether a question has no word that counts.
func (q Question) Empty() bool { return len(q.stems) == 0 }

// Ranking are the documents that hold words of a question, the best first.
type Ranking struct {
	Ranked []Ranked

	places map[string]int // of the stems in values
	values []float64      // what each stem counts by its weight and its rarity
}

// Ranked is a document with its score: 0 to 1, of which 1 would be each word of the
// question in a short document many times.
type Ranked struct {
	Doc   int
	Score float64
}

// mostStems is how many words of a question count: those of most value, and then those
// that no document holds. A question that is a whole issue has hundreds.
const mostStems = 40

// held is a stem that a document holds: which, and how often, weighted.
type held struct {
	stem  int
	often float64
}

// Rank ranks documents by a question. Each document is looked at once, and not kept.
func Rank(q Question, documents iter.Seq[Document]) *Ranking {
	r := &Ranking{places: map[string]int{}}
	for i, s := range q.stems {
		r.places[s] = i
	}
	counter := counter{places: r.places, known: map[string]int{}, often: make([]float64, len(q.stems))}
	var found [][]held
	var docs []int
	var lengths, priors []float64
	holding := make([]int, len(q.stems))
	total, sum := 0, 0.0
	for d := range documents {
		list, length := counter.count(d)
		total, sum = total+1, sum+length
		if len(list) == 0 {
			continue
		}
		for _, h := range list {
			holding[h.stem]++
		}
		found, docs, lengths, priors = append(found, list), append(docs, total-1), append(lengths, length), append(priors, cmp.Or(d.Prior, 1))
	}
	whole := r.value(q, holding, total)
	for i, list := range found {
		score := 0.0
		for _, h := range list {
			score += r.values[h.stem] * saturated(h.often, lengths[i]*float64(total)/sum)
		}
		if score > 0 {
			r.Ranked = append(r.Ranked, Ranked{docs[i], priors[i] * score / (whole * (saturation + 1))})
		}
	}
	slices.SortStableFunc(r.Ranked, func(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) })
	return r
}

// value gives each stem its value, leaves those out that do not count, and returns
// the sum.
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
	known  map[string]int // of words that were met, the place of their stem; -1 for none
	often  []float64      // of the present document
	found  []int          // the places that are not 0 in it
}

func (c *counter) count(d Document) (list []held, length float64) {
	for _, f := range d.Fields {
		for word := range partsOf(f.Text) {
			length += f.Weight
			at, met := c.known[word]
			if !met {
				var asked bool
				if at, asked = c.places[stem(word)]; !asked {
					at = -1
				}
				c.known[strings.Clone(word)] = at
			}
			if at < 0 {
				continue
			}
			if c.often[at] == 0 {
				c.found = append(c.found, at)
			}
			c.often[at] += f.Weight
		}
	}
	slices.Sort(c.found)
	for _, at := range c.found {
		list = append(list, held{at, c.often[at]})
		c.often[at] = 0
	}
	c.found = c.found[:0]
	return list, length
}

// worth is what a text says of the question: the values of the words in it, each
// once.
func (r *Ranking) worth(text string, seen map[int]bool) (worth float64) {
	for word := range partsOf(text) {
		if at, asked := r.places[stem(word)]; asked && !seen[at] {
			seen[at] = true
			worth += r.values[at]
		}
	}
	return worth
}

// Passage is the shortest piece of a text that says most of the question, whole
// sentences or lines of at most so many bytes, or one that is longer, and how much of
// it that is; "" where none says anything.
func (r *Ranking) Passage(text string, most int) (passage string, worth float64) {
	spans := sentences(text)
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

type span struct{ start, end int }

// sentences parts a text behind full stops, semicolons and line ends.
func sentences(text string) (list []span) {
	start := 0
	add := func(end int) {
		if strings.TrimSpace(text[start:end]) != "" {
			list = append(list, span{start, end})
		}
		start = end
	}
	for i := range len(text) {
		if text[i] == '\n' || text[i] == ' ' && i > 0 && strings.IndexByte(".;!?", text[i-1]) >= 0 {
			add(i + 1)
		}
	}
	add(len(text))
	return list
}

// Opening is the first sentences or lines of a text, so many as have at most so many
// bytes; the first one always.
func Opening(text string, most int) string {
	end := 0
	for i, s := range sentences(text) {
		if i > 0 && s.end > most {
			break
		}
		end = s.end
	}
	return strings.TrimSpace(text[:end])
}
