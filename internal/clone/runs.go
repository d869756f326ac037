package clone

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/internal/git"
	"stig/internal/process"
)

// Run is one start of a worker's command by its loop. What became of the issue is
// decided apart from it.
type Run struct {
	ID       string     `json:"id"` // unlike that of every other run
	Store    string     `json:"store"`
	Actor    string     `json:"actor"`
	Task     string     `json:"task"`            // what it was started for: issue, inbox, heartbeat, dream, swarm
	Issue    string     `json:"issue,omitempty"` // "" where it is about none
	Attempt  int        `json:"attempt,omitempty"`
	Loop     process.ID `json:"loop,omitzero"`    // the process that started it
	Program  process.ID `json:"program,omitzero"` // and that which it started
	Started  time.Time  `json:"started"`
	Ended    time.Time  `json:"ended,omitzero"` // zero while it runs, and where its loop was killed
	Exit     int        `json:"exit,omitempty"`
	Outcome  string     `json:"outcome,omitempty"` // an Outcome; "" while it runs
	Why      string     `json:"why,omitempty"`     // one line
	Bytes    int64      `json:"bytes,omitempty"`   // of output
	Cost     float64    `json:"cost,omitempty"`    // Price says how it is known
	Currency string     `json:"currency,omitempty"`
	Log      string     `json:"log,omitempty"` // path of the output
	Worktree string     `json:"worktree,omitempty"`
	Branch   string     `json:"branch,omitempty"` // the work is on
	Base     string     `json:"base,omitempty"`   // commit that the branch was begun at
	Commit   string     `json:"commit,omitempty"` // the last of the branch at the end

	// What the loop goes on from when it was killed.
	Step     string `json:"step,omitempty"`     // the last that was done: claimed, started, ended, landed
	Criteria string `json:"criteria,omitempty"` // hash of the criteria when it was claimed
	Tree     string `json:"tree,omitempty"`     // what its directory held before the command started
	Before   string `json:"before,omitempty"`   // the name under which is kept what its checks showed before the work; "" for none
	Notes    string `json:"notes,omitempty"`    // hash of its notes then
	Comments int    `json:"comments,omitempty"` // how many it had then
	TimedOut bool   `json:"timed_out,omitempty"`
	Cause    string `json:"cause,omitempty"` // why the loop ended the command: lost, stopped; "" where it ended by itself

	Heard bool   `json:"heard,omitempty"` // somebody said something on the issue before, which is acknowledged at its end
	Said  string `json:"said,omitempty"`  // the last line of the output, shortened
	Asked bool   `json:"asked,omitempty"` // the loop asked a person at its end: what was before counts no more
	Taken *Taken `json:"taken,omitempty"` // a person took the work as it is, and nothing was started; nil for none

	LeftOut []string `json:"left_out,omitempty"` // what is no part of its commit, each as "PATH (WHY)"
	// What it used.
	Price       Price              `json:"price,omitempty"`
	TokensIn    int64              `json:"tokens_in,omitempty"` // with those from a cache; 0 where the program does not say
	TokensOut   int64              `json:"tokens_out,omitempty"`
	UnreadPrice string             `json:"unread_price,omitempty"` // what it printed as a price, and is none
	Shared      []git.SharedChange `json:"shared,omitempty"`       // what changed outside of its work tree while its command ran
	Overlaps    []string           `json:"overlaps,omitempty"`     // runs that ran then too; only with Shared
	Items       []Waking           `json:"items,omitempty"`        // of the inbox, that it was started for without an issue
	Spared      bool               `json:"spared,omitempty"`       // of Asked: the question keeps no other worker from the issue
	Refused     string             `json:"refused,omitempty"`      // what refused its work, with the first line that it printed; "" where nothing did, or printed nothing
	Onto        string             `json:"onto,omitempty"`         // where the branch that results go to was when its work was refused
	Regated     bool               `json:"regated,omitempty"`      // nothing was started: the work of earlier runs was judged again
}

// Waking is an item of an inbox for which an idle loop started a run.
type Waking struct {
	Item   string `json:"item"`
	Thread string `json:"thread"` // that the item is part of
}

// Taken is the answer of a person that work of which nothing can be shown is done.
type Taken struct {
	By   string `json:"by"`
	Word string `json:"word"` // what they said, in one line
	Part string `json:"part"` // tells the answer from others on the issue
}

// Price is how the cost of a run is known.
type Price string

const (
	PriceUnknown Price = ""       // not at all, unless Cost is above 0: records of older versions hold what was said
	PricePartly  Price = "partly" // Cost is what a part of it cost
	PriceListed  Price = "listed" // the program named a list price, or its tokens were counted at cost.prices
	PriceSaid    Price = "said"   // in lines such as "stig: cost=0.42 USD"
)

// IsPriced reports whether the cost of a run is known. That of a run which started no
// program is: nothing.
func (r Run) IsPriced() bool {
	return r.Price == PriceSaid || r.Price == PriceListed || r.Price == PriceUnknown && (r.Cost > 0 || r.Program.PID == 0)
}

// IsRunning reports whether the loop or the program of a run is there, as far as can be seen.
func (r Run) IsRunning() bool {
	loop, _ := process.Running(r.Loop)
	program, _ := process.Running(r.Program)
	return loop || program
}

// Spent is what several runs cost together.
type Spent struct {
	Amounts  map[string]float64 // by currency
	IsListed bool               // some amounts are list prices
	Unknown  int                // ended runs whose cost is not known, or only partly
	Tokens   int64
}

// Add counts a run. What one that is not at its end cost is not known yet, and counts for nothing.
func (s *Spent) Add(r Run) {
	if s.Amounts == nil {
		s.Amounts = map[string]float64{}
	}
	if r.Cost > 0 {
		s.Amounts[r.Currency] += r.Cost
	}
	s.IsListed = s.IsListed || r.Cost > 0 && (r.Price == PriceListed || r.Price == PricePartly)
	s.Tokens += r.TokensIn + r.TokensOut
	if !r.IsPriced() && !r.Ended.IsZero() {
		s.Unknown++
	}
}

// Join adds what others spent.
func (s *Spent) Join(o Spent) {
	if s.Amounts == nil {
		s.Amounts = map[string]float64{}
	}
	for currency, amount := range o.Amounts {
		s.Amounts[currency] += amount
	}
	s.IsListed, s.Unknown, s.Tokens = s.IsListed || o.IsListed, s.Unknown+o.Unknown, s.Tokens+o.Tokens
}

// Sum adds the amounts as numbers, whatever their currency.
func (s Spent) Sum() (sum float64) {
	for _, currency := range slices.Sorted(maps.Keys(s.Amounts)) {
		sum += s.Amounts[currency]
	}
	return sum
}

// String says what was spent, as people read it: "≈0.42 USD, 31.4k tokens", "at least 0.40
// USD", "cost unknown"; "" where nothing ran.
func (s Spent) String() string {
	var parts []string
	for _, currency := range slices.Sorted(maps.Keys(s.Amounts)) {
		parts = append(parts, strings.TrimSpace(Amount(s.Amounts[currency])+" "+currency))
	}
	switch {
	case len(parts) > 0 && s.IsListed:
		parts[0] = "≈" + parts[0]
	case len(parts) == 0 && s.Unknown > 0:
		parts = append(parts, "cost unknown")
	}
	if len(s.Amounts) > 0 && s.Unknown > 0 {
		parts[0] = "at least " + parts[0]
	}
	if s.Tokens > 0 {
		parts = append(parts, Count(s.Tokens)+" tokens")
	}
	return strings.Join(parts, ", ")
}

// Amount is an amount of money with two decimals, or with two digits that are not 0 where it
// is less than a hundredth.
func Amount(amount float64) string {
	if amount > 0 && amount < 0.01 {
		return strings.TrimRight(fmt.Sprintf("%.6f", amount), "0")
	}
	return fmt.Sprintf("%.2f", amount)
}

// Count is a number of tokens in short: "812", "31.4k", "1.2M".
func Count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// mostShared is how many changes SharedText names in a line.
const mostShared = 8

// SharedText says of changes of Shared which are the run's by their signatures, and of which
// nobody can tell whose they are: a line each at most.
func (r Run) SharedText(list []git.SharedChange) (lines []string) {
	var own, others []string
	for _, c := range list {
		if c.By != "" {
			own = append(own, c.String())
		} else {
			others = append(others, c.String())
		}
	}
	add := func(head string, all []string) {
		if len(all) > mostShared {
			all = append(all[:mostShared:mostShared], fmt.Sprintf("and %d more", len(all)-mostShared))
		}
		if len(all) > 0 {
			lines = append(lines, head+strings.Join(all, "; "))
		}
	}
	add("changed by run "+r.ID+" outside of its work tree: ", own)
	head := "changed while run " + r.ID + " ran"
	if len(r.Overlaps) > 0 {
		head += ", as did " + strings.Join(r.Overlaps, ", ")
	}
	add(head+": ", others)
	return lines
}

// RecordRun puts a run into the records, at its start and again, with the same ID, at
// each step until its end; the last of them counts. It is on disk when this returns.
func (p Place) RecordRun(r Run, now time.Time) error {
	r.Store = p.Store
	return p.inDir(func(dir string) error { return runs.append(dir, r, now, true) })
}

// NewRunID names a run.
func NewRunID() string { return "r-" + newSeq()[:10] }

// Runs lists the runs of the store that started at that time or later, by their start;
// damaged names lines that cannot be read.
func (p Place) Runs(since time.Time) (all []Run, damaged []string, err error) {
	return new(RunLog).Runs(p, since)
}

// RunLog remembers the run records of a store, for a process that asks for them again and
// again: of files that are only added to it reads what was added. The zero value is empty.
// It is for one goroutine.
type RunLog struct {
	since   time.Time
	all     []Run
	at      map[string]int   // of an ID, its index in all
	known   map[string]int64 // of a file, how much was read of it, in bytes
	damaged []string
}

// Runs is Place.Runs.
func (l *RunLog) Runs(p Place, since time.Time) (list []Run, damaged []string, err error) {
	if l.known == nil || since.Before(l.since) {
		*l = RunLog{since: since, at: map[string]int{}, known: map[string]int64{}}
	}
	for _, dir := range p.dirs() {
		files, e := runs.segments(dir)
		err = errors.Join(err, e)
		for i, s := range files {
			if i+1 < len(files) && files[i+1].day.Before(since.Add(-runAge)) {
				continue // what began after the time is in later ones
			}
			if e := l.read(p.Store, filepath.Join(dir, s.name())); !errors.Is(e, os.ErrNotExist) { // dropped since it was listed
				err = errors.Join(err, e)
			}
		}
	}
	for _, r := range l.all {
		if !r.Started.Before(since) {
			list = append(list, r)
		}
	}
	if len(l.all) > 2*len(list)+mostOld {
		l.forget(list, since)
	}
	slices.SortStableFunc(list, func(a, b Run) int { return a.Started.Compare(b.Started) })
	return list, slices.Compact(slices.Clone(l.damaged)), err
}

// mostOld is how many runs from before the time that is asked for are remembered.
const mostOld = 1000

func (l *RunLog) forget(list []Run, since time.Time) {
	l.since, l.all = since, slices.Clone(list)
	clear(l.at)
	for i, r := range l.all {
		l.at[r.ID] = i
	}
}

// read takes what was added to a file.
func (l *RunLog) read(store, path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() < l.known[path] {
		delete(l.known, path) // it is another file
	}
	text, err := readTail(path, l.known[path])
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		whole := strings.HasSuffix(line, "\n") // else its writer is not done, or was ended
		if whole {
			l.known[path] += int64(len(line))
		}
		body, ok := textOf(strings.TrimSuffix(line, torn))
		var r Run
		if !ok || json.Unmarshal([]byte(body), &r) != nil {
			if whole && !strings.HasSuffix(line, torn) {
				l.damaged = append(l.damaged, path)
			}
			continue
		}
		if known, again := l.at[r.ID]; again {
			l.all[known] = r
		} else if r.Store == store && !r.Started.Before(l.since) {
			l.at[r.ID] = len(l.all)
			l.all = append(l.all, r)
		}
	}
	return nil
}

// runAge is how long a run may take, with room: its last record is in the segment of
// its end.
const runAge = 48 * time.Hour
