package traces

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/merge"
	"stig/internal/trace"
	"stig/notes"
	"stig/signals"
)

// The kinds of events.
const (
	EventCreated    = "created"
	EventEdited     = "edited"
	EventClaimed    = "claimed"
	EventReleased   = "released"
	EventReady      = "ready"   // it became ready to start
	EventBlocked    = "blocked" // it is blocked now and was not before
	EventSignal     = "signal"
	EventCheckpoint = "checkpoint"
	EventEscalated  = "escalated"
	EventAnswered   = "answered"
	EventLeft       = "trace"
	EventClosed     = "closed"
	EventReopened   = "reopened"
	EventDependency = "dependency"
	EventVanished   = "vanished"
	EventSwitched   = "switched" // more than 50 issues changed at once
)

// EventNames returns the names of all events.
func EventNames() []string {
	return []string{EventCreated, EventEdited, EventClaimed, EventReleased, EventReady, EventBlocked, EventSignal, EventCheckpoint, EventEscalated, EventAnswered, EventLeft, EventClosed, EventReopened, EventDependency, EventVanished, EventSwitched}
}

// Event is one thing that happened. By is "" if the store does not say who did it.
type Event struct {
	Event string    `json:"event"`
	ID    string    `json:"id"` // of the issue; "" for a switch
	By    string    `json:"by"`
	At    time.Time `json:"at"`
	Title string    `json:"title,omitempty"`

	Trace   string   `json:"trace,omitempty"`   // name of a trace
	Type    string   `json:"type,omitempty"`    // of a trace, or of a dependency
	Summary string   `json:"summary,omitempty"` // of a trace, or the question, the answer, the close reason
	To      []string `json:"to,omitempty"`      // addressees of a trace
	Needs   []string `json:"needs,omitempty"`   // the roles that a request for help needs
	Signal  string   `json:"signal,omitempty"`
	Was     string   `json:"was,omitempty"` // previous value of a signal, or holder of a claim
	Now     string   `json:"now,omitempty"`
	On      string   `json:"on,omitempty"`     // the issue depended on
	Gone    string   `json:"gone,omitempty"`   // what vanished: issue, section, signal or comment
	Fields  []string `json:"fields,omitempty"` // the edited fields

	Issues   int            `json:"issues,omitempty"` // of a switch
	Counts   map[string]int `json:"counts,omitempty"` // of a switch: number of each event
	InSwitch bool           `json:"-"`                // covered by a switch event
}

// about is what the events of one edit have in common.
type about struct {
	id, by string
	at     time.Time
}

func (a about) event(name string) Event { return Event{Event: name, ID: a.id, By: a.by, At: a.at} }

// eventsOf returns the events of an edit of one issue, in the order of EventNames.
func eventsOf(a about, edits []merge.Edit) []Event {
	t := teller{about: a}
	for _, e := range edits {
		t.tell(e)
	}
	t.standing()
	if len(t.fields) > 0 {
		e := a.event(EventEdited)
		e.Fields = t.fields
		t.events = append(t.events, e)
	}
	order := EventNames()
	slices.SortStableFunc(t.events, func(x, y Event) int { return slices.Index(order, x.Event) - slices.Index(order, y.Event) })
	return t.events
}

// teller turns edits into events.
type teller struct {
	about
	events           []Event
	fields           []string
	status, assignee *merge.Edit
	reason           string
}

func (t *teller) add(name string, fill func(*Event)) {
	e := t.event(name)
	fill(&e)
	t.events = append(t.events, e)
}

func (t *teller) tell(e merge.Edit) {
	switch e.Kind {
	case merge.KindIssue:
		t.issue(e)
	case merge.Key:
		t.key(e)
	case merge.Signal:
		t.signal(e)
	case merge.Section:
		t.section(e)
	case merge.Comment:
		t.comment(e)
	case merge.Edge:
		t.edge(e)
	default: // labels, criteria, notes outside of sections
		t.field(string(e.Kind))
	}
}

func (t *teller) field(name string) {
	if !slices.Contains(t.fields, name) {
		t.fields = append(t.fields, name)
	}
}

func (t *teller) issue(e merge.Edit) {
	if e.Now == "" {
		t.add(EventVanished, func(v *Event) { v.Gone, v.Title = "issue", titleIn(e.Was) })
		return
	}
	t.add(EventCreated, func(v *Event) { v.Title = titleIn(e.Now) })
	r, err := beads.ParseRecord([]byte(e.Now))
	if err != nil {
		return
	}
	for _, l := range trace.Of(r) {
		t.left(l)
	}
}

func titleIn(line string) string {
	r, err := beads.ParseRecord([]byte(line))
	if err != nil {
		return ""
	}
	return r.Text(beads.Title)
}

func (t *teller) key(e merge.Edit) {
	switch beads.Key(e.Name) {
	case beads.Status:
		t.status = &e
	case beads.Assignee:
		t.assignee = &e
	case beads.CloseReason:
		t.reason = textIn(e.Now)
	case "closed_at", "closed_by_session", "close_outcome", "started_at":
		// these change together with the status
	default:
		t.field(e.Name)
	}
}

// textIn returns the text of a JSON string; "" if raw is not one.
func textIn(raw string) (text string) {
	_ = json.Unmarshal([]byte(raw), &text) // "" on error
	return text
}

// standing adds the event for a change of status and assignee, which belong together.
func (t *teller) standing() {
	var was, now, held, holds string
	if t.status != nil {
		was, now = textIn(t.status.Was), textIn(t.status.Now)
	}
	if t.assignee != nil {
		held, holds = textIn(t.assignee.Was), textIn(t.assignee.Now)
	}
	switch {
	case t.status != nil && now == beads.StatusClosed:
		t.add(EventClosed, func(e *Event) { e.Summary = t.reason })
	case t.status != nil && now == beads.StatusTombstone:
		t.add(EventVanished, func(e *Event) { e.Gone = "issue" })
	case t.status != nil && was == beads.StatusClosed:
		t.add(EventReopened, func(*Event) {})
	case t.status != nil && now == beads.StatusInProgress:
		t.add(EventClaimed, func(e *Event) { e.Was, e.Now = held, holds })
	case t.status != nil && was == beads.StatusInProgress:
		t.add(EventReleased, func(e *Event) { e.Was, e.Now = held, holds })
	case t.status != nil:
		t.field("status")
	}
	if t.assignee != nil && t.status == nil {
		t.field("assignee")
	}
	if t.reason != "" && (t.status == nil || now != beads.StatusClosed) {
		t.field("close_reason")
	}
}

func (t *teller) signal(e merge.Edit) {
	was, _ := merge.CutSignal(e.Was)
	now, _ := merge.CutSignal(e.Now)
	if s, known := signals.Named(e.Name); known && e.Was == "" {
		was = s.Default() // a new row with the default value is not news
	}
	switch {
	case e.Now == "":
		t.add(EventVanished, func(v *Event) { v.Gone, v.Signal, v.Was = "signal", e.Name, was })
	case was != now:
		t.add(EventSignal, func(v *Event) { v.Signal, v.Was, v.Now = e.Name, was, now })
	}
}

func (t *teller) section(e merge.Edit) {
	switch {
	case e.Name == signals.EscalationSection:
		t.questions(e)
		if e.Now == "" {
			t.add(EventVanished, func(v *Event) { v.Gone = "section " + e.Name })
		}
	case e.Now == "":
		t.add(EventVanished, func(v *Event) { v.Gone = "section " + e.Name })
	case e.Name == signals.EstimateSection:
		t.add(EventCheckpoint, func(*Event) {})
	default:
		t.field("section " + e.Name)
	}
}

// questions adds events for new questions and answers. When one of several questions is
// answered, the waiting ones are written again; these were reported before.
func (t *teller) questions(e merge.Edit) {
	had := partsIn(e.Was)
	for _, p := range partsIn(e.Now) {
		if i := slices.Index(had, p); i >= 0 {
			had = slices.Delete(had, i, i+1)
			continue
		}
		if p.Again() {
			continue
		}
		name := EventAnswered
		if p.Kind.Asks() {
			name = EventEscalated
		}
		t.add(name, func(v *Event) {
			first, _, _ := strings.Cut(p.Text, "\n")
			v.Summary = first
			v.By = cmp.Or(v.By, p.By)
		})
	}
}

func partsIn(body string) []signals.Part {
	if body == "" {
		return nil
	}
	doc, err := notes.Parse("").Replace(signals.EscalationSection, strings.Trim(body, "\r\n"))
	if err != nil {
		return nil // the body contains delimiters, so nothing reads it
	}
	return signals.Escalations(doc)
}

func (t *teller) comment(e merge.Edit) {
	if e.Now == "" {
		t.add(EventVanished, func(v *Event) { v.Gone = "comment" })
		return
	}
	r, err := beads.ParseRecord([]byte(`{"id":"","comments":[` + e.Now + `]}`))
	if err != nil {
		return
	}
	for _, l := range trace.Of(r) {
		t.left(l)
	}
}

func (t *teller) left(l trace.Entry) {
	t.add(EventLeft, func(v *Event) {
		v.Trace, v.Type, v.Summary, v.To, v.Needs = l.Name, l.Type, l.Summary, l.Values("to"), l.Values("needs")
		if !l.IsTrace() {
			v.Summary, _, _ = strings.Cut(l.Body, "\n")
		}
		if l.Source != "" {
			v.By = l.Source
		}
	})
}

func (t *teller) edge(e merge.Edit) {
	on, kind, _ := strings.Cut(e.Name, " ")
	t.add(EventDependency, func(v *Event) {
		v.On, v.Type, v.Now = on, kind, "added"
		if e.Now == "" {
			v.Now = "removed"
		}
	})
}
