package orient

import (
	"cmp"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"stig/internal/beads"
	"stig/internal/trace"
	"stig/notes"
	"stig/signals"
)

// A long-running process caches the stems of issues in the snapshot's memo, because splitting
// the texts takes most of the time of an answer.

// bag is the weighted stems of a document: their numbers in a vocabulary, with frequencies.
type bag struct {
	stems  []uint32 // number<<oftenBits | twice the frequency, sorted by number
	length float64  // of all words, weighted
}

const (
	oftenBits  = 12
	mostOften  = 1<<oftenBits - 1
	mostNumber = 1<<(32-oftenBits) - 1
)

// inBag is the memo key of an issue's bag.
type inBag struct{}

// vocabulary numbers the stems of all bags of a memo. It is safe for concurrent use.
type vocabulary struct {
	mu      sync.Mutex
	numbers map[string]uint32
}

// vocabularyOf returns the vocabulary of a snapshot; nil if it has no memo.
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

// packer converts documents into bags, one at a time. Without a vocabulary it converts none.
type packer struct {
	*vocabulary
	known map[string][]uint32 // the stems of a word's parts, by the word as written
	often map[uint32]float64  // in the current document
}

func newPacker(v *vocabulary) *packer {
	return &packer{v, map[string][]uint32{}, map[uint32]float64{}}
}

// kept returns the cached bag of an issue; nil for none, and for a memory.
func (p *packer) kept(issue *beads.Issue) *bag {
	if p.vocabulary == nil || issue == nil {
		return nil
	}
	b, _ := issue.Remembered(inBag{}).(*bag)
	return b
}

// keep caches and returns the bag of an issue; nil if it cannot be cached.
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

// pack returns the bag of a document; nil if the document is too large.
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

// numbered maps stem numbers to the places of a question's stems.
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

// countBag counts the question's stems in a bag.
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

// RecallRequest asks what a store knows about some words or about the subject of an issue.
type RecallRequest struct {
	Words  string
	Like   string   // the id of an issue to use instead of words; it is excluded from the answers
	Except []string // ids to exclude from the answers
	Limit  int      // limit of the answers; 0 for none
	Least  float64  // the minimum score
}

// Known is an answer from a store: an issue, or a memory of bd.
type Known struct {
	Kind    string  `json:"kind"`            // KindIssue or KindMemory
	ID      string  `json:"id"`              // id of the issue, or key of the memory
	Title   string  `json:"title"`           // "" for a memory
	Status  string  `json:"status"`          // "" for a memory
	Score   float64 `json:"score"`           // 0 to about 1
	From    string  `json:"from"`            // origin of the passage: a key of the issue, checkpoint, or a type of trace
	Trace   string  `json:"trace,omitempty"` // the name of that trace
	Passage string  `json:"passage"`         // the most relevant piece of text
}

// Kinds of answers.
const (
	KindIssue  = "issue"
	KindMemory = "memory"
)

// Least is the score below which matches are accidental.
const Least = 0.1

const (
	// closedPrior is the factor for closed issues, because they say how they ended.
	closedPrior = 1.2
	// passageBytes is the maximum size of a passage.
	passageBytes = 300
)

// Recall returns the answers of a store, the best first, and their total number without the
// limit. Unreadable parts of the store are in Snapshot.Problems. The error is a fault.NotFound
// if there is no issue Like, or an error from reading lines.
func Recall(file *beads.Snapshot, r RecallRequest) (list []Known, total int, err error) {
	question, err := r.question(file)
	if err != nil {
		return nil, 0, err
	}
	sources, err := r.sources(file)
	if err != nil {
		return nil, 0, err
	}
	ranking, err := rank(file, question, sources)
	if err != nil {
		return nil, 0, err
	}
	reader := file.Reader()
	list = []Known{}
	for _, hit := range ranking.Ranked {
		if hit.Score < r.Least {
			break
		}
		if total++; r.Limit > 0 && total > r.Limit {
			continue
		}
		texts, err := sources[hit.Doc].texts(reader)
		if err != nil {
			return nil, 0, err
		}
		known := sources[hit.Doc].known()
		known.Score = math.Round(hit.Score*1000) / 1000
		known.show(ranking, texts)
		list = append(list, known)
	}
	return list, total, nil
}

// rank reads the sources in parallel on all cores.
func rank(file *beads.Snapshot, question Question, sources []source) (*Ranking, error) {
	cores := runtime.GOMAXPROCS(0)
	question.known = vocabularyOf(file)
	size := max(1, (len(sources)+cores-1)/cores)
	var shares []iter.Seq[Document]
	errs := make([]error, cores)
	for share := range slices.Chunk(sources, size) {
		failed := &errs[len(shares)]
		shares = append(shares, func(yield func(Document) bool) {
			reader, packer := file.Reader(), newPacker(question.known)
			for _, s := range share {
				d, err := s.document(reader, packer)
				if *failed = err; err != nil || !yield(d) {
					return
				}
			}
		})
	}
	return Rank(question, shares...), cmp.Or(errs...)
}

// source is an issue, or a memory of bd if issue is nil.
type source struct {
	issue  *beads.Issue
	memory beads.Memory
}

// sources returns the issues and memories that can be answers.
func (r RecallRequest) sources(file *beads.Snapshot) (list []source, err error) {
	for i, issue := range file.All() {
		if at, _ := file.Index(issue.ID); at == i && issue.Status != beads.StatusTombstone && !slices.Contains(r.Except, issue.ID) {
			list = append(list, source{issue: issue})
		}
	}
	memories, err := file.Memories()
	for _, m := range memories {
		list = append(list, source{memory: m})
	}
	return list, err
}

func (s source) known() Known {
	if s.issue == nil {
		return Known{Kind: KindMemory, ID: s.memory.Key}
	}
	return Known{Kind: KindIssue, ID: s.issue.ID, Title: s.issue.Title, Status: s.issue.Status}
}

// texts returns the texts of a source, the title first.
func (s source) texts(reader *beads.Reader) ([]knownText, error) {
	if s.issue == nil {
		return []knownText{{from: "title", text: s.memory.Key, weight: 2}, {from: KindMemory, text: s.memory.Value, weight: outcome}}, nil
	}
	record, err := reader.Record(s.issue)
	if err != nil {
		return nil, err
	}
	return textsOf(record), nil
}

// document returns what is ranked: the cached bag if there is one, otherwise the fields.
func (s source) document(reader *beads.Reader, p *packer) (d Document, err error) {
	d.Prior = 1
	if s.issue == nil || s.issue.Status == beads.StatusClosed {
		d.Prior = closedPrior
	}
	if d.bag = p.kept(s.issue); d.bag != nil {
		return d, nil
	}
	texts, err := s.texts(reader)
	for _, t := range texts {
		d.Fields = append(d.Fields, Field{Text: t.text, Weight: t.weight})
	}
	d.bag = p.keep(s.issue, d.Fields)
	return d, err
}

// question returns the question of a request. With Like, it excludes that issue from the
// answers.
func (r *RecallRequest) question(file *beads.Snapshot) (Question, error) {
	if r.Like == "" {
		return Ask(Field{Text: r.Words, Weight: 1}), nil
	}
	issue, record, err := file.FindRecord(r.Like)
	if err != nil {
		return Question{}, err
	}
	r.Except = append(slices.Clone(r.Except), issue.ID)
	return Ask(Field{Text: issue.Title, Weight: 3}, Field{Text: record.Text(beads.Description), Weight: 1}), nil
}

// knownText is one text of an issue or a memory.
type knownText struct {
	from   string // as Known.From
	trace  string // as Known.Trace
	text   string
	weight float64 // of each word in it
}

// outcome is the weight of a word in a text about the result of an issue, relative to 1 in a
// description.
const outcome = 1.5

// textsOf returns the texts of an issue, the title first.
func textsOf(record *beads.Record) []knownText {
	texts := []knownText{
		{from: "title", text: record.Text(beads.Title), weight: 4},
		{from: string(beads.CloseReason), text: record.Text(beads.CloseReason), weight: outcome},
	}
	for _, key := range []beads.Key{beads.Description, beads.Design, beads.AcceptanceCriteria} {
		texts = append(texts, knownText{from: string(key), text: record.Text(key), weight: 1})
	}
	if written := record.Text(beads.Notes); written != "" {
		doc := notes.Parse(written)
		if e, ok := signals.LastEstimate(doc); ok {
			texts = append(texts, knownText{from: "checkpoint", text: e.Body, weight: outcome})
		}
		for _, e := range signals.MergedEstimates(doc) {
			texts = append(texts, knownText{from: "checkpoint", text: e.Text, weight: outcome})
		}
		texts = append(texts, knownText{from: string(beads.Notes), text: doc.Outside(), weight: 1})
	}
	for _, left := range trace.Of(record) {
		texts = append(texts, textOf(left))
	}
	texts = append(texts, knownText{from: "labels", text: strings.Join(record.Labels(), "\n"), weight: 1})
	return slices.DeleteFunc(texts, func(t knownText) bool { return t.from != "title" && t.text == "" })
}

// textOf returns the text of a comment. Of traces, only those with findings or results count.
func textOf(left trace.Entry) knownText {
	t := knownText{from: left.Type, trace: left.Name, text: left.Summary + "\n" + left.Body, weight: outcome}
	switch left.Type {
	case trace.Finding, trace.Summary, trace.Completion, trace.Error, trace.Result:
	case trace.Comment:
		t.weight, t.trace = 1, ""
	default:
		t.text = ""
	}
	return t
}

// show sets the passage that says most about the question. If only the title matches, it is the
// beginning of the first text.
func (k *Known) show(ranking *Ranking, texts []knownText) {
	most := 0.0
	for _, t := range texts[1:] {
		if passage, worth := ranking.passage(t.text, passageBytes); worth*t.weight > most {
			k.From, k.Trace, k.Passage, most = t.from, t.trace, passage, worth*t.weight
		}
	}
	if most == 0 && len(texts) > 1 {
		k.From, k.Trace, k.Passage = texts[1].from, texts[1].trace, firstSentences(texts[1].text, passageBytes)
	}
}
