package assistant

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Tokens are those that a model read and wrote, what it read from a cache among them.
type Tokens struct{ In, Out int64 }

func (t Tokens) add(o Tokens) Tokens { return Tokens{t.In + o.In, t.Out + o.Out} }

// Usage is what sessions of programs used, as their output says.
type Usage struct {
	Said     float64 // the sum of lines such as "stig: cost=0.42 USD"
	Currency string  // of Said; "" where no line names one
	IsSaid   bool    // there are such lines

	Program  Host              // of the last session; "" where none is known by its output
	Cost     float64           // US dollars, of the sessions that name a price: a list price
	IsPriced bool              // there are sessions, and all of them name a price
	Tokens   Tokens            // of all sessions
	Unpriced map[string]Tokens // by model, of those without a price; "" for an unknown model
	Last     string            // what the last event says to people; "" where none is known
	Unread   string            // what stands in the place of a price and is none; "" for nothing
}

// Meter reads the output of a program as it comes, and finds what its sessions used. The
// table formats says which programs it knows, whatever the command line was.
type Meter struct {
	objects
	sessions map[string]*session
	thread   string // of Codex, whose later lines do not name it
	program  Host
	last     string
	unread   string

	said     float64
	currency string
	isSaid   bool
}

// session is one of a program: what it used until it last named a price, and since.
type session struct {
	price  *float64 // US dollars; nil for none
	before Tokens   // that the price is for
	since  map[string]modelTokens
	steps  map[string]bool // that were read, since some are said twice
}

type modelTokens struct {
	model string
	Tokens
}

// NewMeter gives a meter that has read nothing.
func NewMeter() *Meter {
	m := &Meter{sessions: map[string]*session{}}
	m.take, m.told = m.read, m.readTold
	return m
}

// readTold reads a cost that is said to stig.
func (m *Meter) readTold(line string) bool {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "cost=")
	if !ok {
		return false
	}
	amount, currency, _ := strings.Cut(text, " ")
	currency = strings.TrimSpace(currency)
	price, ok := ParsePrice(amount)
	if !ok || len(currency) > mostCurrency || strings.ContainsFunc(currency, unicode.IsSpace) {
		m.unread = "stig: cost=" + text[:min(len(text), mostUnread)]
		return true
	}
	m.said, m.isSaid, m.currency = m.said+price, true, cmp.Or(currency, m.currency)
	return true
}

const (
	mostCurrency = 8  // bytes
	mostUnread   = 40 // bytes that are said of what is no price
)

// Usage ends the output, and says what was used.
func (m *Meter) Usage() Usage {
	m.end()
	u := Usage{Said: m.said, Currency: m.currency, IsSaid: m.isSaid, Program: m.program, Last: m.last, IsPriced: len(m.sessions) > 0, Unpriced: map[string]Tokens{}, Unread: m.unread}
	for _, name := range slices.Sorted(maps.Keys(m.sessions)) { // sums of the same numbers are the same
		s := m.sessions[name]
		used := s.before
		isFree := s.price != nil && *s.price == 0 && s.all() != Tokens{} // nobody gives tokens away: the price is not known
		if s.price != nil && !isFree {
			u.Cost += *s.price
		}
		for _, t := range s.since {
			used = used.add(t.Tokens)
			u.Unpriced[t.model] = u.Unpriced[t.model].add(t.Tokens)
		}
		if isFree && s.before != (Tokens{}) {
			u.Unpriced[""] = u.Unpriced[""].add(s.before)
		}
		u.IsPriced = u.IsPriced && s.price != nil && !isFree && len(s.since) == 0
		u.Tokens = u.Tokens.add(used)
	}
	return u
}

func (s *session) all() (t Tokens) {
	t = s.before
	for _, one := range s.since {
		t = t.add(one.Tokens)
	}
	return t
}

func (m *Meter) session(name string) *session {
	if m.sessions[name] == nil {
		m.sessions[name] = &session{since: map[string]modelTokens{}, steps: map[string]bool{}}
	}
	return m.sessions[name]
}

// formats are those whose output is known, each with what reads an event of it; false for
// one that says nothing of what was used. Copilot CLI prints no line that was seen.
var formats = []struct {
	program Host
	read    func(*Meter, event) bool
}{
	{Claude, (*Meter).readClaude},
	{Codex, (*Meter).readCodex},
	{OpenCode, (*Meter).readOpenCode},
	{Gemini, (*Meter).readGemini},
}

func (m *Meter) read(text []byte) {
	e, ok := eventOf(text)
	if !ok {
		return
	}
	if said, known := e.readable(); known && said != "" {
		m.last = said
	}
	for _, f := range formats {
		if f.read(m, e) {
			m.program = f.program
			return
		}
	}
}

// readClaude reads a message, which counts until the session has its result, and a result,
// whose price and tokens are those of the whole session.
func (m *Meter) readClaude(e event) bool {
	var said message
	if e.Type == "assistant" && json.Unmarshal(e.Message, &said) == nil && said.Usage != nil {
		u := said.Usage
		m.session(e.Session).count(said.ID, said.Model, Tokens{u.In + u.Read + u.Create, u.Out})
		return true
	}
	if e.TotalCost == nil && (e.Type != "result" || len(e.ModelUsage) == 0) {
		return false
	}
	s := m.session(e.Session)
	var all Tokens
	for _, u := range e.ModelUsage {
		all = all.add(Tokens{u.In + u.Read + u.Create, u.Out})
	}
	if u := e.Usage; u != nil && len(e.ModelUsage) == 0 {
		all = Tokens{u.In + u.Read + u.Create, u.Out}
	}
	if price, ok := m.price("total_cost_usd", e.TotalCost); ok {
		s.price, s.before = &price, cmp.Or(all, s.all())
		clear(s.since)
	}
	return true
}

// readCodex reads the end of a turn, whose usage is that of the whole thread.
func (m *Meter) readCodex(e event) bool {
	switch {
	case e.Type == "thread.started":
		m.thread = e.Thread
	case e.Type == "turn.completed" && e.Usage != nil:
		m.session("codex "+m.thread).count("", "", Tokens{e.Usage.In, e.Usage.Out})
	default:
		return false
	}
	return true
}

// readOpenCode reads the end of a step, with the price and the tokens of that step alone.
func (m *Meter) readOpenCode(e event) bool {
	p := e.Part
	if e.Type != "step_finish" || p == nil {
		return false
	}
	s := m.session("opencode " + p.Session)
	if s.steps[p.ID] && p.ID != "" {
		return true
	}
	s.steps[p.ID] = true
	if t := p.Tokens; t != nil {
		s.before = s.before.add(Tokens{t.In + t.Cache.Read + t.Cache.Write, t.Out + t.Reasoning})
	}
	if price, ok := m.price("cost", p.Cost); ok {
		if s.price != nil {
			price += *s.price
		}
		s.price = &price
	}
	return true
}

// readGemini reads what a session used, at its end.
func (m *Meter) readGemini(e event) bool {
	if e.Stats == nil || e.Stats.In == 0 && e.Stats.Out == 0 && len(e.Stats.Models) == 0 {
		return false
	}
	s := m.session("gemini " + e.Session)
	for model, u := range e.Stats.Models {
		t := Tokens{u.In, u.Out}
		if u.Tokens != nil {
			t = Tokens{u.Tokens.Prompt + u.Tokens.Tool, u.Tokens.Candidates + u.Tokens.Thoughts}
		}
		s.count(model, model, t)
	}
	if len(e.Stats.Models) == 0 {
		s.count("", "", Tokens{e.Stats.In, e.Stats.Out})
	}
	return true
}

// count takes tokens under a name; of several under one name the most count, since they are
// said again while they grow.
func (s *session) count(name, model string, t Tokens) {
	was := s.since[name]
	s.since[name] = modelTokens{model, Tokens{max(was.In, t.In), max(was.Out, t.Out)}}
}

// price reads the value of a key; false for none, and for what is no price.
func (m *Meter) price(key string, text json.RawMessage) (float64, bool) {
	if text == nil || bytes.Equal(text, []byte("null")) {
		return 0, false
	}
	price, ok := ParsePrice(string(text))
	if !ok {
		m.unread = key + ": " + string(text[:min(len(text), mostUnread)])
	}
	return price, ok
}

// ParsePrice reads an amount; false for what is none, is negative, or is a billion and more.
func ParsePrice(text string) (float64, bool) {
	price, err := strconv.ParseFloat(text, 64)
	return price, err == nil && price >= 0 && price < 1e9
}
