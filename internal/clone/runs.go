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

// Run is one start of a worker's command by its loop. What happens to the issue is decided
// separately.
type Run struct {
	ID       string     `json:"id"` // unique
	Store    string     `json:"store"`
	Actor    string     `json:"actor"`
	Task     string     `json:"task"`             // issue, best-of, inbox, heartbeat, dream, swarm
	Holder   string     `json:"holder,omitempty"` // of best-of: the actor that holds the claim
	Issue    string     `json:"issue,omitempty"`  // "" if it is about none
	Attempt  int        `json:"attempt,omitempty"`
	Loop     process.ID `json:"loop,omitzero"`    // the process that started it
	Program  process.ID `json:"program,omitzero"` // the process of the command
	Started  time.Time  `json:"started"`
	Ended    time.Time  `json:"ended,omitzero"` // zero while it runs, and if its loop was killed
	Exit     int        `json:"exit,omitempty"`
	Outcome  string     `json:"outcome,omitempty"` // an Outcome; "" while it runs
	Why      string     `json:"why,omitempty"`     // one line
	Bytes    int64      `json:"bytes,omitempty"`   // of output
	Cost     float64    `json:"cost,omitempty"`    // Price says how it is known
	Currency string     `json:"currency,omitempty"`
	Log      string     `json:"log,omitempty"` // path of the output
	Worktree string     `json:"worktree,omitempty"`
	Branch   string     `json:"branch,omitempty"` // with the work
	Base     string     `json:"base,omitempty"`   // commit at which the branch started
	Commit   string     `json:"commit,omitempty"` // last commit of the branch at the end

	// What the loop continues from after it was killed.
	Step     string `json:"step,omitempty"`     // the last completed step: claimed, started, ended, landed
	Criteria string `json:"criteria,omitempty"` // hash of the criteria at the claim
	Tree     string `json:"tree,omitempty"`     // content of its directory before the command started
	Before   string `json:"before,omitempty"`   // name of the stored results of its checks before the work; "" for none
	Notes    string `json:"notes,omitempty"`    // hash of the issue's notes at the claim
	Comments int    `json:"comments,omitempty"` // number of the issue's comments at the claim
	TimedOut bool   `json:"timed_out,omitempty"`
	Cause    string `json:"cause,omitempty"` // why the loop stopped the command: lost, stopped; "" if it ended by itself

	Heard bool   `json:"heard,omitempty"` // somebody commented on the issue before, which is acknowledged at the end
	Said  string `json:"said,omitempty"`  // the last line of the output, shortened
	Asked bool   `json:"asked,omitempty"` // the loop asked a person at its end: earlier attempts no longer count
	Taken *Taken `json:"taken,omitempty"` // a person accepted the work as it is, and nothing was started; nil for none

	LeftOut []string `json:"left_out,omitempty"` // what its commit does not include, each as "PATH (WHY)"
	// What it used.
	Price       Price              `json:"price,omitempty"`
	TokensIn    int64              `json:"tokens_in,omitempty"` // including cached tokens; 0 if the program does not report them
	TokensOut   int64              `json:"tokens_out,omitempty"`
	UnreadPrice string             `json:"unread_price,omitempty"` // output that looked like a price but could not be parsed
	Shared      []git.SharedChange `json:"shared,omitempty"`       // changes outside of its work tree while its command ran
	Overlaps    []string           `json:"overlaps,omitempty"`     // concurrent runs; only with Shared
	Items       []Waking           `json:"items,omitempty"`        // inbox items for which it was started without an issue
	Spared      bool               `json:"spared,omitempty"`       // with Asked: the question does not keep other workers from the issue
	Refused     string             `json:"refused,omitempty"`      // what refused its work, with the first line of output; "" if nothing did, or there was no output
	Onto        string             `json:"onto,omitempty"`         // tip of the results branch when its work was refused
	Regated     bool               `json:"regated,omitempty"`      // nothing was started: the work of earlier runs was judged again
}

// Waking is an inbox item for which an idle loop started a run.
type Waking struct {
	Item   string `json:"item"`
	Thread string `json:"thread"` // that the item is part of
}

// Taken is a person's answer that unproven work is done.
type Taken struct {
	By   string `json:"by"`
	Word string `json:"word"` // their words, in one line
	Part string `json:"part"` // identifies the answer among those on the issue

	Worker string `json:"worker,omitempty"` // whose work is accepted, of several workers; "" for the issue's only work
}

// Price says how the cost of a run is known.
type Price string

const (
	PriceUnknown Price = ""       // unknown, unless Cost is above 0: older versions recorded only stated costs
	PricePartly  Price = "partly" // Cost covers only a part
	PriceListed  Price = "listed" // the program stated a list price, or its tokens were priced by cost.prices
	PriceSaid    Price = "said"   // stated in lines such as "stig: cost=0.42 USD"
)

// IsPriced reports whether the cost of a run is known. A run that started no program cost
// nothing.
func (r Run) IsPriced() bool {
	return r.Price == PriceSaid || r.Price == PriceListed || r.Price == PriceUnknown && (r.Cost > 0 || r.Program.PID == 0)
}

// IsRunning reports whether the loop or the program of a run is running, as far as can be seen.
func (r Run) IsRunning() bool {
	loop, _ := process.Running(r.Loop)
	program, _ := process.Running(r.Program)
	return loop || program
}

// Spent is the total cost of several runs.
type Spent struct {
	Amounts  map[string]float64 // by currency
	IsListed bool               // some amounts are list prices
	Unknown  int                // ended runs whose cost is unknown or only partly known
	Tokens   int64
}

// Add adds a run. The unknown cost of a run that has not ended is not counted as unknown.
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

// Join adds another total.
func (s *Spent) Join(o Spent) {
	if s.Amounts == nil {
		s.Amounts = map[string]float64{}
	}
	for currency, amount := range o.Amounts {
		s.Amounts[currency] += amount
	}
	s.IsListed, s.Unknown, s.Tokens = s.IsListed || o.IsListed, s.Unknown+o.Unknown, s.Tokens+o.Tokens
}

// Sum returns the sum of the amounts, ignoring their currencies.
func (s Spent) Sum() (sum float64) {
	for _, currency := range slices.Sorted(maps.Keys(s.Amounts)) {
		sum += s.Amounts[currency]
	}
	return sum
}

// String returns the total for people: "≈0.42 USD, 31.4k tokens", "at least 0.40 USD", "cost
// unknown"; "" if nothing ran.
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

// Amount formats an amount of money with two decimals, or with its first significant digits
// below a hundredth.
func Amount(amount float64) string {
	if amount > 0 && amount < 0.01 {
		return strings.TrimRight(fmt.Sprintf("%.6f", amount), "0")
	}
	return fmt.Sprintf("%.2f", amount)
}

// Count formats a number of tokens: "812", "31.4k", "1.2M".
func Count(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// mostShared limits the changes in a line of SharedText.
const mostShared = 8

// SharedText returns at most two lines about changes outside of the work tree: those made by
// the run, according to their signatures, and those whose author is unknown.
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

// RecordRun writes a run's record, at its start and again with the same ID at each step until
// its end; the last record counts. It is on disk when RecordRun returns.
func (p Place) RecordRun(r Run, now time.Time) error {
	r.Store = p.Store
	return p.inDir(func(dir string) error { return runs.append(dir, r, now, true) })
}

// NewRunID returns a new id for a run.
func NewRunID() string { return "r-" + newSeq()[:10] }

// Runs returns the runs of the store that started at or after a time, by start; damaged names
// lines that cannot be read.
func (p Place) Runs(since time.Time) (all []Run, damaged []string, err error) {
	return new(RunLog).Runs(p, since)
}

// RunLog caches the run records of a store for repeated reads: it reads only what was appended.
// The zero value is empty. It is not safe for concurrent use.
type RunLog struct {
	since   time.Time
	all     []Run
	at      map[string]int   // index in all, by ID
	known   map[string]int64 // bytes read, by file
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
				continue // later segments have runs that started after since
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

// mostOld limits the cached runs from before since.
const mostOld = 1000

func (l *RunLog) forget(list []Run, since time.Time) {
	l.since, l.all = since, slices.Clone(list)
	clear(l.at)
	for i, r := range l.all {
		l.at[r.ID] = i
	}
}

// read reads what was appended to a file.
func (l *RunLog) read(store, path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() < l.known[path] {
		delete(l.known, path) // the file was replaced
	}
	text, err := readTail(path, l.known[path])
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		whole := strings.HasSuffix(line, "\n") // else its writer is not done, or was killed
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

// runAge is the maximum duration of a run, generously: its last record is in the segment of its
// end.
const runAge = 48 * time.Hour
