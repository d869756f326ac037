package traces

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/merge"
	"stig/internal/trace"
	"stig/internal/visible"
	"stig/internal/workspace"
)

const (
	// perMinute is the most traces one actor may leave in a minute. A program that leaves more
	// is in a loop, or needs a log file.
	perMinute = 60
	// lineLimit is the longest line in bytes that every bd command reads.
	lineLimit = 60 << 10
)

// GateName is the author of a loop's feedback. It is not the actor's name because an inbox
// lists nothing of its own actor.
const GateName = "stig"

// Draft is a trace to leave on an issue.
type Draft struct {
	Issue   string         `json:"issue"`
	Type    string         `json:"type"`
	Summary string         `json:"summary,omitempty"`
	Content map[string]any `json:"content,omitempty"`
	Body    string         `json:"body,omitempty"`

	line int // line in the file that it comes from; 0 for none
}

// AddRequest asks to leave traces: all of them or none.
type AddRequest struct {
	Drafts []Draft
	DryRun bool
}

// One is a trace that was left.
type One struct {
	ID    string `json:"id"` // name of the trace
	Issue string `json:"issue"`
	Type  string `json:"type"`
	There bool   `json:"there"` // the author had left it before

	text string
}

// Added lists the traces that were left.
type Added struct {
	Project  string   `json:"project,omitempty"` // another one, that has them
	Traces   []*One   `json:"traces"`
	Warnings []string `json:"warnings"`

	Changes []beads.Change `json:"-"`
}

// Add leaves traces of the actor on issues. Repeating the same trace of the same actor on the
// same issue has no effect. A trace to PROJECT:NAME is left in that project.
func Add(ctx context.Context, a *workspace.Run, r AddRequest) (*Added, error) {
	for _, d := range r.Drafts {
		switch in, name, err := addressed(ctx, a, d); {
		case err != nil:
			return nil, inFile(d.line, err)
		case in != nil && len(r.Drafts) > 1:
			return nil, inFile(d.line, workspace.Usage("to: a trace for another project cannot be left with others", "leave it alone: stig trace add ID TYPE --to PROJECT:NAME"))
		case in != nil:
			return addThere(ctx, a, in, name, d, r.DryRun)
		}
	}
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	added, edit, err := adding(ctx, a, store, options.Now, r.Drafts)
	if err != nil {
		return nil, err
	}
	for _, one := range added.Traces {
		options.Scope.IDs = append(options.Scope.IDs, one.Issue)
	}
	if added.Changes, err = store.Edit(ctx, options, edit); err != nil {
		return nil, err
	}
	return added, nil
}

// Leaving returns the edit with which Add leaves traces, for use inside another edit.
func Leaving(ctx context.Context, a *workspace.Run, drafts ...Draft) (func(*beads.Tx) error, error) {
	store, options, err := a.ToWrite(ctx, false)
	if err != nil {
		return nil, err
	}
	_, edit, err := adding(ctx, a, store, options.Now, drafts)
	return edit, err
}

// adding returns the traces of drafts, and the edit that leaves them.
func adding(ctx context.Context, a *workspace.Run, store beads.Store, now time.Time, drafts []Draft) (*Added, func(*beads.Tx) error, error) {
	actor, err := a.MustActor(ctx)
	if err != nil {
		return nil, nil, err
	}
	added := &Added{Warnings: []string{}}
	for _, d := range drafts {
		one, err := written(d, actor)
		if err != nil {
			return nil, nil, inFile(d.line, err)
		}
		added.Traces = append(added.Traces, one)
	}
	if added.Warnings, err = answers(store, drafts); err != nil {
		return nil, nil, err
	}
	return added, func(tx *beads.Tx) error { // checks the limits too, since nobody else writes during the edit
		if err := paced(store.Place(), actor, now, len(added.Traces)); err != nil {
			return err
		}
		if err := a.BoundRun(store.Place(), bound, len(added.Traces)); err != nil {
			return err
		}
		return leave(tx, actor, added.Traces)
	}, nil
}

// written creates the trace of a draft.
func written(d Draft, actor string) (*One, error) {
	kind, known := trace.KindOf(d.Type)
	if kind.Own != "" {
		return nil, workspace.Usage(d.Type+": can only be left by "+kind.Own, "type "+kind.Own+" --help")
	}
	t, err := trace.Draft{Type: d.Type, Summary: d.Summary, Content: d.Content, Body: d.Body}.Trace()
	if err != nil {
		hint := "type stig schema traces for the definition of " + kind.Definition()
		if !known {
			hint = nearest(d.Type)
		}
		return nil, &fault.Error{Code: fault.Usage, Reason: err.Error(), Hint: hint}
	}
	text := t.Text()
	if visible.HoldsSecret(text) {
		return nil, workspace.Usage("the trace contains what looks like a credential", "say what it is for and where it is kept, not what it is")
	}
	return &One{ID: trace.Name(actor, text), Issue: d.Issue, Type: d.Type, text: text}, nil
}

// nearest returns a hint with the type that was probably meant.
func nearest(name string) string {
	for _, known := range trace.Types() {
		if name != "" && (strings.Contains(name, known) || strings.Contains(known, name) || name[0] == known[0] && len(name) > 3 && strings.HasPrefix(known, name[:3])) {
			return fmt.Sprintf("did you mean %s? stig trace add --help says what each is for", known)
		}
	}
	return "stig trace add --help says what each is for"
}

// inFile prefixes an error with the line of the file that the draft comes from, if any.
func inFile(line int, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || line == 0 {
		return err
	}
	led := *e
	led.Reason = fmt.Sprintf("--from: line %d: %s", line, e.Reason)
	return &led
}

// paced returns an error if an actor would leave too many traces in a minute. They are counted
// in the journal, which all work trees share.
func paced(p beads.Place, actor string, now time.Time, more int) error {
	left := 0
	if place, err := clone.At(p.Path); err == nil {
		left = leftSince(place, actor, now.Add(-time.Minute), now)
	}
	if left+more <= perMinute {
		return nil
	}
	hint := "wait a minute; the output of a program belongs in a log file"
	if more > perMinute {
		hint = fmt.Sprintf("leave at most %d at once; the output of a program belongs in a log file", perMinute)
	}
	return &fault.Error{Code: fault.Conflict,
		Reason: fmt.Sprintf("%s left %d traces within a minute, and %d more exceed the limit of %d", actor, left, more, perMinute), Hint: hint}
}

// leftSince counts the actor's comments in the journal since a time, including those without a
// type. The time of an edit is its beginning. Edits a minute or more in the future come from a
// wrong clock and are ignored. It returns 0 without a journal.
func leftSince(place clone.Place, actor string, since, now time.Time) (left int) {
	journal, _ := place.Lately(since)
	for _, r := range slices.Backward(journal.Records) {
		if r.At.Before(since) {
			break
		}
		if r.At.Sub(now) >= time.Minute {
			continue
		}
		for _, c := range r.Changes {
			if r.Actor == actor && r.Result != clone.Failed && isNewComment(c) {
				left++
			}
		}
	}
	return left
}

// bound limits how many traces one run of a worker may leave. Traces of the loop itself belong
// to no run.
var bound = workspace.RunBound{
	Did: "left", What: "traces", Hint: "report the rest in a checkpoint",
	Most:   func(p *clone.Profile) int { return p.Traces },
	Counts: isNewComment,
}

func isNewComment(c clone.Change) bool { return c.Kind == string(merge.Comment) && c.Was == "" }

// leave adds the comments of the traces.
func leave(tx *beads.Tx, actor string, list []*One) error {
	for _, one := range list {
		before, err := tx.Record(one.Issue)
		if err != nil {
			return err
		}
		if id := before.Text(beads.ID); id != one.Issue {
			return beads.NotFound(one.Issue, id) // a program that leaves traces must not guess ids
		}
		if err := tx.AddComment(one.Issue, beads.Comment{Author: actor, Text: one.text}); err != nil {
			return err
		}
		after, err := tx.Record(one.Issue)
		if err != nil {
			return err
		}
		one.There = len(before.Elements(beads.Comments)) == len(after.Elements(beads.Comments))
		if tx.Snapshot().Place().NoDB && !one.There && len(after.Bytes()) > lineLimit {
			return &fault.Error{Code: fault.Usage, ID: one.Issue,
				Reason: fmt.Sprintf("its line would be %d bytes long; bd with no-db reads at most %d", len(after.Bytes()), 64<<10),
				Hint:   "leave the trace on another issue, or put the text into a file and name it"}
		}
	}
	return nil
}

// answers checks the references of drafts: an answered trace must exist, and an unknown actor
// is a warning.
func answers(store beads.Store, drafts []Draft) (warnings []string, err error) {
	warnings = []string{}
	var names, to []string
	for _, d := range drafts {
		names = append(names, texts(d.Content["re"])...)
		names = append(names, texts(d.Content["covers"])...)
		to = append(to, texts(d.Content["to"])...)
	}
	if len(names)+len(to) == 0 {
		return warnings, nil
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	known, err := known(file)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !known.traces[name] {
			return nil, workspace.Usage(name+": no such trace", "type stig trace list to see the existing ones")
		}
	}
	for _, name := range to {
		if !known.actors[name] && !slices.Contains([]string{"@all", "@people", "@agents"}, name) {
			warnings = append(warnings, fmt.Sprintf("to: nobody called %q has worked here, and no issue has it as a label", name))
		}
	}
	return warnings, nil
}

func texts(value any) (list []string) {
	switch value := value.(type) {
	case string:
		return []string{strings.TrimSpace(value)}
	case []string:
		return value
	case []any:
		for _, item := range value {
			list = append(list, texts(item)...)
		}
	}
	return list
}

// names are the names of a store's traces, and of its actors and roles.
type names struct{ traces, actors map[string]bool }

func known(file *beads.Snapshot) (n names, err error) {
	n = names{map[string]bool{}, map[string]bool{}}
	reader := file.Reader()
	for _, issue := range file.All() {
		record, err := reader.Record(issue)
		if err != nil {
			return n, err
		}
		for _, c := range record.Comments() {
			n.traces[trace.Name(c.Author, c.Text)] = true
			n.actors[c.Author] = true
		}
		for _, name := range append(record.Labels(), record.Text(beads.Assignee), record.Text("created_by")) {
			n.actors[strings.Clone(name)] = true
		}
	}
	return n, nil
}

// ReadDrafts parses traces as JSON, one per line. An error names its line.
func ReadDrafts(text []byte) (drafts []Draft, err error) {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		var d Draft
		err := decoder.Decode(&d)
		if err == nil && decoder.More() {
			err = errors.New("more than one object")
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("ends inside an object")
		}
		if err == nil && d.Issue == "" {
			err = errors.New("issue: missing")
		}
		if err != nil {
			return nil, workspace.Usage(fmt.Sprintf("--from: line %d: %v", i+1, err),
				`give a line such as {"issue":"demo-1","type":"finding","content":{"summary":"no feed"}}`)
		}
		d.line = i + 1
		drafts = append(drafts, d)
	}
	if len(drafts) == 0 {
		return nil, workspace.Usage("--from: no trace to leave", `give a line such as {"issue":"demo-1","type":"log","content":{"message":"half done"}}`)
	}
	return drafts, nil
}
