package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/gate"
	"stig/internal/git"
	"stig/internal/lint"
	"stig/internal/merge"
	"stig/internal/store/jsonl"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// CheckRequest says what to check, and where.
type CheckRequest struct {
	Command string   // check, vet, cycles or lint; check runs the rules of all
	IDs     []string // of vet and lint: the issues to check; none means all
	Against string   // of check: a revision to compare the store with; may be empty
	Verify  bool     // of check: rerun the criteria of issues closed since Against
}

// Checked is the result of a check.
type Checked struct {
	Command string
	Rules   []lint.Rule // the rules that were checked
	Found   []lint.Diagnostic
	Issues  int    // number of issues checked
	Store   string // path of the store
	Proven  []Proof
}

// Proof is the result of rerunning the criteria of a closed issue.
type Proof struct {
	ID     string `json:"id"`
	Passed bool   `json:"passed"`
	Reused bool   `json:"reused"` // they passed on this tree before
	Failed string `json:"failed"` // the first failure; "" if all passed
	// Green reports whether all passed at the revision too, although the issue does not say
	// that this is intended.
	Green    bool     `json:"green_before"`
	Weakened []string `json:"weakened,omitempty"` // files that they read; with the older versions of these they fail
}

// Check validates the store, or some of its issues.
func Check(ctx context.Context, a *workspace.Run, r CheckRequest) (*Checked, error) {
	if r.Verify && r.Against == "" {
		return nil, workspace.Usage("--verify: requires --against", "type stig check --against origin/main --verify")
	}
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	only, err := indices(file, r.IDs)
	if err != nil {
		return nil, err
	}
	past, forget, err := past(ctx, a, store.Place(), r.Against)
	if err != nil {
		return nil, err
	}
	defer forget()
	c := &Checked{Command: r.Command, Rules: lint.Of(looksFor(r.Command, past.Past)...), Issues: file.Len(), Store: store.Place().File()}
	if only != nil {
		c.Issues = len(only)
	}
	c.Found, err = lookFor(ctx, a, r, c, file, only, past)
	if err == nil && r.Command != "cycles" {
		c.Found, err = openQuestions(ctx, a, c.Found, store.Place())
	}
	if err != nil {
		return nil, err
	}
	if past.Past != nil {
		c.Found = ofBranch(a, c.Found, file, past.Past)
	}
	return c, nil
}

// lookFor returns the diagnostics of a command's rules.
func lookFor(ctx context.Context, a *workspace.Run, r CheckRequest, c *Checked, file *beads.Snapshot, only []int, past base) ([]lint.Diagnostic, error) {
	switch r.Command {
	case "vet":
		now, err := a.Clock()
		if err != nil {
			return nil, err
		}
		return lint.Vet(file, only, lint.Rules{Schema: a.Schema, Now: now})
	case "cycles":
		a.WarnOfStore(file) // the rules of cycles do not cover unreadable lines
		return lint.Cycles(file, dag.New(file)), nil
	}
	rules, err := checkRules(ctx, a, file.Place(), past.Past)
	if err != nil {
		return nil, err
	}
	if r.Verify && past.byReview(a) {
		rules.Review = true
		if rules.Worked, err = workedOn(ctx, a, file, past); err != nil {
			return nil, err
		}
		past.restore(&a.Config)
	}
	if r.Verify {
		rules.Prove = func(ids []string) ([]lint.Proof, error) { return prove(ctx, a, c, file, past, ids) }
	}
	if r.Command == "lint" {
		return lint.Lint(file, only, rules)
	}
	return lint.Check(file, dag.New(file), rules)
}

// workedOn returns the issues that commits since a base name, were open there, and have something
// to run. Of the others reviewers are told.
func workedOn(ctx context.Context, a *workspace.Run, file *beads.Snapshot, past base) (ids []string, err error) {
	named, err := a.GitIn(file.Place().Dir).IssuesSince(ctx, past.Name)
	if err != nil {
		return nil, err
	}
	if len(named) == 0 {
		a.Note("no commit since %s has the trailer %s: no criteria to run", past.Name, git.IssueTrailer)
	}
	for _, id := range named {
		if _, here := file.Index(id); !here {
			continue // another tracker's, or vanished
		}
		issue, record, err := past.judge(a, file, id).FindRecord(id)
		switch {
		case err != nil:
			return nil, err
		case beads.IsClosed(issue.Status):
		case !gate.Asks(gate.Of(record).Plan()):
			a.Note("%s: nothing in its criteria can be run: its reviewers judge the work", id)
		default:
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// looksFor returns the commands whose rules a command checks.
func looksFor(command string, past *lint.Past) []string {
	switch {
	case command != "check":
		return []string{command}
	case past == nil:
		return []string{"check", "vet", "cycles", "lint"}
	}
	return []string{"check", "vet", "cycles", "lint", "against"}
}

// ofBranch drops info diagnostics of unchanged issues and prints how many it dropped.
func ofBranch(a *workspace.Run, found []lint.Diagnostic, file *beads.Snapshot, past *lint.Past) []lint.Diagnostic {
	all := len(found)
	found = slices.DeleteFunc(found, func(d lint.Diagnostic) bool { return untouched(d, file, past.File) })
	if left := all - len(found); left > 0 {
		a.Note("%s about issues unchanged since %s: stig check", visible.Counted(left, "more info"), past.Name)
	}
	return found
}

// untouched reports whether a diagnostic is an info and its issue is byte-for-byte unchanged,
// so that it does not concern a reviewer of the branch.
func untouched(d lint.Diagnostic, now, past *beads.Snapshot) bool {
	if d.Severity != lint.Info {
		return false
	}
	at, here := now.Index(d.ID)
	was, there := past.Index(d.ID)
	if !here || !there {
		return false
	}
	after, err := now.At(at).Record()
	if err != nil {
		return false
	}
	before, err := past.At(was).Record()
	return err == nil && bytes.Equal(before.Bytes(), after.Bytes())
}

// checkRules returns the rules that the store is validated against.
func checkRules(ctx context.Context, a *workspace.Run, store beads.Place, past *lint.Past) (lint.Rules, error) {
	unfinished, err := a.Unfinished(ctx, store, true)
	if err != nil {
		return lint.Rules{}, err
	}
	now, err := a.Clock()
	return lint.Rules{
		Schema: a.Schema, Now: now, Past: past, Unfinished: unfinished, MayHold: a.Config.MayHold,
		Commits: func(names []string) ([]bool, error) {
			return a.GitIn(filepath.Dir(store.Dir)).Commits(ctx, names)
		},
	}, err
}

// prove reruns the criteria of issues and returns, for each issue, why they fail and whether
// they prove its work. It needs no trust: the flag is the consent. Criteria that passed on this
// tree are not rerun.
func prove(ctx context.Context, a *workspace.Run, c *Checked, file *beads.Snapshot, past base, ids []string) ([]lint.Proof, error) {
	code, err := a.Code(ctx, file.Place())
	if err != nil {
		return nil, err
	}
	fresh, err := code.Fresh(ctx)
	if err != nil {
		return nil, err
	}
	c.Proven = make([]Proof, len(ids))
	var passing, due []*GateRun // passed, and still to run
	for i, id := range ids {
		t, err := retrial(a, code, past.judge(a, file, id), id)
		if err != nil {
			return nil, err
		}
		t.proof = &c.Proven[i]
		t.proof.ID = id
		if t.Verdict, t.proof.Reused = fresh(id, t.criteria); t.proof.Reused {
			passing = append(passing, t)
		} else if t.Asks() {
			due = append(due, t)
		} else {
			t.proof.Failed = "nothing in its criteria can be run"
		}
	}
	verdicts, err := runAll(ctx, a, due, GateRunOptions{})
	if err != nil {
		return nil, err
	}
	kept, keeps := code.Verdicts()
	for n, v := range verdicts {
		due[n].Verdict = v
		if due[n].proof.Failed = firstFailure(v); due[n].proof.Failed == "" {
			passing = append(passing, due[n])
		}
		if keeps {
			err = errors.Join(err, kept.Save(v))
		}
	}
	if err == nil {
		err = proveBefore(ctx, a, code, file.Place(), past.Name, passing)
	}
	proofs := make([]lint.Proof, len(ids))
	for i, p := range c.Proven {
		c.Proven[i].Passed = p.Failed == ""
		proofs[i] = lint.Proof{Failed: p.Failed, Green: p.Green, Weakened: p.Weakened}
	}
	return proofs, err
}

// runAll runs the checks of issues in parallel and returns their verdicts in the order of the
// list.
func runAll(ctx context.Context, a *workspace.Run, list []*GateRun, o GateRunOptions) ([]*gate.Verdict, error) {
	batch := gate.Batch{Parallel: parallel(a), Out: a.Progress, Terminal: a.Terminal, Now: a.Now}
	for _, t := range list {
		job, err := job(ctx, a, t, o)
		if err != nil {
			return nil, err
		}
		batch.Jobs = append(batch.Jobs, job)
	}
	return gate.RunAll(ctx, batch)
}

// parallel returns how many issues are checked at once.
func parallel(a *workspace.Run) int {
	const most = 4
	return cmp.Or(a.Config.Gate.Jobs, min(most, runtime.NumCPU()))
}

// retrial plans the criteria that an issue has in a store.
func retrial(a *workspace.Run, s *workspace.Code, file *beads.Snapshot, id string) (*GateRun, error) {
	issue, record, err := file.FindRecord(id)
	if err != nil {
		return nil, err
	}
	found := gate.Of(record)
	meant := a.Config.MayHold(record.Labels()) || gate.SaysGreenBefore(record.Text(beads.CloseReason))
	return &GateRun{Code: s, Id: issue.ID, criteria: found, Plan: found.Plan(), meant: meant}, nil
}

// firstFailure returns the first check that did not pass; "" if all passed.
func firstFailure(v *gate.Verdict) string {
	for _, o := range v.Outcomes() {
		if !o.Passed() {
			return fmt.Sprintf("exit %d: %q", o.Exit, o.Named())
		}
	}
	return ""
}

// indices returns the indices of the named issues; nil means all.
func indices(file *beads.Snapshot, ids []string) ([]int, error) {
	issues, err := file.FindAll(ids)
	var only []int
	for _, issue := range issues {
		at, _ := file.Index(issue.ID)
		only = append(only, at)
	}
	return only, err
}

// Output returns the result of a check as data.
func (c *Checked) Output() workspace.Output {
	return workspace.NewOutput("check", struct {
		Counts   lint.Counts       `json:"counts"`
		Found    []lint.Diagnostic `json:"diagnostics"`
		Issues   int               `json:"issues"`
		Verified []Proof           `json:"verified,omitzero"` // nil unless requested
	}{lint.Count(c.Found), append([]lint.Diagnostic{}, c.Found...), c.Issues, c.Proven})
}

// Fixed is the result of Fix.
type Fixed struct {
	Repeats []merge.Repeat // lines removed because another line says the same
	Changes []beads.Change
	Left    []lint.Diagnostic // of a dry run: what vet would still find
}

// Fix removes lines that repeat another line and rewrites values that have only one meaning, in
// the named issues or in all.
func Fix(ctx context.Context, a *workspace.Run, ids []string, dryRun bool) (*Fixed, error) {
	options, err := a.Options(dryRun)
	if err != nil {
		return nil, err
	}
	store, err := a.Discover()
	if err != nil {
		return nil, err
	}
	if err := a.RefuseUnfinished(ctx, store.Place()); err != nil {
		return nil, err
	}
	f := &Fixed{}
	if f.Repeats, err = untwine(ctx, a, store, options, ids); err != nil {
		return nil, err
	}
	checked, err := Check(ctx, a, CheckRequest{Command: "vet", IDs: ids})
	if err != nil {
		return nil, err
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	twice := file.Repeated()
	fixable := slices.DeleteFunc(slices.Clone(checked.Found), func(d lint.Diagnostic) bool { return twice[d.ID] > 0 })
	rules := lint.Rules{Schema: a.Schema}
	if f.Changes, err = lint.Fix(ctx, store, options, fixable, rules); err != nil || !dryRun {
		return f, err
	}
	for _, r := range f.Repeats {
		twice[r.About]--
	}
	left := slices.DeleteFunc(checked.Found, func(d lint.Diagnostic) bool { return d.Rule == beads.DuplicateID && twice[d.ID] == 1 })
	f.Left, err = lint.Remaining(file, left, f.Changes, rules)
	return f, err
}

// untwine removes repeated lines from a store in a file: those of the named issues, or all. It
// writes nothing if a line cannot be read.
func untwine(ctx context.Context, a *workspace.Run, store beads.Store, o beads.Options, ids []string) (gone []merge.Repeat, err error) {
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	damaged := func(p beads.Problem) bool { return p.Rule != beads.DuplicateID }
	if store.Place().Mode != beads.Plain || file.Distinct() || slices.ContainsFunc(file.Problems(), damaged) {
		return nil, nil
	}
	named, err := file.FindAll(ids)
	if err != nil {
		return nil, err
	}
	repeats := func(text string) []merge.Repeat {
		return slices.DeleteFunc(merge.Repeats(text), func(r merge.Repeat) bool {
			return len(named) > 0 && !slices.ContainsFunc(named, func(is *beads.Issue) bool { return is.ID == r.About })
		})
	}
	if o.DryRun {
		text, err := workspace.ReadText(store.Place().Path)
		return repeats(text), workspace.Placed(err)
	}
	err = a.Rewrite(ctx, store.Place(), o, func(text string) (splices []jsonl.Splice, err error) {
		gone = repeats(text)
		for _, r := range gone {
			splices = append(splices, jsonl.Splice{Start: r.Start, End: r.End})
		}
		return splices, nil
	})
	return gone, err
}
