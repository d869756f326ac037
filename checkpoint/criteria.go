package checkpoint

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
)

// Edited is how the criteria of an issue differ from those that are committed:
// whoever reads that they pass has to know that they were not always these.
type Edited struct {
	Was  int      `json:"was"`  // commands that would run, as committed
	Is   int      `json:"is"`   // as they are now
	Gone []string `json:"gone"` // the commands that were among them and are no more
}

func (e *Edited) String() string {
	what := "commands"
	if e.Was == 1 {
		what = "command"
	}
	return fmt.Sprintf("criteria edited since HEAD: %d %s → %d", e.Was, what, e.Is)
}

// EditedSince compares the criteria of an issue with those in the store as
// HEAD has it; path is that of git.Client.FileAt. nil tells that they are the
// same, or that HEAD has no such store or no such issue.
func EditedSince(ctx context.Context, repo git.Client, path, id string, now gate.Criteria) (*Edited, error) {
	before, known, err := committed(ctx, repo, path, id)
	if err != nil || !known || before.Text() == now.Text() {
		return nil, err
	}
	was, is := commands(before), commands(now)
	e := &Edited{Was: len(was), Is: len(is), Gone: []string{}}
	for _, text := range was {
		if !slices.Contains(is, text) {
			e.Gone = append(e.Gone, text)
		}
	}
	return e, nil
}

// committed gives the criteria of an issue in HEAD's store.
func committed(ctx context.Context, repo git.Client, path, id string) (before gate.Criteria, known bool, err error) {
	find := &lineOf{id: id}
	err = repo.FileAt(ctx, "HEAD", path, find)
	if fault.Is(err, fault.NoRevision) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	find.take(find.rest)
	if find.record == nil {
		return nil, false, nil
	}
	return gate.Of(find.record), true, nil
}

// commands are the texts of the checks that count when the issue closes.
func commands(c gate.Criteria) (texts []string) {
	for _, check := range c.Plan() {
		if check.Asked() {
			texts = append(texts, check.Text)
		}
	}
	return texts
}

// lineOf picks the line of one issue out of a store that is written to it.
type lineOf struct {
	id     string
	record *beads.Record
	rest   []byte // of a line that is not complete yet
}

func (l *lineOf) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	text := l.rest
	for {
		line, rest, complete := bytes.Cut(text, []byte("\n"))
		if !complete {
			break
		}
		l.take(line)
		text = rest
	}
	l.rest = bytes.Clone(text)
	return len(b), nil
}

// take keeps the line of the issue: the last one counts, as in a store.
func (l *lineOf) take(line []byte) {
	if !bytes.Contains(line, []byte(l.id)) {
		return
	}
	r, err := beads.ParseRecord(bytes.Clone(bytes.TrimSpace(line)))
	if err == nil && r.Text(beads.ID) == l.id {
		l.record = r
	}
}
