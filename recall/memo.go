package recall

import (
	"slices"
	"sync"

	"stig/beads"
)

// A process that asks a store again and again keeps what its issues hold, by stems, in the
// memo of the snapshot: taking the texts apart is most of an answer.

// bag is what a document holds, by stems: their numbers in a vocabulary, each with how
// often it stands there, weighted.
type bag struct {
	stems  []uint32 // number<<oftenBits | twice how often, sorted by number
	length float64  // of all words, weighted
}

const (
	oftenBits  = 12
	mostOften  = 1<<oftenBits - 1
	mostNumber = 1<<(32-oftenBits) - 1
)

// inBag names to a memo the bag of an issue.
type inBag struct{}

// vocabulary numbers the stems of all bags of a memo. It may be used by several goroutines
// at once.
type vocabulary struct {
	mu      sync.Mutex
	numbers map[string]uint32
}

// vocabularyOf gives the vocabulary of what a store is read with; nil where nothing is kept.
func vocabularyOf(file *beads.Snapshot) *vocabulary {
	v, _ := file.Common(inBag{}, func() any { return &vocabulary{numbers: map[string]uint32{}} }).(*vocabulary)
	return v
}

func (v *vocabulary) number(stem string) uint32 {
	v.mu.Lock()
	defer v.mu.Unlock()
	n, ok := v.numbers[stem]
	if !ok {
		n = uint32(len(v.numbers))
		v.numbers[stem] = n
	}
	return n
}

// packer puts documents into bags, one after the other. Without a vocabulary it keeps none.
type packer struct {
	*vocabulary
	known map[string][]uint32 // the stems of the parts of a word, as it was written
	often map[uint32]float64  // of the present document
}

func newPacker(v *vocabulary) *packer {
	return &packer{v, map[string][]uint32{}, map[uint32]float64{}}
}

// kept gives the bag that is kept of an issue; nil for none, and for a memory.
func (p *packer) kept(issue *beads.Issue) *bag {
	if p.vocabulary == nil || issue == nil {
		return nil
	}
	b, _ := issue.Remembered(inBag{}).(*bag)
	return b
}

// keep keeps the bag of an issue; nil where that cannot be done.
func (p *packer) keep(issue *beads.Issue, fields []Field) *bag {
	if p.vocabulary == nil || issue == nil {
		return nil
	}
	b := p.pack(fields)
	if b != nil {
		issue.Remember(inBag{}, b)
	}
	return b
}

// pack gives the bag of a document; nil for one that is too large for it.
func (p *packer) pack(fields []Field) *bag {
	clear(p.often)
	b := &bag{}
	for _, f := range fields {
		for word := range written(f.Text) {
			for _, n := range p.meet(word) {
				b.length += f.Weight
				p.often[n] += f.Weight
			}
		}
	}
	for n, often := range p.often {
		twice := 2 * often
		if n > mostNumber || twice > mostOften || twice != float64(int(twice)) {
			return nil
		}
		b.stems = append(b.stems, n<<oftenBits|uint32(twice))
	}
	slices.Sort(b.stems)
	b.stems = slices.Clip(b.stems)
	return b
}

func (p *packer) meet(word string) []uint32 {
	list, ok := p.known[word]
	if !ok {
		for _, part := range parts(word) {
			list = append(list, p.number(stem(part)))
		}
		p.known[string([]byte(word))] = list
	}
	return list
}

// numbered are the places of a question's stems by their numbers.
type numbered []int32

const nowhere = -1

func (v *vocabulary) places(stems map[string]int) (list numbered) {
	for s, at := range stems {
		n := int(v.number(s))
		for len(list) <= n {
			list = append(list, nowhere)
		}
		list[n] = int32(at)
	}
	return list
}

// countBag counts what a bag holds of the question.
func (c *counter) countBag(b *bag, places numbered) (length float64) {
	for _, s := range b.stems {
		n := int(s >> oftenBits)
		if n >= len(places) {
			break
		}
		if at := places[n]; at != nowhere {
			c.add(int(at), float64(s&mostOften)/2)
		}
	}
	return b.length
}
