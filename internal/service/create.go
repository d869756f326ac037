package service

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/merge"
	"stig/internal/process"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/orient"
)

// CreateRequest is an issue to create.
type CreateRequest struct {
	checkpoint.Draft // without the fields set here: By, Evidence, Number
	DryRun           bool
}

// Created is a created issue.
type Created struct {
	*checkpoint.Created
	Earlier bool `json:"earlier,omitempty"` // the same request created it a moment ago, and its id was not printed
}

// Create adds an issue, unless the same request added it a moment ago and its id was never
// printed. The caller calls Printed once it has printed the id.
func Create(ctx context.Context, a *workspace.Run, r CreateRequest) (*Created, error) {
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	d := r.Draft
	if d.By, err = a.ActorName(ctx); err != nil {
		return nil, err
	}
	if d.Assignee, err = a.Assignee(ctx, d.Assignee); err != nil {
		return nil, err
	}
	d.Evidence, d.Types = a.Config.Signals.Evidence, a.Config.Types
	if earlier, ok := findUnreported(a, store, d, options.Now); ok && !r.DryRun {
		return &Created{&checkpoint.Created{ID: earlier, Title: d.Title, Warnings: []string{}}, true}, nil
	}
	if err := a.BoundRun(store.Place(), createBound, 1); err != nil {
		return nil, err
	}
	d.Number = childNumbers(ctx, a, store.Place(), r.DryRun)
	near := nearTitles(a, store, d)
	created, err := checkpoint.Create(ctx, store, options, d, writeRules(a, options.Now))
	if err != nil {
		return nil, err
	}
	created.Warnings = append(created.Warnings, nearWarning(created, near[0])...)
	created.Warnings = append(created.Warnings, unprovable(gate.Find(d.Acceptance, d.Description, d.Design))...)
	return &Created{created, false}, nil
}

// createBound limits how many issues one run of a worker may create.
var createBound = workspace.RunBound{
	Did: "created", What: "issues", Hint: "report the rest in a checkpoint, or ask a person",
	Most:   func(p *clone.Profile) int { return p.Issues },
	Counts: func(c clone.Change) bool { return c.Kind == string(merge.KindIssue) && c.Was == "" },
}

// CreateAllRequest is a file of issues to create, in JSON or Markdown.
type CreateAllRequest struct {
	From   string // file name, "-" for none
	Text   []byte
	DryRun bool
}

// markdown reports whether the file is a Markdown plan, by its name or else its first
// character.
func (r CreateAllRequest) markdown() bool {
	switch filepath.Ext(r.From) {
	case ".md", ".markdown":
		return true
	case ".json", ".jsonl":
		return false
	}
	return bytes.HasPrefix(bytes.TrimSpace(r.Text), []byte("#"))
}

// CreatedAll lists the created issues.
type CreatedAll struct {
	Plan    []checkpoint.Draft    `json:"-"` // content of the file if it is Markdown; else nil
	Created []*checkpoint.Created `json:"created"`
	Changes []beads.Change        `json:"-"`
}

// CreateAll adds issues in one edit: all of them or none.
func CreateAll(ctx context.Context, a *workspace.Run, r CreateAllRequest) (*CreatedAll, error) {
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	var drafts, plan []checkpoint.Draft
	if r.markdown() {
		drafts, err = checkpoint.ParsePlan(string(r.Text), now)
	} else {
		drafts, err = checkpoint.ParseDrafts(r.Text, now)
	}
	if err != nil {
		return nil, err
	}
	for i := range drafts {
		d := &drafts[i]
		if d.Assignee, err = a.Assignee(ctx, d.Assignee); err != nil {
			return nil, &checkpoint.BatchError{At: i, Line: d.Line, Err: err}
		}
	}
	if r.markdown() {
		plan = slices.Clone(drafts)
	}
	if len(drafts) == 0 {
		return nil, workspace.Usage("--from: no issue to add", `give a line such as {"title":"Read both forms"}`)
	}
	store, options, by, err := a.ToWriteAs(ctx, r.DryRun, a.ActorName)
	if err != nil {
		return nil, err
	}
	if err := a.BoundRun(store.Place(), createBound, len(drafts)); err != nil {
		return nil, err
	}
	number := childNumbers(ctx, a, store.Place(), r.DryRun)
	for i := range drafts {
		d := &drafts[i]
		d.By, d.Evidence, d.Types, d.Number = by, a.Config.Signals.Evidence, a.Config.Types, number
	}
	near := nearTitles(a, store, drafts...)
	created, changes, err := checkpoint.CreateAll(ctx, store, options, drafts, writeRules(a, options.Now))
	if err != nil {
		return nil, err
	}
	for i, c := range created {
		c.Warnings = append(c.Warnings, nearWarning(c, near[i])...)
		c.Warnings = append(c.Warnings, unprovable(gate.Find(drafts[i].Acceptance, drafts[i].Description, drafts[i].Design))...)
	}
	return &CreatedAll{plan, created, changes}, nil
}

// nearTitles returns for each draft the first unclosed issue with nearly the same title, nil
// for none. It ignores an unreadable store, which Create reports.
func nearTitles(a *workspace.Run, store beads.Store, drafts ...checkpoint.Draft) []*beads.Issue {
	near := make([]*beads.Issue, len(drafts))
	file, err := store.Snapshot()
	if err != nil {
		return near
	}
	defer file.Close()
	for i, d := range drafts {
		for at, issue := range file.All() {
			if counts, ok := file.Index(issue.ID); ok && counts == at && !beads.IsClosed(issue.Status) && orient.NearTitles(issue.Title, d.Title) {
				near[i] = issue
				break
			}
		}
	}
	return near
}

func nearWarning(c *checkpoint.Created, near *beads.Issue) []string {
	if near == nil || near.ID == c.ID {
		return nil
	}
	return []string{fmt.Sprintf("%s has nearly the same title, %q; if it is the same work, type stig close %s --duplicate-of %s", near.ID, visible.OneLine(near.Title), c.ID, near.ID)}
}

// Printed records that the id of a created issue was printed. If err is not nil, printing
// failed, and Printed returns an error that says so.
func Printed(a *workspace.Run, id string, err error) error {
	if err != nil {
		return &fault.Error{Code: fault.Store, ID: id, Reason: fmt.Sprintf("was created, but could not be printed: %v", err),
			Hint: "do not create it again; type stig show " + id, Err: err}
	}
	a.Journal.Told()
	return nil
}

// unreportedFor is how long the same command returns an issue whose id was never printed
// instead of creating a second one.
const unreportedFor = time.Minute

// findUnreported finds the issue that the same command line created a moment ago without
// printing its id, for example because the disk was full or the process was killed.
func findUnreported(a *workspace.Run, store beads.Store, d checkpoint.Draft, now time.Time) (issue string, ok bool) {
	place, err := a.Live(store.Place())
	if err != nil {
		return "", false
	}
	candidate := func(r clone.Record) bool {
		recent := r.At.Add(unreportedFor).After(now) && !r.At.After(now)
		return r.Result == clone.Written && !r.Told && recent && r.Command == a.Running && r.Worktree == place.Worktree && r.Actor == d.By &&
			len(r.Changes) == 1 && jsonl.IsGone(r.Process) && madeFrom(r.Changes[0], d) && holdsIssue(store, r.Changes[0].Issue)
	}
	// The creator may have printed the id and ended between reading the journal and checking
	// its process, so the journal is read once more.
	for range 2 {
		journal, err := place.Recent()
		at := -1
		if err == nil {
			at = slices.IndexFunc(journal.Records, candidate)
		}
		if at < 0 {
			return "", false
		}
		issue = journal.Records[at].Changes[0].Issue
	}
	return issue, true
}

// madeFrom reports whether a new line has the content of a draft.
func madeFrom(c clone.Change, d checkpoint.Draft) bool {
	r, err := beads.ParseRecord([]byte(c.Now))
	if c.Kind != string(merge.KindIssue) || err != nil {
		return false
	}
	parent := beads.ParentID(c.Issue)
	if (d.Parent == "") != (parent == "") || d.Parent != "" && !isNamed([]string{d.Parent}, parent) {
		return false
	}
	return r.Text(beads.Title) == d.Title && r.Text(beads.Description) == d.Description &&
		r.Text(beads.AcceptanceCriteria) == d.Acceptance && r.Text(beads.Assignee) == d.Assignee && r.Text(beads.IssueType) == d.Type
}

func holdsIssue(store beads.Store, id string) bool {
	file, err := store.Snapshot()
	if err != nil {
		return false
	}
	defer file.Close()
	_, there := file.Index(id)
	return there
}

// childNumbers returns a function that finds child numbers that no issue has or ever had: in
// this work tree or another, in the history of any branch, or in the journal. Code and commits
// may name an issue that was deleted since, and two work trees may add to one epic before they
// are merged.
func childNumbers(ctx context.Context, a *workspace.Run, store beads.Place, dryRun bool) func(parent string, greatest int) (int, error) {
	return func(parent string, greatest int) (int, error) {
		place, err := a.Live(store)
		if err != nil {
			return greatest + 1, nil // Edit reports what is wrong with the store
		}
		if recent, err := place.Recent(); err == nil {
			greatest = max(greatest, beads.ChildNumbersOf(issuesOf(recent))[parent])
		}
		n, err := place.NextChild(parent, greatest, childSources(ctx, a, store, place), dryRun)
		if err != nil {
			a.Warn("%s: this id may be in use elsewhere or may have been used: %v", fmt.Sprintf("%s.%d", parent, n), err)
		}
		return max(n, greatest+1), nil
	}
}

// issuesOf returns the ids of the issues that a journal names.
func issuesOf(j clone.Journal) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, r := range j.Records {
			for _, c := range r.Changes {
				if !yield(c.Issue) {
					return
				}
			}
		}
	}
}

// childSources returns the other places in the clone where children are or were.
func childSources(ctx context.Context, a *workspace.Run, store beads.Place, place clone.Place) (sources []clone.Source) {
	if !place.Shared() || store.Mode == beads.Server || !process.Finder("", a.Getenv)("git") {
		return nil
	}
	for _, other := range a.StoresBeside(ctx, store) {
		sources = append(sources, clone.Source{Name: "file " + other.Place().Path, Version: clone.Stamp(other.Place().Path), Numbers: func(string) (map[string]int, error) {
			file, err := other.Snapshot()
			if err != nil {
				return nil, nil // an unreadable store has no numbers
			}
			defer file.Close()
			return file.ChildNumbers(), nil
		}})
	}
	git, path, err := a.Git(store)
	if err != nil {
		return sources
	}
	tips, err := git.Must(ctx, "for-each-ref", "--format=%(objectname)", "refs/heads", "refs/remotes")
	if err != nil {
		return sources
	}
	head, _ := git.Must(ctx, "rev-parse", "--quiet", "--verify", "HEAD") // there may be no commit yet
	commits := strings.Fields(head + "\n" + tips)
	slices.Sort(commits)
	commits = slices.Compact(commits)
	if len(commits) == 0 {
		return sources
	}
	return append(sources, clone.Source{Name: "history", Version: strings.Join(commits, " "), Numbers: func(counted string) (map[string]int, error) {
		return pastChildren(ctx, a, git, path, commits, strings.Fields(counted))
	}})
}

// pastChildren returns the greatest child number of each parent in the history of the store up
// to some commits, without the commits that were counted before. Of a long history it reads
// only the latest part.
func pastChildren(ctx context.Context, a *workspace.Run, git git.Client, path string, commits, counted []string) (map[string]int, error) {
	const (
		atOnce = 64
		said   = 64 << 20  // bytes that take noticeable time
		most   = 512 << 20 // bytes
	)
	names := []string{filepath.Base(path), "issues.jsonl", "beads.jsonl", "deletions.jsonl"}
	blobs, lacking, err := git.PastBlobs(ctx, path, names, commits, counted)
	if err != nil {
		return nil, err
	}
	if lacking > 0 {
		a.Warn("this clone lacks %s of the store's history: a child may get the id of an earlier issue; type git fetch --refetch --no-filter",
			visible.Counted(lacking, "version"))
	}
	numbers, read := map[string]int{}, 0
	for batch := range slices.Chunk(blobs, atOnce) {
		before := read
		err := git.Blobs(ctx, batch, func(_ string, text []byte) {
			read += len(text)
			for parent, n := range beads.ChildNumbersIn(text) {
				numbers[parent] = max(numbers[parent], n)
			}
		})
		switch {
		case err != nil:
			return nil, err
		case before < said && read >= said:
			a.Note("reading the store's history so that no child id is reused; this happens once")
		case read >= most:
			a.Warn("the store's history is too long to read in full: a child may get the id of a much earlier issue")
			return numbers, nil
		}
	}
	return numbers, nil
}

// InitRequest says what store to create.
type InitRequest struct {
	Prefix string // of ids; "" means the name of the directory
	DryRun bool
}

// Made is a store that was created, or would be in a dry run.
type Made struct {
	Store, Prefix string   // the store's path
	Files         []string // created files
	Ignored       bool     // git ignores it: nobody else would get it
	Founded       bool     // the directory was empty: a git repository was created in it and trusted
	Diff          string   // of a dry run; the store itself is an empty file and not part of it
}

// Init creates an empty store.
func Init(ctx context.Context, a *workspace.Run, r InitRequest) (*Made, error) {
	dir, err := Home(ctx, a)
	if err != nil {
		return nil, err
	}
	m := &Made{Files: []string{}}
	if m.Prefix, err = PrefixFor(r.Prefix, dir); err != nil {
		return nil, err
	}
	if err := a.Vacant(ctx, dir); err != nil {
		return nil, err
	}
	m.Founded = isEmpty(ctx, a, dir)
	if r.DryRun {
		store, files, err := jsonl.Blank(dir, m.Prefix)
		for _, f := range files {
			m.Diff += workspace.HostFile{Path: f.Path}.Diff(nil, []byte(f.Text))
		}
		m.Store = workspace.Shortest(store.Path)
		return m, err
	}
	store, files, err := jsonl.Init(dir, m.Prefix)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		m.Files = append(m.Files, workspace.Shortest(f))
	}
	if m.Founded {
		if err := found(ctx, a, dir); err != nil {
			return nil, err
		}
	}
	m.Store, m.Ignored = workspace.Shortest(store.Path), isIgnored(ctx, a, store)
	return m, nil
}

// isEmpty reports whether a directory is empty and in no git repository, and git is installed.
func isEmpty(ctx context.Context, a *workspace.Run, dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 || !process.Finder("", a.Getenv)("git") {
		return false
	}
	result, err := a.GitIn(dir).Run(ctx, "rev-parse", "--git-dir")
	return err == nil && result.Exit == noRepository
}

// noRepository is the exit code of git outside of a repository.
const noRepository = 128

// found creates a git repository in a directory that contains nothing but a new store, and
// trusts it: everything else in it is added later by the user.
func found(ctx context.Context, a *workspace.Run, dir string) error {
	name, err := a.ActorName(ctx)
	if err != nil {
		return err
	}
	if err := a.GitIn(dir).Found(ctx, cmp.Or(name, "stig"), "Begin", beads.DirName); err != nil {
		return err
	}
	if a.ForPeople("trust") != nil {
		return nil
	}
	_, err = a.Trust(ctx, workspace.TrustRequest{})
	return err
}

// Home returns the directory in which to create the store.
func Home(ctx context.Context, a *workspace.Run) (string, error) {
	for _, named := range []struct{ what, path string }{{"--store", a.Store}, {"BEADS_DIR", a.Getenv("BEADS_DIR")}} {
		if named.path != "" && !jsonl.IsURL(named.path) {
			return "", workspace.Usage(fmt.Sprintf("init: creates %s, but %s names %s", filepath.Join(".beads", "issues.jsonl"), named.what, named.path),
				"leave "+named.what+" out; -C DIR says where the store goes")
		}
	}
	if a.Dir != "" {
		return a.Dir, nil
	}
	if !process.Finder("", a.Getenv)("git") {
		return ".", nil
	}
	result, err := a.GitIn("").Run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	root := strings.TrimRight(string(result.Stdout), "\r\n")
	if result.Exit != 0 || root == "" {
		return ".", nil
	}
	return filepath.FromSlash(root), nil
}

// PrefixFor returns the id prefix of a new store: the given one, or else the name of its
// directory.
func PrefixFor(given, dir string) (string, error) {
	if given == "" {
		return beads.PrefixOf(dir)
	}
	given = strings.TrimRight(given, "-")
	if err := beads.CheckPrefix(given); err != nil {
		return "", workspace.Usage(err.Error(), "such as --prefix demo, which gives ids like demo-4k2")
	}
	return given, nil
}

// isIgnored reports whether git ignores a store.
func isIgnored(ctx context.Context, a *workspace.Run, store beads.Place) bool {
	if !process.Finder("", a.Getenv)("git") {
		return false
	}
	ignored, err := a.GitIn(store.Dir).Ignores(ctx, filepath.Base(store.Path))
	return err == nil && ignored
}
