package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/checkpoint"
	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/gate"
	"stig/internal/lint"
	"stig/internal/process"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/notes"
	"stig/signals"
)

// These services write to an existing issue. Each is one edit of the store: all of it is
// written, or nothing.

// CheckpointRequest is what a worker reports about one issue. A text that is nil is
// not given; one that is given must say something.
type CheckpointRequest struct {
	ID        string
	Signals   map[signals.Signal]string
	Estimate  signals.Estimate // parts; each replaces that part of the estimate that is there
	Text      *string          // the whole estimate, in place of parts
	Seen      *string          // the estimate that Text was written over; another one by now is refused
	Question  *string          // is asked of a person: escalation becomes pending
	Evidence  *string          // what was run, and what it said; evidence-freshness becomes today
	Replace   bool             // the parts replace the whole estimate
	Fold      bool             // takes away the estimates that merges kept beside the live one
	NoContext bool             // allows implementing or blocked without an estimate
	Reaffirm  bool             // dates the given signals even where their value stays
	Commit    bool             // commits the store alone
	DryRun    bool
}

// Empty reports whether there is nothing to write.
func (r CheckpointRequest) Empty() bool {
	return len(r.Signals) == 0 && r.Estimate.Empty() && r.Text == nil && r.Question == nil && r.Evidence == nil && !r.Replace && !r.Fold
}

// update is the request as package checkpoint takes it, which asks for a question
// and for evidence that say something.
func (r CheckpointRequest) update() (u checkpoint.Update, err error) {
	u = checkpoint.Update{
		Signals: r.Signals, Reaffirm: r.Reaffirm, Estimate: r.Estimate, Replace: r.Replace, Fold: r.Fold, Seen: r.Seen, NoContext: r.NoContext,
	}
	if r.Text != nil && IsBlank(*r.Text) {
		return u, workspace.Usage("the state estimate is empty", "say how things stand, or leave out -m, --file and -")
	}
	if r.Text != nil && !u.Estimate.Empty() {
		return u, workspace.Usage("the state estimate is given twice", "give one text, or --done --learned --remains --downstream")
	}
	if r.Text != nil {
		u.Estimate.Body = *r.Text
	}
	if r.Replace && u.Estimate.Empty() {
		return u, workspace.Usage("--replace: no state estimate is given", "give one with --done … --learned … --remains … --downstream …")
	}
	if r.Question != nil {
		if u.Question.Text = *r.Question; IsBlank(u.Question.Text) {
			return u, workspace.Usage("--escalate: the question is empty", "say what a person has to decide, or leave it out")
		}
	}
	if r.Evidence != nil {
		if u.Ran = *r.Evidence; IsBlank(u.Ran) {
			return u, workspace.Usage("--evidence: says nothing", "say what was run, and what it said")
		}
		if _, given := r.Signals[signals.EvidenceFreshness]; given {
			return u, workspace.Usage("--evidence is of today, and --evidence-freshness gives a day too", "leave one of them out")
		}
	}
	if r.Empty() {
		return u, workspace.Usage("nothing to write", "give a signal such as --surprise 0.2, or a state estimate with --done … or -m …")
	}
	return u, nil
}

func IsBlank(text string) bool { return strings.TrimSpace(text) == "" }

// Checkpointed says what a checkpoint changed, and what is wrong with its issue since.
type Checkpointed struct {
	*checkpoint.Report
	Findings []lint.Diagnostic `json:"findings"`
}

// Checkpoint writes signals and the state estimate of an issue, commits the store
// where that is asked for, and notifies of what follows.
func Checkpoint(ctx context.Context, a *workspace.Run, r CheckpointRequest) (*Checkpointed, error) {
	update, err := r.update()
	if err != nil {
		return nil, err
	}
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	update.Evidence, update.By = a.Config.Signals.Evidence, a.Named()
	if update.Question.Text != "" { // who asks is on record; nothing else of a checkpoint names its actor
		if update.Question.By, err = a.ActorName(ctx); err != nil {
			return nil, err
		}
	}
	commit := func(context.Context, string) (string, error) { return "", nil }
	if r.Commit && !r.DryRun {
		if commit, err = PrepareCommit(ctx, a, store.Place()); err != nil {
			return nil, err
		}
	}
	report, err := checkpoint.Write(ctx, store, options, r.ID, update, writeRules(a, options.Now))
	if err != nil {
		return nil, err
	}
	warnOfHolder(ctx, a, report)
	if !r.DryRun {
		a.Hold(ctx, store.Place(), report.ID, "")
		notify(ctx, a, store.Place(), options.Now, reportNotices(report, update.Question, options.Now))
	}
	if report.Commit, err = commit(ctx, report.ID); err != nil {
		return nil, err
	}
	findings, err := findings(a, store.Place(), report.Lines, options.Now)
	return &Checkpointed{report, findings}, err
}

// warnOfHolder warns who writes a checkpoint of an issue that another has in progress: it may
// have been taken from them, and both go on.
func warnOfHolder(ctx context.Context, a *workspace.Run, report *checkpoint.Report) {
	holder := ""
	for _, line := range report.Lines {
		r, err := beads.ParseRecord(line.After)
		if err == nil && line.ID == report.ID && r.Text(beads.Status) == beads.StatusInProgress {
			holder = r.Text(beads.Assignee)
		}
	}
	if holder == "" {
		return
	}
	who, err := a.ActorName(ctx)
	if err == nil && who != "" && !clone.SamePerson(who, holder) {
		a.Warn("%s: is claimed by %s, and not by you, %s", report.ID, holder, who)
	}
}

// findings are what the changes of notes brought that a check finds.
func findings(a *workspace.Run, store beads.Place, changes []beads.Change, now time.Time) ([]lint.Diagnostic, error) {
	all := []lint.Diagnostic{}
	for _, c := range changes {
		appeared, err := lint.Appeared(store, c, lint.Rules{Schema: a.Schema, Now: now})
		if err != nil {
			return nil, err
		}
		all = append(all, appeared...)
	}
	return all, nil
}

// writeRules are what an edit of an issue is validated against.
func writeRules(a *workspace.Run, now time.Time) checkpoint.Rules {
	return checkpoint.Rules{Schema: a.Schema, Now: now}
}

// EstimateForm is the state estimate of an issue as a form to write the next one
// in, and its text as it stands.
func EstimateForm(a *workspace.Run, id string) (form, seen string, err error) {
	now, err := a.Clock()
	if err != nil {
		return "", "", err
	}
	_, doc, err := notesOf(a, id)
	if err != nil {
		return "", "", err
	}
	there, _ := signals.LastEstimate(doc)
	return signals.EstimateForm(doc, signals.Day(now)), there.Body, nil
}

// notesOf reads the notes of an issue, and gives its full id.
func notesOf(a *workspace.Run, id string) (full string, doc *notes.Doc, err error) {
	file, at, err := OpenIssue(a, id)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	record, err := file.At(at).Record()
	if err != nil {
		return "", nil, err
	}
	return file.At(at).ID, notes.Parse(record.Text(beads.Notes)), nil
}

// PropagateRequest is a discovery made in one issue. Without To it is for the
// unclosed issues that wait for it.
type PropagateRequest struct {
	ID     string
	To     []string
	Text   string
	DryRun bool
}

// Propagate puts a discovery into the notes of other issues.
func Propagate(ctx context.Context, a *workspace.Run, r PropagateRequest) (*checkpoint.Propagated, error) {
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	return checkpoint.Propagate(ctx, store, options, r.ID, r.To, r.Text, writeRules(a, options.Now))
}

// ReopenRequest opens a closed issue again, and says why.
type ReopenRequest struct {
	ID, Reason string
	DryRun     bool
}

// Reopen opens a closed issue again, and forgets what its checks showed here. One that was a
// worker's whose loop has ended is nobody's then.
func Reopen(ctx context.Context, a *workspace.Run, r ReopenRequest) (*checkpoint.Reopened, error) {
	if err := NeedsReason(r.Reason, "what is wrong with it"); err != nil {
		return nil, err
	}
	store, options, actor, err := a.ToWriteAs(ctx, r.DryRun, a.ActorName)
	if err != nil {
		return nil, err
	}
	ended := func(string) bool { return false } // where there is no live state nothing says so
	if place, err := a.Live(store.Place()); err == nil {
		ended = func(name string) bool { return name != actor && hasEnded(place, name) }
	}
	reopened, err := checkpoint.Reopen(ctx, store, options, r.ID, r.Reason, actor, ended, writeRules(a, options.Now))
	if err != nil || !reopened.Changed || r.DryRun {
		return reopened, err
	}
	if err := forgetVerdict(ctx, a, store.Place(), reopened.ID); err != nil {
		a.Warn("%s: what its checks showed before may close it again: %v", reopened.ID, err)
	}
	return reopened, nil
}

// forgetVerdict makes the checks of an issue run again before it closes, even if nothing in
// the work tree changes: what they showed was not enough.
func forgetVerdict(ctx context.Context, a *workspace.Run, store beads.Place, id string) error {
	code, err := a.Code(ctx, store)
	if err != nil {
		return err
	}
	if kept, ok := code.Verdicts(); ok {
		err = kept.Forget(id)
	}
	return err
}

// NeedsReason refuses a reason that is empty; what is the reason that is asked for.
func NeedsReason(reason, what string) error {
	if IsBlank(reason) {
		return workspace.Usage("a reason is missing", "say with --reason "+what)
	}
	return nil
}

// AmendForm is the fields of an issue as a form to change them in.
type AmendForm struct {
	ID, Text string
	record   *beads.Record
}

// OpenForm gives the fields of an issue as they stand.
func OpenForm(a *workspace.Run, id string) (*AmendForm, error) {
	file, at, err := OpenIssue(a, id)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	record, err := file.At(at).Record()
	if err != nil {
		return nil, err
	}
	form, ok := checkpoint.Form(record)
	if !ok {
		return nil, workspace.Usage(record.Text(beads.ID)+": a text of it holds a line that separates texts here", "change fields with flags, such as --title")
	}
	return &AmendForm{record.Text(beads.ID), form, record}, nil
}

// Read gives the fields that were changed in the form.
func (f *AmendForm) Read(form string, now time.Time) (checkpoint.Amendment, error) {
	return checkpoint.ParseForm(form, f.record, now)
}

// AmendRequest changes fields of issues: by the same amendment, or by one for each.
type AmendRequest struct {
	IDs    []string
	Each   []checkpoint.Amendment // one for all, or as many as there are ids
	Claim  bool                   // claims them first, as bd update --claim does
	DryRun bool
}

// FromProse proposes acceptance criteria of issues with a fence of what their prose reads
// like, and gives for each the fence, as a person is to see it. Criteria of the description
// go into the field too: beside that they do not count.
func FromProse(a *workspace.Run, ids []string) (each []checkpoint.Amendment, shown []string, err error) {
	if len(ids) == 0 {
		return nil, nil, workspace.Usage("--acceptance-from-prose: no issue is named", "name one: stig edit ID --acceptance-from-prose")
	}
	file, err := a.Open()
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	for _, id := range ids {
		issue, record, err := file.FindRecord(id)
		if err != nil {
			return nil, nil, err
		}
		text, fence := gate.Of(record).FromProse()
		if fence == "" {
			return nil, nil, &fault.Error{Code: fault.Refused, ID: issue.ID, Reason: "no prose of its criteria reads like a command that is not run yet",
				Hint: "type stig verify " + issue.ID + " --plan to see what is read of them"}
		}
		each, shown = append(each, checkpoint.Amendment{Acceptance: &text}), append(shown, issue.ID+": from its prose\n"+fence)
	}
	return each, shown, nil
}

// Amended says what became of several issues.
type Amended struct {
	Edited  []*checkpoint.Amended
	Changes []beads.Change
}

// Amend changes fields of issues, of all or of none, and warns of criteria in which
// nothing can be run. Claims come first, and each is an edit of its own.
func Amend(ctx context.Context, a *workspace.Run, r AmendRequest) (*Amended, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if !r.Claim {
		return amend(ctx, a, r)
	}
	result := &Amended{}
	for _, id := range r.IDs {
		claimed, err := Claim(ctx, a, ClaimRequest{ID: id, DryRun: r.DryRun})
		if err != nil {
			return nil, err
		}
		one := &checkpoint.Amended{ID: claimed.ID, Changed: []string{}, Warnings: []string{}}
		if claimed.Changed {
			one.Changed = append(one.Changed, string(beads.Status), string(beads.Assignee))
		}
		result.Edited, result.Changes = append(result.Edited, one), append(result.Changes, claimed.Lines...)
	}
	if r.Each[0].IsEmpty() {
		return result, nil
	}
	amended, err := amend(ctx, a, r)
	if err != nil {
		return nil, err
	}
	for i, one := range amended.Edited {
		one.Changed = append(result.Edited[i].Changed, one.Changed...)
	}
	amended.Changes = append(result.Changes, amended.Changes...)
	return amended, nil
}

func amend(ctx context.Context, a *workspace.Run, r AmendRequest) (*Amended, error) {
	store, options, actor, err := a.ToWriteAs(ctx, r.DryRun, a.ActorName)
	if err != nil {
		return nil, err
	}
	for i := range r.Each {
		m := &r.Each[i]
		if m.Assignee == nil {
			continue
		}
		name, err := a.Assignee(ctx, *m.Assignee)
		if err != nil {
			return nil, &checkpoint.BatchError{At: i, Line: m.Line, Err: err}
		}
		m.Assignee = &name
	}
	_, before, _ := leases(a, store.Place(), options.Now)
	edited, changes, err := checkpoint.Amend(ctx, store, options, r.IDs, actor, func(i int) checkpoint.Amendment {
		m := r.Each[min(i, len(r.Each)-1)]
		m.Types, m.MayTake = a.Config.Types, func(holder string) bool { return holder == actor || a.MayTake(actor)(holder) }
		return m
	})
	if err != nil {
		return nil, err
	}
	if !r.DryRun {
		endLeases(a, store.Place(), before, changes)
	}
	for i, e := range edited {
		if m := r.Each[min(i, len(r.Each)-1)]; m.Acceptance != nil {
			e.Warnings = append(e.Warnings, unprovable(gate.Find(*m.Acceptance, "", ""))...)
		}
	}
	return &Amended{edited, changes}, nil
}

// endLeases ends the leases of issues that an edit took out of progress.
func endLeases(a *workspace.Run, store beads.Place, before clone.Claims, changes []beads.Change) {
	for _, c := range changes {
		l, leased := before.Lease(c.ID)
		if !leased {
			continue
		}
		was, err := beads.ParseRecord(c.Before)
		is, bad := beads.ParseRecord(c.After)
		if err == nil && bad == nil && was.Text(beads.Status) == beads.StatusInProgress && is.Text(beads.Status) != beads.StatusInProgress {
			endLease(a, store, l, func(string) bool { return true })
		}
	}
}

func (r AmendRequest) check() error {
	if len(r.IDs) == 0 {
		return workspace.Usage("no issue to change", "name one: stig edit ID")
	}
	if len(r.Each) == 0 {
		return workspace.Usage("nothing to change", "give a field such as --title or --priority")
	}
	for _, m := range r.Each {
		switch {
		case m.IsEmpty() && !r.Claim:
			return workspace.Usage("nothing to change", "give a field such as --title or --priority; notes are changed by stig checkpoint "+r.IDs[0])
		case len(r.Each) == 1 && len(r.IDs) > 1 && m.Title != nil:
			return workspace.Usage("--title: goes with one issue; found "+visible.Counted(len(r.IDs), "issue"), "edit the title of each by itself")
		}
	}
	return nil
}

// CommentRequest is a comment on an issue.
type CommentRequest struct {
	ID, Text string
	DryRun   bool
}

// Comment adds a comment of the actor to an issue.
func Comment(ctx context.Context, a *workspace.Run, r CommentRequest) (*checkpoint.Commented, error) {
	store, options, actor, err := a.ToWriteAs(ctx, r.DryRun, a.MustActor)
	if err != nil {
		return nil, err
	}
	return checkpoint.Comment(ctx, store, options, r.ID, actor, r.Text)
}

// DeleteRequest deletes issues.
type DeleteRequest struct {
	IDs    []string
	Reason string
	Force  bool // although others depend on them, or another works on them
	DryRun bool
}

// Deleted says which issues were deleted.
type Deleted struct {
	Deleted []*checkpoint.Deleted `json:"deleted"`
	Changes []beads.Change        `json:"-"` // none where bd deleted them
}

// Delete makes issues tombstones; where bd keeps them in a database, it has bd
// delete them. In a run of a worker it refuses (fault.Found) all but the issue of the run.
func Delete(ctx context.Context, a *workspace.Run, r DeleteRequest) (*Deleted, error) {
	run, in := a.InRun()
	if in && !r.DryRun && slices.ContainsFunc(r.IDs, func(id string) bool { return id != run.Issue }) {
		return nil, a.ForPeople("delete of another issue")
	}
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	d := checkpoint.Deletion{Reason: cmp.Or(strings.TrimSpace(r.Reason), "deleted"), Force: r.Force}
	if d.Actor, err = a.MustActor(ctx); err != nil {
		return nil, err
	}
	if store.Place().ByBD() {
		return deleteByBD(ctx, a, store, r, d)
	}
	deleted, changes, err := checkpoint.Delete(ctx, store, options, r.IDs, d)
	return &Deleted{deleted, changes}, err
}

// deleteByBD has bd delete issues that it keeps in a database.
func deleteByBD(ctx context.Context, a *workspace.Run, store beads.Store, r DeleteRequest, d checkpoint.Deletion) (*Deleted, error) {
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	deleted, err := checkpoint.Deletable(file, r.IDs, d)
	if err != nil || r.DryRun {
		return &Deleted{Deleted: deleted}, err
	}
	argv := []string{"bd", "delete"}
	for _, issue := range deleted {
		argv = append(argv, issue.ID)
	}
	argv = append(argv, "--force")
	refused := &fault.Error{Code: fault.Refused, Path: store.Place().Path, Reason: "bd keeps these issues in a database and has to delete them, and no bd is on PATH",
		Hint: "type " + strings.Join(argv, " ") + " where one is"}
	if !process.Finder("", a.Getenv)("bd") {
		return nil, refused
	}
	result, err := a.BD().Run(ctx, store.Place(), argv[1:]...)
	if err == nil && result.Exit != 0 {
		refused.Reason = fmt.Sprintf("bd did not delete them: exit code %d, %q", result.Exit, strings.TrimSpace(string(result.Stderr)+string(result.Stdout)))
		err = refused
	}
	if err == nil {
		err = undeleted(store, deleted)
	}
	return &Deleted{Deleted: deleted}, err
}

// undeleted is the error of issues that bd said it deleted, and still has.
func undeleted(store beads.Store, deleted []*checkpoint.Deleted) error {
	file, err := store.Snapshot()
	if err != nil {
		return err
	}
	defer file.Close()
	for _, issue := range deleted {
		if at, there := file.Index(issue.ID); there && file.At(at).Status != beads.StatusTombstone {
			return &fault.Error{Code: fault.Changed, Path: store.Place().Name(), Reason: "bd says that it deleted " + issue.ID + ", and has it", Hint: "type bd show " + issue.ID + " to see what it holds now", Err: beads.ErrLost}
		}
	}
	return nil
}

// Duplicate closes an issue as the duplicate of o.DuplicateOf.
func Duplicate(ctx context.Context, a *workspace.Run, id string, o CloseOptions) (*checkpoint.Closed, error) {
	found, err := Close(ctx, a, []string{id}, o, func(Finding) error { return nil })
	if err != nil {
		return nil, err
	}
	return found[0].Closed, found[0].Err
}

// LinkRequest names a dependency of an issue.
type LinkRequest struct {
	ID string
	beads.Dep
	DryRun bool
}

// Link has an issue depend on another one.
func Link(ctx context.Context, a *workspace.Run, r LinkRequest) (*checkpoint.Linked, error) {
	store, options, err := toLink(ctx, a, r)
	if err != nil {
		return nil, err
	}
	actor, err := a.ActorName(ctx)
	if err != nil {
		return nil, err
	}
	return checkpoint.Link(ctx, store, options, r.ID, r.Dep, actor)
}

// Unlink takes away what an issue depends on; of all types where none is given.
func Unlink(ctx context.Context, a *workspace.Run, r LinkRequest) (*checkpoint.Linked, error) {
	store, options, err := toLink(ctx, a, r)
	if err != nil {
		return nil, err
	}
	return checkpoint.Unlink(ctx, store, options, r.ID, r.Dep)
}

// toLink is ToWrite for a dependency that names an issue.
func toLink(ctx context.Context, a *workspace.Run, r LinkRequest) (beads.Store, beads.Options, error) {
	if r.On == "" {
		return nil, beads.Options{}, workspace.Usage("--on is missing", "name the issue that "+r.ID+" depends on: --on ID")
	}
	return a.ToWrite(ctx, r.DryRun)
}
