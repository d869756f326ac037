package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/workspace"
	"stig/notes"
	"stig/orient"
	"stig/signals"
)

// elsewhereRows is how many other issues are suggested to the asker of a question.
const elsewhereRows = 3

// answeredElsewhere lists the first issues that the asker of a question can take meanwhile.
func answeredElsewhere(ctx context.Context, a *workspace.Run, store beads.Store, asked, actor string, now time.Time) ([]ReadyRow, error) {
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := readyRows(ctx, a, file, dag.New(file), now, actor)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(advised(takeable(rows)), func(r ReadyRow) bool { return r.ID == asked })
	return rows[:min(len(rows), elsewhereRows)], nil
}

// unseen returns the questions that are not in seen, and replaces seen with all waiting ones. A
// question that no longer waits is forgotten; if it is asked again, it is new.
func unseen(a *workspace.Run, store beads.Store, seen map[string]bool) ([]orient.Asked, error) {
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	list, err := pending(a, store, now)
	if err != nil {
		return nil, err
	}
	before := maps.Clone(seen)
	clear(seen)
	fresh := []orient.Asked{}
	for _, q := range list {
		key := strings.Join([]string{q.ID, q.Since, q.By, q.Kind, q.Question}, "\x00")
		if seen[key] = true; !before[key] {
			fresh = append(fresh, q)
		}
	}
	return fresh, nil
}

// settle waits a moment, so that several changes in a row are read once.
func settle(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(50 * time.Millisecond):
	}
}

// pending lists the questions that wait for a person.
func pending(a *workspace.Run, store beads.Store, now time.Time) ([]orient.Asked, error) {
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return orient.Escalations(file, dag.New(file), orient.Rules{Schema: a.Schema, Now: now})
}

// Escalations are the questions of a store or of several projects, oldest first.
type Escalations struct {
	Answered   []orient.Asked     `json:"answered,omitempty"`
	Pending    []orient.Asked     `json:"pending"`
	Unreadable []workspace.Unread `json:"unreadable,omitempty"`
}

// ListEverywhere lists all questions of all projects.
func ListEverywhere(ctx context.Context, a *workspace.Run) (*Escalations, error) {
	all := &Escalations{Pending: []orient.Asked{}}
	unread, err := a.Everywhere(ctx, func(in *workspace.Run) error {
		found, err := ListEscalations(in, true)
		if err != nil {
			return err
		}
		for _, list := range [][]orient.Asked{found.Pending, found.Answered} {
			for i := range list {
				if !in.Alone {
					list[i].Project, list[i].Stig = in.Project, in.Typed("stig ")
				}
			}
		}
		all.Pending, all.Answered = append(all.Pending, found.Pending...), append(all.Answered, found.Answered...)
		return nil
	})
	all.Unreadable, all.Pending, all.Answered = unread, orient.ByAge(all.Pending), orient.ByAge(all.Answered)
	return all, err
}

// ListEscalations lists the questions that wait for a person; with all, the answered ones too.
func ListEscalations(a *workspace.Run, all bool) (*Escalations, error) {
	file, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	find := orient.Escalations
	if all {
		find = orient.AllEscalations
	}
	list, err := find(file, dag.New(file), orient.Rules{Schema: a.Schema, Now: now})
	if err != nil {
		return nil, err
	}
	found := &Escalations{Pending: []orient.Asked{}}
	for _, q := range list {
		if q.Answer == nil {
			found.Pending = append(found.Pending, q)
		} else {
			found.Answered = append(found.Answered, q)
		}
	}
	return found, nil
}

// WatchEscalations calls tell with all unanswered questions, even if there are none, and then
// with each new one, until ctx ends or tell fails.
func WatchEscalations(ctx context.Context, a *workspace.Run, tell func(fresh []orient.Asked, first bool) error) error {
	file, err := a.Open() // warns of unreadable parts of the store
	if err != nil {
		return err
	}
	store := a.At(file.Place())
	file.Close()
	changes, stop := store.Watch()
	defer stop()
	seen := map[string]bool{}
	for first := true; ; first = false {
		fresh, err := unseen(a, store, seen)
		if err != nil && first {
			return err
		}
		if err != nil { // another program may be writing; wait for the next change
			a.Warn("%s", err)
		}
		if len(fresh) > 0 || first {
			if err := tell(fresh, first); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changes:
			settle(ctx)
		}
	}
}

// EscalateRequest asks a person about an issue. By and Evidence of the question are set here.
type EscalateRequest struct {
	ID string
	checkpoint.Question
	DryRun bool
}

// Escalated says what an escalation changed, and which issues the asker can start meanwhile.
type Escalated struct {
	*checkpoint.Report
	Ready []ReadyRow `json:"ready"`
}

// Escalate asks a person, and notifies of the question.
func Escalate(ctx context.Context, a *workspace.Run, r EscalateRequest) (*Escalated, error) {
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	q := r.Question
	q.Evidence = a.Config.Signals.Evidence
	if q.By, err = a.MustActor(ctx); err != nil {
		return nil, err
	}
	report, err := checkpoint.Escalate(ctx, store, options, r.ID, q, writeRules(a, options.Now))
	if err != nil {
		return nil, err
	}
	if !r.DryRun {
		notify(ctx, a, store.Place(), options.Now, reportNotices(report, q, options.Now))
	}
	ready, err := answeredElsewhere(ctx, a, store, report.ID, q.By, options.Now)
	return &Escalated{report, ready}, err
}

// DefaultOf parses the default of a question: the number of the option that applies if nobody
// answers, which holds gives as number or text, and after how long it applies. All results are
// zero if there is no default.
func DefaultOf(options []string, holds, after string) (option int, span time.Duration, err error) {
	if (holds == "") != (after == "") {
		return 0, 0, workspace.Usage("--default and --after go together", "say which option holds, and after how long")
	}
	if holds == "" {
		return 0, 0, nil
	}
	if span, err = afterOf(after); err != nil {
		return 0, 0, err
	}
	for i, text := range options {
		if holds == strconv.Itoa(i+1) || holds == text {
			return i + 1, span, nil
		}
	}
	return 0, 0, workspace.Usage(fmt.Sprintf("--default: must be the number or the text of an option; found %q", holds),
		"give the options with --option")
}

// afterOf parses a duration of whole minutes, at least one: 90m, 24h, 3d.
func afterOf(text string) (time.Duration, error) {
	const most = 3650 * 24 * time.Hour
	span, err := checkpoint.ParseSpan(text)
	if err != nil || span < time.Minute || span > most || span%time.Minute != 0 {
		return 0, workspace.Usage(fmt.Sprintf("--after: must be a duration in whole minutes such as 90m, 24h or 3d; found %q", text), "")
	}
	return span, nil
}

// Answering is an answer in progress: on which issue, when and by whom. It is opened before a
// person is prompted, so that nobody writes an answer that is then refused.
type Answering struct {
	By string // who answers

	id      string
	app     *workspace.Run
	store   beads.Store
	options beads.Options
}

// OpenQuestion begins an answer to the questions on an issue.
func OpenQuestion(ctx context.Context, a *workspace.Run, id string, dryRun bool) (*Answering, error) {
	store, options, by, err := a.ToWriteAs(ctx, dryRun, a.MustActor)
	if err != nil {
		return nil, err
	}
	return &Answering{By: by, id: id, app: a, store: store, options: options}, nil
}

// Question is what a person sees before they answer.
type Question struct {
	Briefing *orient.Briefing // as from Orient, with the same limit
	List     []orient.Asked   // the questions that the answer would answer
	Seen     []signals.Part   // the same, as written in the notes
}

// QuestionOf returns what an answer would answer.
func (g *Answering) QuestionOf(answer checkpoint.Answer) (*Question, error) {
	file, err := g.store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	issue, record, err := file.FindRecord(g.id)
	if err != nil {
		return nil, err
	}
	var q Question
	answer.By = g.By
	if q.Seen, err = answer.Answers(issue.ID, notes.Parse(record.Text(beads.Notes)), g.app.Schema); err != nil {
		return nil, err
	}
	rules, err := Reading(g.app, file.Place(), signals.ThresholdStaleDays)
	if err != nil {
		return nil, err
	}
	graph := dag.New(file)
	at, _ := file.Index(issue.ID)
	if q.Briefing, err = orient.Brief(file, graph, at, orient.Request{Budget: orient.BriefingBudget}, rules); err != nil {
		return nil, err
	}
	all, err := orient.Escalations(file, graph, rules)
	if err != nil {
		return nil, err
	}
	for _, asked := range all {
		if asked.ID == issue.ID && slices.ContainsFunc(q.Seen, func(p signals.Part) bool { return p.Hash() == asked.Hash }) {
			q.List = append(q.List, asked)
		}
	}
	return &q, nil
}

// Resolve writes the answer, and sets its By. In the run of a worker it refuses (fault.Found),
// except to withdraw a question of the run's actor.
func (g *Answering) Resolve(ctx context.Context, answer checkpoint.Answer) (*checkpoint.Resolution, error) {
	answer.By, answer.Person = g.By, g.app.ByPerson(g.By)
	if run, in := g.app.InRun(); in && !(answer.Withdraw && clone.BelongsTo(g.By, run.Actor)) { // a run cannot withdraw a question under any other name
		return nil, g.app.ForPeople("answer")
	}
	return checkpoint.Resolve(ctx, g.store, g.options, g.id, answer, writeRules(g.app, g.options.Now))
}

// Unanswered lists the questions in the whole store that wait for a person, without escalated
// issues that ask nothing.
func (g *Answering) Unanswered() ([]orient.Asked, error) {
	left, err := pending(g.app, g.store, g.options.Now)
	return slices.DeleteFunc(left, func(q orient.Asked) bool { return q.Question == "" }), err
}

// NumberedIn returns what number n means among the questions of an issue: an option, if exactly
// one question waits and it has options; otherwise a question.
func NumberedIn(a *workspace.Run, id string, n int) (question string, option int, err error) {
	store, err := a.Discover()
	if err != nil {
		return "", 0, err
	}
	_, parts, _, err := partsOf(store, id)
	if err != nil {
		return "", 0, err
	}
	if waiting := signals.Questions(parts); len(waiting) == 1 && len(signals.ReadQuestion(waiting[0].Text).Options) > 0 {
		return "", n, nil
	}
	return strconv.Itoa(n), 0, nil
}

// Answered is the answers on one issue.
type Answered struct {
	ID      string   `json:"id"`
	State   string   `json:"state"`
	Left    int      `json:"left"`    // questions on the issue that are still waiting
	Answers []answer `json:"answers"` // those that came while waiting, or else the last
}

type answer struct {
	orient.Answer
	Questions []string `json:"questions"` // hashes of the questions that it answers
}

// Await waits for an answer for at most limit, or without limit if it is 0. question is a
// number or a hash; "" means any question.
func Await(ctx context.Context, a *workspace.Run, id, question string, limit time.Duration) (*Answered, error) {
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	changes, stop := store.Watch()
	defer stop()
	var timeUp <-chan time.Time
	if limit > 0 {
		timeUp = time.After(limit)
	}
	look := look{app: a, id: id, question: question, before: -1}
	for {
		found, err := look.at(store)
		if found != nil || err != nil {
			return found, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-timeUp:
			return nil, &fault.Error{Code: fault.Waits, ID: look.id, Reason: fmt.Sprintf("no answer within %s", limit),
				Hint: "the question is still open; type stig resolve --list to see it"}
		case <-look.gone:
			look.late = true
		case <-changes:
			settle(ctx)
		}
	}
}

// look is the state of polling for an answer.
type look struct {
	app      *workspace.Run
	id       string
	question string           // hash of the question when the waiting began; "" for any
	before   int              // number of answers when the waiting began; -1 before that
	gone     <-chan time.Time // fires when the issue or the store has been missing for too long
	late     bool             // gone has fired
	said     bool             // warned that the store is missing
}

// at looks once; it returns nil if there is no answer yet.
func (l *look) at(store beads.Store) (*Answered, error) {
	id, parts, deleted, err := partsOf(store, l.id)
	if err != nil {
		return nil, l.away(err)
	}
	if l.before < 0 {
		if err := l.begin(id, parts); err != nil {
			return nil, err
		}
	}
	l.id, l.gone, l.late, l.said = id, nil, false, false
	answers := answersSince(parts, l.before)
	if l.question != "" {
		answers = slices.DeleteFunc(answers, func(a answer) bool { return !slices.Contains(a.Questions, l.question) })
	}
	if len(answers) > 0 {
		return &Answered{ID: id, State: signals.Standing(parts), Left: len(signals.Questions(parts)), Answers: answers}, nil
	}
	if deleted {
		return nil, &fault.Error{Code: fault.Conflict, ID: id, Reason: "was deleted, so no answer will come", Hint: "type stig log " + id + " to see by whom"}
	}
	return nil, nil
}

// away handles a missing store or issue: it returns nil while it may come back.
func (l *look) away(err error) error {
	switch {
	case l.before < 0 || !passing(err) || l.late && (l.said || fault.Is(err, fault.NotFound)):
		return err
	case l.late:
		l.app.Warn("%s; waiting for it", err)
		l.gone, l.late, l.said = time.After(workspace.AwayFor), false, true
	case l.gone == nil:
		l.gone = time.After(workspace.GoneFor)
	}
	return nil
}

// begin begins to wait, for one question if one is named.
func (l *look) begin(id string, parts []signals.Part) (err error) {
	if l.question == "" {
		l.before, err = begin(id, parts)
		return err
	}
	open := signals.Questions(parts)
	hash, waits := signals.Choose(open, l.question)
	if !waits {
		for _, e := range signals.Exchanges(parts) {
			open = append(open, e.Question)
		}
		var known bool
		if hash, known = signals.Choose(open, l.question); !known {
			return &fault.Error{Code: fault.Usage, ID: id, Reason: fmt.Sprintf("no question %q was asked", l.question),
				Hint: "type stig resolve --list --all to see what was"}
		}
	}
	l.question, l.before = hash, 0
	if waits {
		l.before = len(answersSince(parts, 0))
	}
	return nil
}

// begin returns the number of answers to skip: all, or all but the last if no question waits.
func begin(id string, parts []signals.Part) (int, error) {
	answers := len(answersSince(parts, 0))
	if len(signals.Questions(parts)) > 0 {
		return answers, nil
	}
	if answers == 0 {
		return 0, &fault.Error{Code: fault.Conflict, ID: id, Reason: "no question was asked, so there is no answer to wait for",
			Hint: "type stig escalate " + id + " -m \"…\" to ask"}
	}
	return answers - 1, nil
}

// answersSince lists the answers after the first ones.
func answersSince(parts []signals.Part, first int) []answer {
	var list []answer
	exchanges := signals.Exchanges(parts)
	for i, p := range parts {
		if p.Kind.Asks() {
			continue
		}
		if first--; first >= 0 {
			continue
		}
		said := answer{Answer: *orient.NewAnswer(p), Questions: []string{}}
		for _, e := range exchanges {
			if e.Answer == &parts[i] {
				said.Questions = append(said.Questions, e.Question.Hash())
			}
		}
		list = append(list, said)
	}
	return list
}

// passing reports whether an error may be temporary: the store is missing or being written, or
// the issue is missing.
func passing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || fault.Is(err, fault.NotFound) || fault.Is(err, fault.Store) || fault.Is(err, fault.Changed)
}

// partsOf returns the full id of an issue, its questions and answers, and whether it was
// deleted.
func partsOf(store beads.Store, id string) (full string, parts []signals.Part, deleted bool, err error) {
	file, err := store.Snapshot()
	if err != nil {
		return "", nil, false, err
	}
	defer file.Close()
	issue, record, err := file.FindRecord(id)
	if err != nil {
		return "", nil, false, err
	}
	return issue.ID, signals.Escalations(notes.Parse(record.Text(beads.Notes))), issue.Status == beads.StatusTombstone, nil
}
