package orient

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/visible"
	"stig/signals"
)

// Kinds of questions.
const (
	kindQuestion = "question"
	KindProcess  = "process-improvement" // whether the way of working should change
)

// Asked is a question to a person, with its state.
type Asked struct {
	Project  string      `json:"project,omitempty"` // of several projects, whose issue it is
	Stig     string      `json:"-"`                 // stig as it is typed for the project
	ID       string      `json:"id"`
	Title    string      `json:"title"`
	Status   string      `json:"status"`
	Hash     string      `json:"hash"`     // identifies the question; "" if nothing is asked
	Number   int         `json:"number"`   // 1-based among the issue's open questions; 0 if answered
	Since    string      `json:"since"`    // YYYY-MM-DD, "" if its heading has no date
	AgeDays  *int        `json:"age_days"` // null if its heading has no date
	Question string      `json:"question"` // without options; "" if the signal is pending and nothing is asked
	By       string      `json:"by"`       // "" if not recorded
	Kind     string      `json:"kind"`
	Options  []string    `json:"options"`
	Default  *Default    `json:"default,omitempty"`
	Waits    []beads.Ref `json:"waits"` // unclosed issues that wait for this one
	Answer   *Answer     `json:"answer,omitempty"`
}

// Default is the option that the asker proposes if nobody answers. stig never takes it; only a
// person can.
type Default struct {
	Option  int    `json:"option"` // 1-based
	Text    string `json:"text"`
	After   string `json:"after"` // such as 24h; "" if not given
	Due     string `json:"due"`   // RFC 3339, UTC; "" if not given
	Overdue bool   `json:"overdue"`
}

// Answer is a person's answer.
type Answer struct {
	Date      string `json:"date"`
	By        string `json:"by"`
	Text      string `json:"text"`
	To        string `json:"to,omitempty"` // the answered questions if there were several: "all 2 questions"
	Withdrawn bool   `json:"withdrawn,omitempty"`
}

// NewAnswer converts an answer of the trail.
func NewAnswer(p signals.Part) *Answer {
	return &Answer{Date: p.Date, By: p.By, Text: p.Text, To: p.Note, Withdrawn: p.Withdraws()}
}

// Escalations lists the questions that wait for a person, the oldest first, grouped by issue.
// Questions without a date come first because their age is unknown. The list includes issues
// whose signal is pending without a question.
func Escalations(f *beads.Snapshot, g *dag.Graph, rules Rules) ([]Asked, error) {
	return escalations(f, g, rules, func(parts []signals.Part) (waiting []signals.Exchange) {
		for _, p := range signals.Questions(parts) {
			waiting = append(waiting, signals.Exchange{Question: p})
		}
		return waiting
	})
}

// AllEscalations also lists answered questions, each with its answer.
func AllEscalations(f *beads.Snapshot, g *dag.Graph, rules Rules) ([]Asked, error) {
	return escalations(f, g, rules, signals.Exchanges)
}

func escalations(f *beads.Snapshot, g *dag.Graph, rules Rules, pick func([]signals.Part) []signals.Exchange) ([]Asked, error) {
	var groups [][]Asked
	reader := f.Reader()
	for i := range f.Len() {
		issue := f.At(i)
		if at, ok := f.Index(issue.ID); !issue.HasNotes || issue.Status == beads.StatusTombstone || !ok || at != i {
			continue
		}
		may, err := mayAsk(reader, issue)
		if err != nil {
			return nil, err
		}
		if !may {
			continue
		}
		record, err := issue.Record()
		if err != nil {
			return nil, err
		}
		if group := assemble(f, g, rules, record).asked(i, pick); len(group) > 0 {
			groups = append(groups, group)
		}
	}
	slices.SortStableFunc(groups, byAge)
	return append([]Asked{}, slices.Concat(groups...)...), nil
}

func byAge(a, b []Asked) int {
	return cmp.Or(strings.Compare(a[0].Since, b[0].Since), strings.Compare(a[0].ID, b[0].ID))
}

// IsBeside reports whether two questions are on the same issue.
func (q Asked) IsBeside(other Asked) bool { return q.ID == other.ID && q.Project == other.Project }

// ByAge sorts questions of several projects, the oldest first, those of an issue together as they
// are in the list.
func ByAge(list []Asked) []Asked {
	var groups [][]Asked
	for i, q := range list {
		if i == 0 || !q.IsBeside(list[i-1]) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], q)
	}
	slices.SortStableFunc(groups, byAge)
	return append(list[:0:0], slices.Concat(groups...)...)
}

// asks is the memo key of mayAsk.
type asks struct{}

// mayAsk reports whether an issue may have questions; most have none.
func mayAsk(reader *beads.Reader, issue *beads.Issue) (bool, error) {
	if known, ok := issue.Remembered(asks{}).(bool); ok {
		return known, nil
	}
	line, err := reader.Line(issue)
	if err != nil {
		return false, err
	}
	may := bytes.Contains(line, []byte(signals.EscalationSection)) || bytes.Contains(line, []byte(signals.EscalationPending))
	issue.Remember(asks{}, may)
	return may, nil
}

// asked returns the questions of one issue.
func (a assembly) asked(i int, pick func([]signals.Part) []signals.Exchange) []Asked {
	issue := a.file.At(i)
	parts := signals.Escalations(a.doc)
	picked := pick(parts)
	if len(signals.Questions(parts)) == 0 && a.table.Value(signals.Escalation) == signals.EscalationPending {
		picked = append(picked, signals.Exchange{Question: signals.Part{Kind: signals.Pending}})
	}
	var list []Asked
	waiting := 0
	for _, e := range picked {
		q := signals.ReadQuestion(e.Question.Text)
		asked := Asked{
			ID: issue.ID, Title: issue.Title, Status: issue.Status, Since: e.Question.Asked(), Question: q.Text, By: e.Question.By, Kind: kindQuestion,
			Options: append([]string{}, q.Options...), Default: defaultOf(q, a.rules.Now), Waits: a.file.Refs(a.graph.Waiting(i)),
		}
		if q.Text != "" {
			asked.Hash = e.Question.Hash()
		}
		if e.Answer != nil {
			asked.Answer = NewAnswer(*e.Answer)
		} else if q.Text != "" {
			waiting++
			asked.Number = waiting
		}
		if e.Question.Kind == signals.Improvement {
			asked.Kind = KindProcess
		}
		if days, ok := age(asked.Since, a.rules.Now); ok {
			asked.AgeDays = &days
		}
		list = append(list, asked)
	}
	return list
}

func defaultOf(q signals.Question, now time.Time) *Default {
	if q.Default == 0 {
		return nil
	}
	d := &Default{Option: q.Default, Text: q.Options[q.Default-1], Overdue: q.Overdue(now)}
	if q.After > 0 {
		d.After = signals.Span(q.After)
	}
	if !q.Due.IsZero() {
		d.Due = q.Due.Format(time.RFC3339)
	}
	return d
}

// Words returns the default as a sentence without a full stop. Times are in UTC.
func (d Default) Words() string {
	option := "option " + strconv.Itoa(d.Option) + "; only a person can choose it"
	switch due, err := time.Parse(time.RFC3339, d.Due); {
	case d.Overdue:
		return "no answer by " + due.UTC().Format(dueLayout) + ": the proposed answer is " + option
	case err == nil:
		return "proposed if nobody answers by " + due.UTC().Format(dueLayout) + ": " + option
	}
	return "proposed if nobody answers: " + option
}

const dueLayout = "2006-01-02 15:04 UTC"

// Answered is an answer with the questions that it answers.
type Answered struct {
	Questions []Posed `json:"questions"` // empty if no question was written down
	Answer    Answer  `json:"answer"`

	whole string // the answer before a budget cut it
}

// Posed is a question in its original words.
type Posed struct {
	Date string `json:"date"` // YYYY-MM-DD, "" if not recorded
	By   string `json:"by"`   // "" if not recorded
	Text string `json:"text"`

	whole string // text before a budget cut it
}

// escalation reads the state from the signal and the texts from the section. If the two
// disagree, the texts are shown anyway.
func (a assembly) escalation() Escalation {
	e := Escalation{State: a.table.Value(signals.Escalation), Answered: []Answered{}}
	parts := signals.Escalations(a.doc)
	var questions, answers []string
	for _, p := range signals.Questions(parts) {
		questions = append(questions, p.Text)
		e.Default = cmp.Or(defaultOf(signals.ReadQuestion(p.Text), a.rules.Now), e.Default)
	}
	for _, p := range parts {
		if !p.Kind.Asks() {
			answers = append(answers, p.Text)
		}
	}
	e.Question = strings.Join(questions, "\n\n")
	e.Resolution = strings.Join(answers, "\n\n")
	e.Answered = append(e.Answered, answered(parts)...)
	return e
}

// answered returns each answer with the questions that it answers.
func answered(parts []signals.Part) (list []Answered) {
	exchanges := signals.Exchanges(parts)
	for i, p := range parts {
		if p.Kind.Asks() {
			continue
		}
		a := Answered{Questions: []Posed{}, Answer: Answer{Date: p.Date, By: p.By, Text: p.Text}}
		for _, e := range exchanges {
			if q := e.Question; e.Answer == &parts[i] {
				a.Questions = append(a.Questions, Posed{Date: q.Date, By: q.By, Text: q.Text})
			}
		}
		list = append(list, a)
	}
	return list
}

// answers shows each answer with its questions and authors.
func (b *Briefing) answers(w *page) {
	if len(b.Escalation.Answered) == 0 {
		return
	}
	w.heading("Answered by a person")
	for _, a := range b.Escalation.Answered {
		for _, q := range a.Questions {
			w.blank()
			w.line(saidBy("asked", q.By, q.Date))
			w.blank()
			w.quote(q.Text)
		}
		w.blank()
		w.line(saidBy("answered", a.Answer.By, a.Answer.Date))
		w.blank()
		w.quote(a.Answer.Text)
	}
}

// saidBy returns the line that introduces a quotation: "Asked by mara, 2026-11-12:".
func saidBy(verb, by, date string) string {
	if by != "" {
		verb += " by " + visible.OneLine(by)
	}
	return upperFirst(join(verb, date)) + ":"
}
