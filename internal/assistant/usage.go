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

// Tokens are those that a model read and wrote. In includes those read from a cache.
type Tokens struct{ In, Out int64 }

func (t Tokens) add(o Tokens) Tokens { return Tokens{t.In + o.In, t.Out + o.Out} }

// Usage is what the sessions of programs used, according to their output.
type Usage struct {
	Said     float64 // sum of lines such as "stig: cost=0.42 USD"
	Currency string  // of Said; "" if no line names one
	IsSaid   bool    // there are such lines

	Program  Host              // of the last session; "" if its output is of no known program
	Cost     float64           // US dollars, of the sessions that report a price: a list price
	IsPriced bool              // there are sessions, and all of them report a price
	Tokens   Tokens            // of all sessions
	Unpriced map[string]Tokens // tokens without a price, by model; "" for an unknown model
	Last     string            // the last event in readable form; "" if there is none
	Unread   string            // an invalid price; "" if there is none
}

// Meter reads the output of a program as it arrives and finds what its sessions used. The table
// formats says which programs it recognizes, whatever the command line was.
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

// session is what one session used up to the last price that it reported, and since.
type session struct {
	price  *float64 // US dollars; nil if none was reported
	before Tokens   // covered by the price
	since  map[string]modelTokens
	steps  map[string]bool // already counted, since some are printed twice
}

type modelTokens struct {
	model string
	Tokens
}

// NewMeter returns a meter that has read nothing.
func NewMeter() *Meter {
	m := &Meter{sessions: map[string]*session{}}
	m.take, m.told = m.read, m.readTold
	return m
}

// readTold parses a cost that is addressed to stig; it returns false for any other line.
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
	mostUnread   = 40 // maximum quoted of an invalid price, in bytes
)

// Usage ends the output and returns what was used.
func (m *Meter) Usage() Usage {
	m.end()
	u := Usage{Said: m.said, Currency: m.currency, IsSaid: m.isSaid, Program: m.program, Last: m.last, IsPriced: len(m.sessions) > 0, Unpriced: map[string]Tokens{}, Unread: m.unread}
	for _, name := range slices.Sorted(maps.Keys(m.sessions)) { // sorted, so that equal numbers have equal sums
		s := m.sessions[name]
		used := s.before
		isFree := s.price != nil && *s.price == 0 && s.all() != Tokens{} // tokens are never free: the price is unknown
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

// formats lists the programs whose output is known, each with the function that reads an event;
// it returns false if the event says nothing about usage. No output of Copilot CLI was
// observed.
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

// readClaude reads a message, which counts until the session has a result, and a result, whose
// price and tokens are those of the whole session.
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

// readOpenCode reads the end of a step, with the price and tokens of that step only.
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

// readGemini reads the usage at the end of a session.
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

// count records tokens under a name. If a name repeats, the maximum counts, since programs
// print growing numbers.
func (s *session) count(name, model string, t Tokens) {
	was := s.since[name]
	s.since[name] = modelTokens{model, Tokens{max(was.In, t.In), max(was.Out, t.Out)}}
}

// price parses the value of a key; it returns false if the value is missing or invalid.
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

// ParsePrice parses an amount; it returns false unless the amount is a number from 0 to less
// than a billion.
func ParsePrice(text string) (float64, bool) {
	price, err := strconv.ParseFloat(text, 64)
	return price, err == nil && price >= 0 && price < 1e9
}
