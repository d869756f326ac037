package recall

import (
	"cmp"
	"iter"
	"math"
	"runtime"
	"slices"
	"strings"

	"stig/beads"
	"stig/notes"
	"stig/signals"
	"stig/trace"
)

// Request asks what a store knows about something: about words, or about what an
// issue is about.
type Request struct {
	Words  string
	Like   string   // the id of an issue, instead of words; it is not among the answers
	Except []string // ids that are not among the answers either
	Limit  int      // at most so many; 0 for all
	Least  float64  // with this score at least
}

// Known is what a store knows about something: an issue, or a memory of bd.
type Known struct {
	Kind    string  `json:"kind"`            // KindIssue or KindMemory
	ID      string  `json:"id"`              // of the issue, or the key of the memory
	Title   string  `json:"title"`           // "" of a memory
	Status  string  `json:"status"`          // "" of a memory
	Score   float64 `json:"score"`           // 0 to about 1
	From    string  `json:"from"`            // where the passage stands: a key of the issue, checkpoint, or a type of trace
	Trace   string  `json:"trace,omitempty"` // the name of that trace
	Passage string  `json:"passage"`         // the piece that says most about what was asked
}

// The kinds of what is known.
const (
	KindIssue  = "issue"
	KindMemory = "memory"
)

// Least is the score below which an answer holds words of the question by chance.
const Least = 0.1

const (
	// closedPrior is what a closed issue counts more than another: it says how it ended.
	closedPrior = 1.2
	// passageBytes is the most that a passage has.
	passageBytes = 300
)

// In gives what a store knows, the best first, and how much there is with what is
// beyond the limit. What of the store could not be read is in Snapshot.Problems. The
// error is a fault.NotFound when there is no issue Like, or one of reading lines.
func In(file *beads.Snapshot, r Request) (list []Known, total int, err error) {
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

// rank reads the sources on all cores.
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

// source is an issue, or a memory of bd where that is nil.
type source struct {
	issue  *beads.Issue
	memory beads.Memory
}

// sources are the issues that may be among the answers, and the memories.
func (r Request) sources(file *beads.Snapshot) (list []source, err error) {
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

// texts are what it says, first the title.
func (s source) texts(reader *beads.Reader) ([]text, error) {
	if s.issue == nil {
		return []text{{from: "title", text: s.memory.Key, weight: 2}, {from: KindMemory, text: s.memory.Value, weight: outcome}}, nil
	}
	record, err := reader.Record(s.issue)
	if err != nil {
		return nil, err
	}
	return textsOf(record), nil
}

// document is what is ranked: by its bag, where one is kept.
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

// question is what is asked for. With Like, the issue is left out of the answers.
func (r *Request) question(file *beads.Snapshot) (Question, error) {
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

// text is one text of an issue or a memory.
type text struct {
	from   string // as Known.From
	trace  string // as Known.Trace
	text   string
	weight float64 // of a word in it
}

// outcome is how much a word counts in a text that says what came of an issue, where
// one in the description counts 1.
const outcome = 1.5

// textsOf are the texts of an issue, first its title.
func textsOf(record *beads.Record) []text {
	texts := []text{
		{from: "title", text: record.Text(beads.Title), weight: 4},
		{from: string(beads.CloseReason), text: record.Text(beads.CloseReason), weight: outcome},
	}
	for _, key := range []beads.Key{beads.Description, beads.Design, beads.AcceptanceCriteria} {
		texts = append(texts, text{from: string(key), text: record.Text(key), weight: 1})
	}
	if written := record.Text(beads.Notes); written != "" {
		doc := notes.Parse(written)
		if e, ok := signals.LastEstimate(doc); ok {
			texts = append(texts, text{from: "checkpoint", text: e.Body, weight: outcome})
		}
		for _, e := range signals.MergedEstimates(doc) {
			texts = append(texts, text{from: "checkpoint", text: e.Text, weight: outcome})
		}
		texts = append(texts, text{from: string(beads.Notes), text: doc.Outside(), weight: 1})
	}
	for _, left := range trace.Of(record) {
		texts = append(texts, textOf(left))
	}
	texts = append(texts, text{from: "labels", text: strings.Join(record.Labels(), "\n"), weight: 1})
	return slices.DeleteFunc(texts, func(t text) bool { return t.from != "title" && t.text == "" })
}

// textOf is the text of a comment. Of traces only those count that say what was found
// or what came of the work.
func textOf(left trace.Left) text {
	t := text{from: left.Type, trace: left.Name, text: left.Summary + "\n" + left.Body, weight: outcome}
	switch left.Type {
	case trace.Finding, trace.Summary, trace.Completion, trace.Error, trace.Result:
	case trace.Comment:
		t.weight, t.trace = 1, ""
	default:
		t.text = ""
	}
	return t
}

// show puts the passage in that says most of the question. Where no text but the title
// says any of it, it is the beginning of the first text.
func (k *Known) show(ranking *Ranking, texts []text) {
	most := 0.0
	for _, t := range texts[1:] {
		if passage, worth := ranking.passage(t.text, passageBytes); worth*t.weight > most {
			k.From, k.Trace, k.Passage, most = t.from, t.trace, passage, worth*t.weight
		}
	}
	if most == 0 && len(texts) > 1 {
		k.From, k.Trace, k.Passage = texts[1].from, texts[1].trace, opening(texts[1].text, passageBytes)
	}
}
