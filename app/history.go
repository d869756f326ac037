package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/beads"
	"stig/checkpoint"
	"stig/cue"
	"stig/dag"
	"stig/git"
	"stig/jsonl"
	"stig/lint"
	"stig/notes"
	"stig/orient"
	"stig/process"
	"stig/schemas"
	"stig/signals"
)

// LookBack computes the retrospective of the store or of an epic.
func (a *App) LookBack(ctx context.Context, args []string, last int) (*orient.Retro, beads.Place, error) {
	file, err := a.Open()
	if err != nil {
		return nil, beads.Place{}, err
	}
	defer file.Close()
	request := orient.RetroRequest{Last: last}
	graph := dag.New(file)
	if len(args) == 1 {
		epic, err := file.Find(args[0])
		if err != nil {
			return nil, file.Place(), err
		}
		if at, _ := file.Index(epic.ID); len(graph.Children(at)) == 0 {
			return nil, file.Place(), Usage(epic.ID+": holds no issues", "name an epic, or none for the whole store")
		}
		request.Epic = epic.ID
	}
	if request.Turns, request.History, err = a.turns(ctx, file.Place()); err != nil {
		return nil, file.Place(), err
	}
	rules, err := a.Reading(file, signals.ThresholdStaleDays)
	if err != nil {
		return nil, file.Place(), err
	}
	r, err := orient.LookBack(file, graph, request, rules)
	return r, file.Place(), err
}

// turns reads the history of the store, where it has one.
func (a *App) turns(ctx context.Context, store beads.Place) (turns []orient.Turn, known bool, err error) {
	if !process.Finder("", a.Getenv)("git") || store.File() == "" {
		return nil, false, nil
	}
	repo, path, err := a.Git(store)
	if err != nil {
		return nil, false, err
	}
	changes, err := repo.History(ctx, path, "")
	if _, none := errors.AsType[*git.RevisionError](err); none || err == nil && len(changes) == 0 {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	slices.Reverse(changes)
	read := func(blobs []string, take func(string, []byte)) error { return repo.Blobs(ctx, blobs, take) }
	turns, err = orient.Turns(changes, read, a.Schema)
	return turns, err == nil, err
}

// Point is an issue as a commit left it.
type Point struct {
	Commit   string  `json:"commit"`
	Time     string  `json:"time"`
	Subject  string  `json:"subject"`
	Surprise float64 `json:"surprise"`
	Progress string  `json:"progress"`
	Cynefin  string  `json:"cynefin"`
	Handoff  bool    `json:"handoff"`
}

// Trajectory lists the commits that changed an issue's signals or estimate,
// the oldest first.
func (a *App) Trajectory(ctx context.Context, store beads.Place, id, since string) ([]Point, error) {
	repo, path, err := a.Git(store)
	if err != nil {
		return nil, err
	}
	after, isTime := dateOrTime(since)
	revision := since
	if isTime {
		revision = ""
	}
	changes, err := repo.History(ctx, path, revision)
	var unknown *git.RevisionError
	if errors.As(err, &unknown) {
		return nil, Usage(unknown.Reason, "the trajectory of an issue is git's history of "+Shortest(store.File()))
	}
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c git.Change) bool { return c.Time.Before(after) })
	slices.Reverse(changes)
	past, err := a.pastOf(ctx, repo, changes, id)
	if err != nil {
		return nil, err
	}
	points := []Point{}
	for _, c := range changes {
		if p, ok := pointAt(c, past, id); ok {
			points = append(points, p)
		}
	}
	return points, nil
}

// dateOrTime reads YYYY-MM-DD, the beginning of that day in UTC, or RFC 3339.
func dateOrTime(text string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	t, err := time.Parse(time.DateOnly, text)
	return t, err == nil || text == ""
}

// state is what a version of the store says of an issue.
type state struct {
	table    *signals.Table
	estimate string
}

// pastOf reads an issue in all versions that the changes name; nil where it
// was not there.
func (a *App) pastOf(ctx context.Context, repo git.Client, changes []git.Change, id string) (map[string]*state, error) {
	past := map[string]*state{}
	var blobs []string
	for _, c := range changes {
		for _, blob := range append([]string{c.After}, c.Before...) {
			if _, known := past[blob]; !known && blob != "" {
				past[blob] = nil
				blobs = append(blobs, blob)
			}
		}
	}
	known := map[string]*state{} // by the notes, which most versions share
	err := repo.Blobs(ctx, blobs, func(blob string, text []byte) {
		record := beads.RecordIn(text, id)
		if record == nil {
			return
		}
		text = record.Raw(beads.Notes)
		if known[string(text)] == nil {
			known[string(text)] = stateOf(record, a.Schema)
		}
		past[blob] = known[string(text)]
	})
	return past, err
}

func stateOf(record *beads.Record, schema *signals.Schema) *state {
	doc := notes.Parse(record.Text(beads.Notes))
	estimate, _ := signals.LastEstimate(doc)
	return &state{table: signals.Read(doc, schema), estimate: estimate.Date + "\n" + estimate.Body}
}

// differs reports whether the signals or the estimate are others.
func (s *state) differs(from *state) bool {
	return from == nil || s.estimate != from.estimate || slices.ContainsFunc(signals.All(), func(signal signals.Signal) bool {
		return s.table.Value(signal) != from.table.Value(signal)
	})
}

// pointAt is the issue after a commit, if that commit changed it: a merge does
// when it is different from every parent.
func pointAt(c git.Change, past map[string]*state, id string) (p Point, changed bool) {
	now := past[c.After]
	if now == nil {
		return p, false
	}
	handoff := isCheckpointOf(c.Subject, id)
	for _, blob := range c.Before {
		if !now.differs(past[blob]) {
			return p, false
		}
	}
	estimated := !slices.ContainsFunc(c.Before, func(blob string) bool {
		before := past[blob]
		return before != nil && before.estimate == now.estimate || before == nil && now.estimate == "\n"
	})
	surprise, err := strconv.ParseFloat(now.table.Value(signals.Surprise), 64)
	if err != nil { // the schema takes nothing but numbers
		surprise = 0
	}
	return Point{
		Commit: c.Commit, Time: c.Time.UTC().Format(time.RFC3339), Subject: c.Subject, Surprise: surprise,
		Progress: now.table.Value(signals.Progress), Cynefin: now.table.Value(signals.Cynefin),
		Handoff: handoff || estimated,
	}, true
}

// isCheckpointOf reads the subject that checkpoint --commit writes.
func isCheckpointOf(subject, id string) bool {
	rest, ok := strings.CutPrefix(subject, "chore(beads): checkpoint ")
	first, _, _ := strings.Cut(rest, " ")
	return ok && first == id
}

// Past opens the store as it was where the present commit left a revision, so
// that what others did there since is not taken for what was undone here. It is
// nil for "", and for a revision from before there was a store or any commit; the
// function that it gives closes it.
func (a *App) Past(ctx context.Context, store beads.Place, revision string) (*lint.Past, func(), error) {
	if revision == "" {
		return nil, func() {}, nil
	}
	repo, _, err := a.Git(store)
	if err != nil {
		return nil, nil, err
	}
	if revision == "HEAD" && unborn(ctx, repo) {
		a.Warn("no commit yet: nothing to compare the store with")
		return nil, func() {}, nil
	}
	left, err := whereLeft(ctx, repo, revision)
	if err != nil {
		return nil, nil, unknownRevision(err, store)
	}
	file, forget, err := a.openAt(ctx, store, left)
	if err == nil {
		return &lint.Past{File: file, Name: revision, Gate: gateSince(ctx, repo, store, left)}, forget, nil
	}
	if _, missing := errors.AsType[*git.RevisionError](err); !missing {
		return nil, nil, err
	}
	had, e := hadStore(ctx, repo, left)
	if e != nil {
		return nil, nil, e
	}
	if had {
		return nil, nil, unknownRevision(err, store)
	}
	a.Warn("%s: has no store yet: nothing to compare this one with", revision)
	return nil, func() {}, nil
}

// gateSince lists the settings of the repository that say what passes the gate, as far as
// they differ from those in a commit. A file that cannot be read sets nothing.
func gateSince(ctx context.Context, repo git.Client, store beads.Place, commit string) (differ []string) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(store.Dir))
	if err != nil {
		return nil
	}
	file := filepath.Join(dir, ".stig.cue")
	var text bytes.Buffer
	_ = repo.FileAt(ctx, commit, file, &text) // it may have none
	now, err := jsonl.ReadText(file)
	if err != nil && !IsAbsent(err) || bytes.Equal(now, text.Bytes()) {
		return nil
	}
	var was, is Config
	_ = cue.Decode(schemas.Config, "#Config", file, text.Bytes(), &was)
	_ = cue.Decode(schemas.Config, "#Config", file, now, &is) // every command says what is wrong with it
	set := func(name, from, to string) {
		if from != to {
			differ = append(differ, fmt.Sprintf("gate.%s is %q, was %q", name, to, from))
		}
	}
	set("env", strings.Join(was.Gate.Env, " "), strings.Join(is.Gate.Env, " "))
	set("sandbox", strings.Join(was.Gate.Sandbox, " "), strings.Join(is.Gate.Sandbox, " "))
	set("waivers", cmp.Or(was.Gate.Waivers, "people"), cmp.Or(is.Gate.Waivers, "people"))
	return differ
}

// unborn reports whether HEAD is a branch without a commit: a hook that runs before
// the first one must let it pass.
func unborn(ctx context.Context, repo git.Client) bool {
	branch, err := repo.Run(ctx, "symbolic-ref", "-q", "HEAD")
	if err != nil || branch.Exit != 0 {
		return false
	}
	commit, err := repo.Run(ctx, "rev-parse", "-q", "--verify", "HEAD")
	return err == nil && commit.Exit != 0
}

// whereLeft is the last commit that a revision and the present one share.
func whereLeft(ctx context.Context, repo git.Client, revision string) (string, error) {
	commit, err := repo.Commit(ctx, revision)
	if err != nil {
		return "", err
	}
	base, err := repo.Run(ctx, "merge-base", commit, "HEAD")
	if err != nil {
		return "", err
	}
	if base.Exit != 0 {
		return "", Usage(fmt.Sprintf("%q: shares no commit with HEAD", revision),
			"name an earlier commit of this branch; in a shallow clone type git fetch --unshallow")
	}
	return strings.TrimSpace(string(base.Stdout)), nil
}

// hadStore reports whether a commit holds any store: one that was moved since
// must not pass for one that is new. What lies deeper in a .beads, such as the
// backups of bd, is none.
func hadStore(ctx context.Context, repo git.Client, commit string) (bool, error) {
	files, err := repo.Must(ctx, "ls-tree", "-r", "-z", "--full-tree", "--name-only", commit)
	if err != nil {
		return false, err
	}
	for file := range strings.SplitSeq(files, "\x00") {
		if dir, name := path.Split(file); path.Base(dir) == ".beads" && strings.HasSuffix(name, ".jsonl") {
			return true, nil
		}
	}
	return false, nil
}

// PrepareCommit checks that the store can be committed and gives the function
// that does it once the checkpoint of an issue is written.
func (a *App) PrepareCommit(ctx context.Context, store beads.Place) (func(id string) (string, error), error) {
	committer, err := checkpoint.PrepareCommit(ctx, store, a.Environ())
	if err != nil {
		return nil, err
	}
	return func(id string) (string, error) { return committer.Commit(ctx, id) }, nil
}

// Git runs git beside the store, whose path it gives as git knows it: that of its file,
// or of the copy of one on a server. Where there is no copy, the error is a fault.Usage.
func (a *App) Git(store beads.Place) (repo git.Client, path string, err error) {
	if store.File() == "" {
		return git.Client{}, "", Usage(store.Name()+": no copy of it is in git, which would hold its past",
			`write "sync_file": true into `+store.Path+", then type stig store sync and commit what it writes")
	}
	if path, err = filepath.Abs(store.File()); err != nil {
		return git.Client{}, "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if store.Mode == beads.Server && errors.Is(err, fs.ErrNotExist) { // it was not written yet
		real, err = path, nil
	}
	return a.GitIn("").Beside(real), real, err
}

// openAt reads the store as it was committed at a revision. The function that
// it gives closes it.
func (a *App) openAt(ctx context.Context, store beads.Place, revision string) (*beads.Snapshot, func(), error) {
	repo, path, err := a.Git(store)
	if err != nil {
		return nil, nil, err
	}
	copied, err := os.CreateTemp("", "stig-*.jsonl")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.Remove(copied.Name()) }
	err = repo.FileAt(ctx, revision, path, copied)
	if e := copied.Close(); err == nil {
		err = e
	}
	if err != nil {
		remove()
		return nil, nil, err
	}
	file, err := jsonl.Read(beads.Place{Path: copied.Name(), Dir: filepath.Dir(copied.Name())})
	if err != nil {
		remove()
		return nil, nil, err
	}
	a.warnOfLinesAt(revision, store, file)
	return file, func() {
		_ = file.Close()
		remove()
	}, nil
}

// unknownRevision turns the error about a revision that has no store into one
// about the command line.
func unknownRevision(err error, store beads.Place) error {
	if unknown, ok := errors.AsType[*git.RevisionError](err); ok {
		return Usage(unknown.Reason, cmp.Or(unknown.Hint, "name a commit that has the store: see git log --oneline -- "+Shortest(store.File())))
	}
	return err
}

// warnOfLinesAt names the first line of a revision that cannot be read.
func (a *App) warnOfLinesAt(revision string, store beads.Place, file *beads.Snapshot) {
	if problems := file.Problems(); len(problems) > 0 {
		a.Warn("%s:%s:%d: %s", revision, Shortest(store.File()), problems[0].Line, problems[0].Message)
	}
}
