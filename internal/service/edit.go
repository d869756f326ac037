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
// written or nothing.

// CheckpointRequest is what a worker reports about one issue. A text is nil if not given, and
// must not be empty otherwise.
type CheckpointRequest struct {
	ID        string
	Signals   map[signals.Signal]string
	Estimate  signals.Estimate // parts; each replaces that part of the current estimate
	Text      *string          // the whole estimate, instead of parts
	Seen      *string          // the estimate that Text replaces; refused if it changed meanwhile
	Question  *string          // for a person; sets escalation to pending
	Evidence  *string          // what was run and what it printed; sets evidence-freshness to today
	Replace   bool             // the parts replace the whole estimate
	Fold      bool             // removes the estimates that merges kept beside the current one
	NoContext bool             // allows implementing or blocked without an estimate
	Reaffirm  bool             // updates the dates of the given signals even if their values stay
	Commit    bool             // commits the store, nothing else
	DryRun    bool
}

// Empty reports whether there is nothing to write.
func (r CheckpointRequest) Empty() bool {
	return len(r.Signals) == 0 && r.Estimate.Empty() && r.Text == nil && r.Question == nil && r.Evidence == nil && !r.Replace && !r.Fold
}

// update converts the request for package checkpoint, which requires a question and evidence
// not to be empty.
func (r CheckpointRequest) update() (u checkpoint.Update, err error) {
	u = checkpoint.Update{
		Signals: r.Signals, Reaffirm: r.Reaffirm, Estimate: r.Estimate, Replace: r.Replace, Fold: r.Fold, Seen: r.Seen, NoContext: r.NoContext,
	}
	if r.Text != nil && IsBlank(*r.Text) {
		return u, workspace.Usage("the state estimate is empty", "describe the state, or leave out -m, --file and -")
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
			return u, workspace.Usage("--evidence: is empty", "say what was run and what it printed")
		}
		if _, given := r.Signals[signals.EvidenceFreshness]; given {
			return u, workspace.Usage("--evidence is of today, but --evidence-freshness is given too", "omit one of them")
		}
	}
	if r.Empty() {
		return u, workspace.Usage("nothing to write", "give a signal such as --surprise 0.2, or a state estimate with --done … or -m …")
	}
	return u, nil
}

func IsBlank(text string) bool { return strings.TrimSpace(text) == "" }

// Checkpointed says what a checkpoint changed, and lists the problems of its issue afterwards.
type Checkpointed struct {
	*checkpoint.Report
	Findings []lint.Diagnostic `json:"findings"`
}

// Checkpoint writes signals and the state estimate of an issue, commits the store if requested,
// and sends notifications.
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
	if update.Question.Text != "" { // the question names its asker; nothing else in a checkpoint names its actor
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

// warnOfHolder warns if another actor has the issue of a checkpoint in progress: it may have
// been taken from the writer, and both may be working on it.
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
		a.Warn("%s: is claimed by %s, not by you (%s)", report.ID, holder, who)
	}
}

// findings returns the diagnostics that changes of notes introduced.
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

// writeRules returns the rules that an edit of an issue is validated against.
func writeRules(a *workspace.Run, now time.Time) checkpoint.Rules {
	return checkpoint.Rules{Schema: a.Schema, Now: now}
}

// EstimateForm returns the state estimate of an issue as a form for the next one, and its
// current text.
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

// notesOf returns the notes and the full id of an issue.
func notesOf(a *workspace.Run, id string) (full string, doc *notes.Doc, err error) {
	record, err := recordOf(a, id)
	if err != nil {
		return "", nil, err
	}
	return record.Text(beads.ID), notes.Parse(record.Text(beads.Notes)), nil
}

// recordOf returns the line of an issue.
func recordOf(a *workspace.Run, id string) (*beads.Record, error) {
	return withIssue(a, id, false, func(file *beads.Snapshot, at int) (*beads.Record, error) { return file.At(at).Record() })
}

// PropagateRequest is a discovery made in one issue. If To is empty it goes to the unclosed
// issues that wait for it.
type PropagateRequest struct {
	ID     string
	To     []string
	Text   string
	DryRun bool
}

// Propagate writes a discovery into the notes of other issues.
func Propagate(ctx context.Context, a *workspace.Run, r PropagateRequest) (*checkpoint.Propagated, error) {
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	return checkpoint.Propagate(ctx, store, options, r.ID, r.To, r.Text, writeRules(a, options.Now))
}

// ReopenRequest asks to reopen a closed issue, and says why.
type ReopenRequest struct {
	ID, Reason string
	DryRun     bool
}

// Reopen reopens a closed issue and drops its cached verdict. If the assignee is a worker whose
// loop has ended, the issue becomes unassigned.
func Reopen(ctx context.Context, a *workspace.Run, r ReopenRequest) (*checkpoint.Reopened, error) {
	if err := NeedsReason(r.Reason, "what is wrong with it"); err != nil {
		return nil, err
	}
	store, options, actor, err := a.ToWriteAs(ctx, r.DryRun, a.ActorName)
	if err != nil {
		return nil, err
	}
	ended := func(string) bool { return false } // without live state no loop is known to have ended
	if place, err := a.Live(store.Place()); err == nil {
		ended = func(name string) bool { return name != actor && hasEnded(place, name) }
	}
	reopened, err := checkpoint.Reopen(ctx, store, options, r.ID, r.Reason, actor, ended, writeRules(a, options.Now))
	if err != nil || !reopened.Changed || r.DryRun {
		return reopened, err
	}
	if err := forgetVerdict(ctx, a, store.Place(), reopened.ID); err != nil {
		a.Warn("%s: its earlier verdict may still close it: %v", reopened.ID, err)
	}
	return reopened, nil
}

// forgetVerdict drops the cached verdict of an issue, so that its checks run again before it
// closes even if the work tree does not change.
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

// NeedsReason returns an error if reason is blank. what names the reason in the hint.
func NeedsReason(reason, what string) error {
	if IsBlank(reason) {
		return workspace.Usage("a reason is missing", "say with --reason "+what)
	}
	return nil
}

// AmendForm is the fields of an issue as a form to edit.
type AmendForm struct {
	ID, Text string
	record   *beads.Record
}

// OpenForm returns the form with the current fields of an issue.
func OpenForm(a *workspace.Run, id string) (*AmendForm, error) {
	record, err := recordOf(a, id)
	if err != nil {
		return nil, err
	}
	form, ok := checkpoint.Form(record)
	if !ok {
		return nil, workspace.Usage(record.Text(beads.ID)+": one of its texts contains a separator line of the form", "change fields with flags, such as --title")
	}
	return &AmendForm{record.Text(beads.ID), form, record}, nil
}

// Read returns the fields that were changed in the form.
func (f *AmendForm) Read(form string, now time.Time) (checkpoint.Amendment, error) {
	return checkpoint.ParseForm(form, f.record, now)
}

// AmendRequest changes fields of issues: the same change for all, or one for each.
type AmendRequest struct {
	IDs    []string
	Each   []checkpoint.Amendment // one for all, or one for each id
	Claim  bool                   // claim them first, as bd update --claim does
	DryRun bool
}

// FromProse proposes acceptance criteria with a fenced block of the commands that their prose
// describes, and returns the blocks for display. Criteria from the description are copied into
// the field, because they do not count once the field is set.
func FromProse(a *workspace.Run, ids []string) (each []checkpoint.Amendment, shown []string, err error) {
	if len(ids) == 0 {
		return nil, nil, workspace.Usage("--acceptance-from-prose: no issue given", "name one: stig edit ID --acceptance-from-prose")
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
			return nil, nil, &fault.Error{Code: fault.Refused, ID: issue.ID, Reason: "its criteria have no prose that reads like a command not run yet",
				Hint: "type stig verify " + issue.ID + " --plan to see how they are read"}
		}
		each, shown = append(each, checkpoint.Amendment{Acceptance: &text}), append(shown, issue.ID+": from its prose\n"+fence)
	}
	return each, shown, nil
}

// Amended is the result of amending several issues.
type Amended struct {
	Edited  []*checkpoint.Amended
	Changes []beads.Change
}

// Amend changes fields of issues, of all or of none, and warns of criteria without commands.
// Claims come first, each as its own edit.
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
	var before clone.Claims
	edited, changes, err := checkpoint.Amend(ctx, readingLeases(a, store, options.Now, &before, r.IDs...), options, r.IDs, actor, func(i int) checkpoint.Amendment {
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

// endLeases ends the leases of issues that an edit moved out of progress.
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
			return workspace.Usage("--title: goes with one issue; found "+visible.Counted(len(r.IDs), "issue"), "edit each title separately")
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

// DeleteRequest asks to delete issues.
type DeleteRequest struct {
	IDs    []string
	Reason string
	Force  bool // even if others depend on them, or another actor works on them
	DryRun bool
}

// Deleted lists the deleted issues.
type Deleted struct {
	Deleted []*checkpoint.Deleted `json:"deleted"`
	Changes []beads.Change        `json:"-"` // nil if bd deleted them
}

// Delete turns issues into tombstones. If bd keeps them in a database, it runs bd delete. In
// the run of a worker it refuses (fault.Found) every issue but that of the run.
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

// deleteByBD runs bd to delete issues that bd keeps in a database.
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
	refused := &fault.Error{Code: fault.Refused, Path: store.Place().Path, Reason: "bd keeps these issues in a database and must delete them, but bd is not on PATH",
		Hint: "type " + strings.Join(argv, " ") + " where it is"}
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

// undeleted returns the error for issues that bd reported as deleted but still has.
func undeleted(store beads.Store, deleted []*checkpoint.Deleted) error {
	file, err := store.Snapshot()
	if err != nil {
		return err
	}
	defer file.Close()
	for _, issue := range deleted {
		if at, there := file.Index(issue.ID); there && file.At(at).Status != beads.StatusTombstone {
			return &fault.Error{Code: fault.Changed, Path: store.Place().Name(), Reason: "bd says it deleted " + issue.ID + ", but still has it", Hint: "type bd show " + issue.ID + " to see its current state", Err: beads.ErrLost}
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

// Link makes an issue depend on another one.
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

// Unlink removes a dependency of an issue; without a type it removes the rows of all types.
func Unlink(ctx context.Context, a *workspace.Run, r LinkRequest) (*checkpoint.Linked, error) {
	store, options, err := toLink(ctx, a, r)
	if err != nil {
		return nil, err
	}
	return checkpoint.Unlink(ctx, store, options, r.ID, r.Dep)
}

// toLink is ToWrite with a check that a dependency is given.
func toLink(ctx context.Context, a *workspace.Run, r LinkRequest) (beads.Store, beads.Options, error) {
	if r.On == "" {
		return nil, beads.Options{}, workspace.Usage("--on is missing", "name the issue that "+r.ID+" depends on: --on ID")
	}
	return a.ToWrite(ctx, r.DryRun)
}
