package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/service/night"
	"stig/internal/visible"
)

// today is the first page: what waits for the viewer, what runs, and what was done since they
// last looked.
func today(v *view) (page, error) {
	p := page{Title: "Today", Section: "Today", Every: recheck}
	v.ahead(
		func(v *view) { _, _ = v.standings() }, // errors are handled below
		func(v *view) { _, _ = v.closings() },
	)
	found := day{stats: map[string]git.Stat{}}
	for _, read := range []func(*view, *day) error{(*view).readNight, (*view).readWaits, (*view).readRunning, (*view).readClosed} {
		if err := read(v, &found); err != nil {
			return p, err
		}
	}
	var err error
	if found.Counts, err = v.counts(); err != nil {
		return p, err
	}
	p.Waiting = found.Cards()
	p.Parts = []part{v.top("summary", found), v.part("waits", found)}
	if v.Board.options.All {
		others, err := v.others()
		if err != nil {
			return p, err
		}
		p.Waiting += len(others.Waits)
		p.Parts = append(p.Parts, v.part("others", others))
	}
	p.Parts = append(p.Parts, v.part("running", found), v.part("reviews", found.Reviews), v.side("closings", found), v.side("loops", found))
	return p, nil
}

// day is what Today shows.
type day struct {
	Since       time.Time // when the viewer last looked, if Marked; else recent ago
	Marked      bool
	Counts      counts
	Questions   questions
	Answers     []clone.FreshAnswer // which may be undone
	Landings    landings
	Reviews     reviews
	Running     []running
	Loops       []loopRow
	Closed      []closing
	MoreClosed  int
	MoreRunning int
	Working     int // issues in progress with a run here
	Claimed     int // issues in progress without one
	Failed      []failure
	MoreFailed  int
	Cost        string // since Since; "" if no run ended

	stats map[string]git.Stat // of closed issues
}

// Limits of the lists on Today.
const (
	mostQuestions = 20
	mostLandings  = 5
	mostFailures  = 12
	mostRunning   = 50
	mostClosings  = 12
)

// counts is the issues by where they stand. Each number is that of a list on the board.
type counts struct{ Ready, Waits, Blocked int }

func (v *view) counts() (c counts, err error) {
	all, err := v.standings()
	if err != nil {
		return c, err
	}
	for _, s := range all.Of {
		switch s.Column {
		case columnReady:
			c.Ready++
		case columnWaits:
			if s.Tone == "you" {
				c.Waits++
			} else {
				c.Blocked++
			}
		}
	}
	return c, nil
}

// readNight reads what loops did, which takes git and may come later.
func (v *view) readNight(d *day) error {
	place, err := v.LivePlace()
	if err != nil {
		return err
	}
	d.Since = place.LastMorning()
	if d.Marked = !d.Since.After(v.now) && v.now.Sub(d.Since) <= recent; !d.Marked {
		d.Since = v.now.Add(-recent)
	}
	last, err := looked(v, searchMorning, 2*shortly, false, func(v *view) (*night.Morning, error) {
		return night.ReadMorning(v.ctx, v.Run, d.Since.UTC().Format(time.RFC3339))
	})
	if last.Value != nil {
		d.Cost = last.Value.Cost.Text
		for _, one := range last.Value.Done {
			d.stats[one.ID] = one.Stat
		}
	}
	return err
}

// others returns what waits in other projects. It may come later.
func (v *view) others() (night.Everywhere, error) {
	last, err := looked(v, "others", 2*shortly, false, func(v *view) (*night.Everywhere, error) {
		return night.ReadEverywhere(v.ctx, v.Run, "")
	})
	if last.Value == nil {
		return night.Everywhere{}, err
	}
	return last.Value.Others(), err
}

// searchMorning is the name of the search for what loops did.
const searchMorning = "morning"

// Failures returns how many issues failed since the viewer last looked.
func (d day) Failures() int { return len(d.Failed) + d.MoreFailed }

// Cards returns how many decisions wait for the viewer.
func (d day) Cards() int { return d.Questions.Total + d.Failures() + d.Landings.Total }

// Waiting counts the decisions by kind.
func (d day) Waiting() string {
	var words []string
	if n := d.Questions.Total; n > 0 {
		words = append(words, visible.Counted(n, "question"))
	}
	if n := d.Failures(); n > 0 {
		words = append(words, fmt.Sprintf("%d failed", n))
	}
	if n := d.Landings.Total; n > 0 {
		words = append(words, fmt.Sprintf("%d to land", n))
	}
	return strings.Join(words, ", ")
}

// readWaits reads what waits for the viewer: questions, their fresh answers, work to land.
func (v *view) readWaits(d *day) error {
	asked, err := v.asked()
	if err != nil {
		return err
	}
	if d.Questions, err = v.questions(asked.Pending); err != nil {
		return err
	}
	if d.Answers, err = service.FreshAnswers(v.Run); err != nil {
		return err
	}
	if err := v.readFailures(d, asked.Pending); err != nil {
		return err
	}
	if d.Reviews, err = v.reviews(); err == nil {
		d.Landings, err = v.landings()
	}
	return err
}

// asked returns the questions of the store, answered ones included.
func (v *view) asked() (*service.Escalations, error) {
	return kept(v, "asked", longer, func(v *view) (*service.Escalations, error) { return service.ListEscalations(v.Run, true) })
}

// closing is a closed issue with its proof.
type closing struct {
	ID, Title, By, Reason string
	At                    time.Time
	Proof                 string
	Took                  time.Duration // of its runs
	Cost                  string        // of its runs
	Stat                  git.Stat      // of its work; zero while it is not known
}

// Shown reports whether checks passed.
func (c closing) Shown() bool { _, is := gate.ParseResults(c.Reason); return is }

// proofOf returns, in short, the proof in a close reason.
func proofOf(reason string) string {
	found, ok := gate.ParseResults(reason)
	if _, waived := gate.ParseWaived(reason); waived || !ok {
		return night.ProofIn(reason)
	}
	text := fmt.Sprintf("%d of %s", found.Passed, visible.Counted(found.All, "check"))
	if difference := gate.DifferenceIn(reason); difference != "" {
		text += ", " + difference
	}
	return text
}

// readClosed reads the issues closed since the viewer last looked, newest first, without those
// to land.
func (v *view) readClosed(d *day) error {
	all, err := v.closings()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(slices.Clone(all), func(c closing) bool {
		return c.At.Before(d.Since.Truncate(time.Second)) || d.Landings.only(c.ID).Total > 0
	})
	d.MoreClosed = max(0, len(all)-mostClosings)
	d.Closed = all[:len(all)-d.MoreClosed]
	work, err := v.workOf()
	for i := range d.Closed {
		one := &d.Closed[i]
		did := work[one.ID]
		one.By, one.Took, one.Cost = cmp.Or(did.by, one.By), did.took, costText(did.spent)
		one.Stat = d.stats[one.ID]
	}
	return err
}

// Total returns how many issues were closed since the viewer last looked.
func (d day) Total() int { return len(d.Closed) + d.MoreClosed }

// recent is for how long closed issues are remembered.
const recent = 7 * 24 * time.Hour

// closings returns the issues closed within recent, newest first.
func (v *view) closings() ([]closing, error) {
	return kept(v, "closings", longer, func(v *view) (list []closing, err error) {
		file, err := v.Open()
		if err != nil {
			return nil, err
		}
		defer file.Close()
		reader := file.Reader()
		for i, is := range file.All() {
			if at, ok := file.Index(is.ID); is.Status != beads.StatusClosed || !ok || at != i {
				continue
			}
			one, err := v.closingOf(reader, is)
			if err != nil {
				return nil, err
			}
			if v.now.Sub(one.At) <= recent {
				list = append(list, one)
			}
		}
		slices.SortStableFunc(list, func(a, b closing) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.ID, b.ID)) })
		return list, nil
	})
}

// closedAs is the key of closingOf's memo.
type closedAs struct{}

// closingOf returns how an issue was closed; with the zero time if the store does not say, and
// without texts if it was long ago.
func (v *view) closingOf(reader *beads.Reader, is *beads.Issue) (closing, error) {
	if known, ok := is.Remembered(closedAs{}).(closing); ok {
		return known, nil
	}
	record, err := reader.Record(is)
	if err != nil {
		return closing{}, err
	}
	one := closing{ID: is.ID}
	one.At, _ = time.Parse(time.RFC3339Nano, record.Text(beads.ClosedAt)) // zero if missing or malformed
	if v.now.Sub(one.At) <= recent {
		one.Title, one.By, one.Reason = is.Title, is.Assignee, record.Text(beads.CloseReason)
		one.Proof = proofOf(one.Reason)
	}
	is.Remember(closedAs{}, one)
	return one, nil
}
