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

// Edited says how the criteria of an issue differ from the committed ones. Readers of a verdict
// must know that the criteria were changed.
type Edited struct {
	Was  int      `json:"was"`  // number of commands that would run, as committed
	Is   int      `json:"is"`   // the number now
	Gone []string `json:"gone"` // commands that were removed
}

func (e *Edited) String() string {
	what := "commands"
	if e.Was == 1 {
		what = "command"
	}
	return fmt.Sprintf("criteria edited since HEAD: %d %s → %d", e.Was, what, e.Is)
}

// EditedSince compares the criteria of an issue with those in the store at HEAD; path is as for
// git.Client.FileAt. It returns nil if they are the same, or if HEAD does not contain the store
// or the issue.
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

// committed returns the criteria of an issue in the store at HEAD.
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

// commands returns the texts of the checks that count for a close.
func commands(c gate.Criteria) (texts []string) {
	for _, check := range c.Plan() {
		if check.Asked() {
			texts = append(texts, check.Text)
		}
	}
	return texts
}

// lineOf is an io.Writer that picks the line of one issue out of a store.
type lineOf struct {
	id     string
	record *beads.Record
	rest   []byte // an incomplete line
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

// take keeps the line if it belongs to the issue: the last one counts, as in a store.
func (l *lineOf) take(line []byte) {
	if !bytes.Contains(line, []byte(l.id)) {
		return
	}
	r, err := beads.ParseRecord(bytes.Clone(bytes.TrimSpace(line)))
	if err == nil && r.Text(beads.ID) == l.id {
		l.record = r
	}
}
