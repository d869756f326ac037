package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/journal"
	"stig/internal/lint"
	"stig/internal/merge"
	"stig/internal/store/jsonl"
	"stig/internal/store/sql"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// DiffRequest says which two stores to compare.
type DiffRequest struct {
	Args  []string // a revision, default HEAD; with Files, two files
	Files bool
}

// Compared is the difference of two stores.
type Compared struct {
	merge.Diff
	Since string // name of the first store
}

// Diff compares the store at a revision with the current store, or two files.
func Diff(ctx context.Context, a *workspace.Run, r DiffRequest) (*Compared, error) {
	before, after, since, closeBoth, err := openBoth(ctx, a, r.Args, r.Files)
	if err != nil {
		return nil, err
	}
	defer closeBoth()
	d, err := merge.Stores(before, after)
	return &Compared{d, since}, err
}

// openBoth opens the two stores to compare, and returns the name of the first.
func openBoth(ctx context.Context, a *workspace.Run, args []string, files bool) (before, after *beads.Snapshot, since string, closeBoth func(), err error) {
	fail := func(err error) (*beads.Snapshot, *beads.Snapshot, string, func(), error) {
		return nil, nil, "", nil, err
	}
	if files {
		if len(args) != 2 {
			return fail(workspace.Usage("--files takes two files", "type stig diff --files BEFORE AFTER"))
		}
		if before, err = openFile(a, args[0]); err != nil {
			return fail(err)
		}
		if after, err = openFile(a, args[1]); err != nil {
			_ = before.Close()
			return fail(err)
		}
		return before, after, args[0], func() { _, _ = before.Close(), after.Close() }, nil
	}
	if len(args) > 1 {
		return fail(workspace.Usage("diff takes one revision", "type stig diff --files BEFORE AFTER to compare two files"))
	}
	since = strings.Join(append(args, "HEAD")[:1], "")
	if after, err = a.Open(); err != nil {
		return fail(err)
	}
	if before, err = openAt(ctx, a, after.Place(), since); err != nil {
		_ = after.Close()
		return fail(err)
	}
	return before, after, since, func() { _, _ = before.Close(), after.Close() }, nil
}

// openFile opens a store by the path of its file.
func openFile(a *workspace.Run, path string) (*beads.Snapshot, error) {
	dir := cmp.Or(a.Dir, ".")
	store, err := jsonl.Discover(jsonl.Where{Dir: dir, File: path})
	if missing, ok := fault.As(err, fault.Store); ok && errors.Is(err, fs.ErrNotExist) {
		missing.Hint = "name an existing file"
	}
	if err != nil {
		return nil, err
	}
	store.Path = workspace.Shortest(store.Path)
	file, err := jsonl.Read(store)
	if err != nil {
		return nil, err
	}
	a.WarnOfStore(file)
	return file, nil
}

// MergeRequest says what to merge.
type MergeRequest struct {
	Base, Ours, Theirs string // paths
	Output             string // the file to write; "" means Ours, "-" none
	DryRun             bool
}

// Merged is the result of a merge.
type Merged struct {
	merge.Result
	Output string // where it was written, or would be; "-" for nowhere
	Diff   string // of a dry run
}

// Merge merges three files into one store and writes it. Errors have code fault.NotMerged.
func Merge(a *workspace.Run, r MergeRequest) (*Merged, error) {
	m, err := mergeFiles(a, r)
	if err != nil {
		return nil, workspace.NotMerged(err)
	}
	return m, nil
}

func mergeFiles(a *workspace.Run, r MergeRequest) (*Merged, error) {
	var texts [3]string
	for i, name := range []string{r.Base, r.Ours, r.Theirs} {
		text, err := workspace.ReadText(file.Under(a.Dir, name))
		if err != nil {
			return nil, workspace.Placed(err)
		}
		texts[i] = text
	}
	ours := texts[1]
	m := &Merged{Output: cmp.Or(r.Output, r.Ours)}
	if text, ok := copied(a, r, ours, texts[2]); ok {
		m.Text = text
	} else {
		m.Result = merge.Options{Births: a.Births()}.Stores(texts[0], ours, texts[2])
	}
	file, over := workspace.HostFile{Path: file.Under(a.Dir, m.Output)}, m.Output == r.Ours
	switch {
	case r.DryRun && over:
		m.Diff = file.Diff([]byte(ours), []byte(m.Text))
	case r.DryRun:
		before, err := file.Read()
		if err != nil {
			return nil, err
		}
		m.Diff = file.Diff(before, []byte(m.Text))
	case m.Output == "-", over && ours == m.Text:
	default:
		if err := workspace.ReplaceFile(file.Path, m.Text); err != nil {
			return m, err
		}
	}
	if !r.DryRun {
		recordMerge(a, texts[0], ours, texts[2], m.Text)
	}
	return m, nil
}

// recordMerge records in the journal which lines the merged lines come from. Without that,
// recover judges them by their values.
func recordMerge(a *workspace.Run, base, ours, theirs, result string) {
	if base == ours || base == theirs || ours == theirs {
		return // the result is one of them
	}
	place, err := a.LivePlace()
	now, err2 := a.Clock()
	if err != nil || err2 != nil {
		return
	}
	versions, renamed := journal.Merged([]byte(base), []byte(ours), []byte(theirs), []byte(result))
	if len(versions) == 0 {
		return
	}
	record := clone.Record{At: now, Command: "merge", Versions: versions}
	for _, r := range renamed {
		for _, e := range merge.Edits(nil, r) {
			record.Changes = append(record.Changes, workspace.RecordedEdit(r.Text(beads.ID), e))
		}
	}
	pending, err := place.Begin(record)
	if err == nil {
		_ = pending.End(clone.Written)
	}
}

// copied returns the result of git's merge of the copy of a store on a server: the current
// content of the server, which contains both sides. ok is false if a side has something that
// was never on the server.
func copied(a *workspace.Run, r MergeRequest, ours, theirs string) (text string, ok bool) {
	if !strings.HasPrefix(filepath.Base(r.Ours), ".merge_file_") { // git's name for %A
		return "", false
	}
	place, err := jsonl.Discover(a.Where())
	if err != nil || place.Mode != beads.Server || place.Copy == "" {
		return "", false
	}
	store, err := a.OnServers().Open(place)
	if err != nil {
		return "", false
	}
	now, err := store.Text(a.Ctx)
	for _, side := range []string{ours, theirs} {
		if err == nil {
			err = sql.Copy{Store: store, File: place.Copy}.RefuseStrange(a.Ctx, side, now)
		}
	}
	return string(now), err == nil
}

// Conflicts lists the conflicts that a merge left in the store.
func Conflicts(ctx context.Context, a *workspace.Run) ([]merge.Conflict, error) {
	store, err := a.Discover()
	if err == nil {
		err = inFile(store.Place(), "stig merge --resolve")
	}
	if err != nil {
		return nil, err
	}
	text, err := workspace.ReadText(store.Place().Path)
	if err != nil {
		return nil, workspace.Placed(err)
	}
	return merge.Open(text, origin(ctx, a, store.Place())), nil
}

// origin returns the versions that git merged into a store in conflict, from git's index until
// git add. After a merge by lines the markers seldom show the common base. If they cannot be
// read the result is empty, as without git.
func origin(ctx context.Context, a *workspace.Run, store beads.Place) merge.Origin {
	repo, path, err := a.Git(store)
	if err != nil {
		return merge.Origin{}
	}
	side, err := repo.Conflict(ctx, path)
	if err != nil {
		return merge.Origin{}
	}
	return merge.Origin(side)
}

// inFile refuses a store on a server, for commands that work on a file.
func inFile(store beads.Place, command string) error {
	if store.Mode != beads.Server {
		return nil
	}
	return workspace.Usage(fmt.Sprintf("%s: works only on a store in a file; this one is on a server: %s", command, store.Name()),
		"type stig log to see what was written from here, and stig undo to take it back; for a copy in git, type stig store sync")
}

// ResolveRequest answers open questions of a merge about one issue.
type ResolveRequest struct {
	ID      string // may lack its prefix
	Answers merge.Answers
	DryRun  bool
}

// Resolved is what answers did to the store.
type Resolved struct {
	merge.Resolution
	ID, Store string           // the issue, and the store's path
	Left      []merge.Conflict // still in the store
	Diff      string           // of a dry run
}

// Resolve answers questions about one issue in conflict.
func Resolve(ctx context.Context, a *workspace.Run, r ResolveRequest) (*Resolved, error) {
	options, err := a.Options(r.DryRun)
	if err != nil {
		return nil, err
	}
	store, err := a.Discover() // an unfinished git merge is allowed: this command resolves it
	if err == nil {
		err = inFile(store.Place(), "stig merge --resolve")
	}
	if err != nil {
		return nil, err
	}
	id, unknown := fullID(store, r.ID)
	answered := &Resolved{ID: id, Store: store.Place().Path}
	from := origin(ctx, a, store.Place())
	a.Edits().Sides = func(id string) (base, ours, theirs *beads.Record) {
		return beads.RecordIn([]byte(from.Base), id), beads.RecordIn([]byte(from.Ours), id), beads.RecordIn([]byte(from.Theirs), id)
	}
	var before, after string
	err = a.Rewrite(ctx, store.Place(), options, func(text string) ([]jsonl.Splice, error) {
		done, err := merge.Resolve(text, from, id, r.Answers)
		if err != nil {
			return nil, err
		}
		answered.Resolution, before, after = done, text, text[:done.Start]+done.Text+text[done.End:]
		return []jsonl.Splice{{Start: done.Start, End: done.End, Text: done.Text}}, nil
	})
	if err != nil {
		return nil, unresolved(err, id, unknown)
	}
	answered.Left = merge.Open(after, from)
	if r.DryRun {
		answered.Diff = workspace.HostFile{Path: store.Place().Path}.Diff([]byte(before), []byte(after))
	}
	return answered, nil
}

// unresolved returns the error of Resolve for an issue; unknown is the error of fullID.
func unresolved(err error, id string, unknown error) error {
	switch {
	case errors.Is(err, merge.ErrNoConflict) && unknown != nil:
		return unknown
	case errors.Is(err, merge.ErrNoConflict):
		return workspace.Usage(id+": not in conflict", "type stig merge --resolve to see what is")
	}
	return err
}

// fullID returns the full id of an issue. If the store does not have it, it returns id and an
// error.
func fullID(store beads.Store, id string) (string, error) {
	file, err := store.Snapshot()
	if err != nil {
		return id, err
	}
	defer file.Close()
	issue, err := file.Find(id)
	if err != nil {
		return id, err
	}
	return issue.ID, nil
}

// Briefly returns text on one line, clipped to most characters.
func Briefly(text string, most int) string {
	if text == "" {
		return "(none)"
	}
	return visible.Clipped(visible.OneLine(text), most)
}

// AnswerHint returns what to type about a conflict.
func AnswerHint(c merge.Conflict) string {
	switch {
	case c.ID == "":
		return "merge the lines between the markers into one by hand"
	case len(c.Questions) == 0:
		return "type stig merge --resolve " + c.ID
	}
	var answers []string
	for _, q := range c.Questions {
		answer := q.Key + "=" + string(merge.Ours)
		if strings.ContainsAny(answer, " \t*?'\"$&;|<>(){}[]!#~`\\") {
			answer = visible.InQuotes(answer)
		}
		answers = append(answers, answer)
	}
	return "type stig merge --resolve " + c.ID + " " + strings.Join(answers, " ") + ", or theirs in place of ours"
}

// openQuestions replaces the diagnostics about conflict markers with one for each issue
// between them that says what needs a decision.
func openQuestions(ctx context.Context, a *workspace.Run, found []lint.Diagnostic, store beads.Place) ([]lint.Diagnostic, error) {
	marker := func(d lint.Diagnostic) bool { return d.Rule == beads.ConflictMarker }
	if store.Mode == beads.Server || !slices.ContainsFunc(found, marker) {
		return found, nil
	}
	text, err := workspace.ReadText(store.Path)
	if err != nil {
		return nil, workspace.Placed(err)
	}
	open := merge.Open(text, origin(ctx, a, store))
	var all []lint.Diagnostic
	for _, d := range found {
		of := []merge.Conflict{}
		if marker(d) {
			of = slices.DeleteFunc(slices.Clone(open), func(c merge.Conflict) bool { return c.Line != d.Line })
			d.Hint = "remove the marker by hand: it does not belong to a complete conflict"
		}
		if len(of) == 0 {
			all = append(all, d)
		}
		for _, c := range of {
			d.ID, d.Message, d.Hint = c.ID, "in conflict: "+c.Reason+valuesText(c.Questions), AnswerHint(c)
			all = append(all, d)
		}
	}
	return all, nil
}

// valuesText names the keys in question with both values.
func valuesText(questions []merge.Question) string {
	var text strings.Builder
	for _, q := range questions {
		fmt.Fprintf(&text, "; %s: ours %s, theirs %s", q.Key, Briefly(q.Ours, 30), Briefly(q.Theirs, 30))
	}
	return text.String()
}
