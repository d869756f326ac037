package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/beads"
	"stig/diff"
	"stig/live"
	"stig/process"
	"stig/recovery"
)

// recoverOptions are the flags of stig recover.
type recoverOptions struct {
	all, apply, forget, dryRun bool
}

func (a *app) recoverCommand() *cobra.Command {
	var o recoverOptions
	cmd := &cobra.Command{
		Use:   "recover [ID]",
		Short: "list or put back what stig wrote and the store lost",
		Long: "recover compares the journal of stig's edits with the store. A value is lost when the\n" +
			"store lacks it, its place is empty or again holds what it had replaced, nothing later\n" +
			"removed it, and no other branch, work tree or stash holds it. --apply puts back what is\n" +
			"lost, and never over something newer. --all also lists what is elsewhere, was edited\n" +
			"since, or went with its branch. --forget says that what is lost may stay so.\n\n" +
			"The exit code is 1 when something is lost and was not put back.",
		GroupID: "store",
		Args:    takes(0, 1, "one ID at most"),
		Example: "  stig recover\n  stig recover demo-1 --apply\n  stig recover --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.recover(cmd.Context(), args, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.all, "all", false, "also list what is elsewhere, edited since, or dropped with its branch")
	flags.BoolVar(&o.apply, "apply", false, "put back what is lost")
	flags.BoolVar(&o.forget, "forget", false, "no longer count what is lost now")
	a.writes(cmd, &o.dryRun)
	exclude(cmd, "forget", "apply", "all")
	return cmd
}

// question gathers what recovery needs of the store and of the clone.
func (a *core) question(ctx context.Context, file *beads.File) (recovery.Question, error) {
	store := file.Store()
	place, err := live.At(store.Path)
	if err != nil {
		return recovery.Question{}, err
	}
	git, path, err := a.git(store)
	if err != nil {
		return recovery.Question{}, err
	}
	clone := recovery.Clone{Path: path, Others: func() []beads.Store { return a.storesBeside(ctx, store) }}
	if place.Shared() && process.Finder("", a.getenv)("git") {
		clone.Git = git
	}
	return recovery.Question{Place: place, File: file, Held: clone}, nil
}

// findLost lists what is missing of those issues, of all where none is named.
func (a *core) findLost(ctx context.Context, ids []string) (findings []recovery.Finding, place live.Place, err error) {
	file, err := a.open()
	if err != nil {
		return nil, place, err
	}
	defer file.Close()
	q, err := a.question(ctx, file)
	if err != nil {
		return nil, place, err
	}
	if q.Journal, err = q.Place.Journal(); err != nil {
		return nil, place, err
	}
	a.warnOfJournal(q.Journal)
	all, err := recovery.Find(ctx, q)
	if err != nil {
		return nil, place, err
	}
	kept, err := a.inKeptFiles(file)
	for _, f := range append(all, kept...) {
		if isNamed(ids, f.ID) {
			findings = append(findings, f)
		}
	}
	return findings, q.Place, err
}

// inKeptFiles lists what versions of the store that stig keeps beside it hold,
// and the store lacks.
func (a *core) inKeptFiles(file *beads.File) (findings []recovery.Finding, err error) {
	kept, err := beads.Leftovers(file.Store())
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		found, err := recovery.InFile(file, k)
		if err != nil {
			a.warn("%s: cannot be read: %v", k.Path, err)
		}
		findings = append(findings, found...)
	}
	return findings, nil
}

// removeKept removes the versions of the store beside it in which everything
// that the store does not hold is let go.
func (a *core) removeKept(store beads.Store, letGo func(recovery.Finding) bool) error {
	kept, err := beads.Leftovers(store)
	if err != nil || len(kept) == 0 {
		return err
	}
	file, err := beads.Read(store)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, k := range kept {
		left, err := recovery.InFile(file, k)
		if err != nil {
			continue // it is named again
		}
		if left = slices.DeleteFunc(left, letGo); len(left) > 0 {
			a.note("%s: kept: %s not in the store", shortest(k.Path), counted(len(left), "value"))
			a.hint("type stig recover --all to see what, and stig recover --forget to remove the file")
			continue
		}
		if err := os.Remove(k.Path); err != nil {
			return err
		}
		a.note("removed %s", shortest(k.Path))
	}
	return nil
}

func (a *app) recover(ctx context.Context, ids []string, o recoverOptions) error {
	findings, place, err := a.findLost(ctx, ids)
	if err != nil {
		return err
	}
	lost, others := split(findings)
	switch {
	case o.forget && !o.dryRun:
		return a.forgetLost(place, ids, lost)
	case o.apply:
		return a.applyLost(ctx, place, lost, o.dryRun)
	case !o.all:
		others = nil
	}
	if err := a.printLost(lost, others); err != nil {
		return err
	}
	if len(lost) > 0 {
		return foundError{}
	}
	return nil
}

// split parts what is lost from what is somewhere else.
func split(findings []recovery.Finding) (lost, others []recovery.Finding) {
	for _, f := range findings {
		if f.State == recovery.Lost {
			lost = append(lost, f)
		} else {
			others = append(others, f)
		}
	}
	return lost, others
}

// lostValue is a finding as recover prints it.
type lostValue struct {
	ID            string   `json:"id"`
	What          string   `json:"what"`
	Was           string   `json:"was"`
	OverwrittenBy string   `json:"overwritten_by"` // "" when unknown
	State         string   `json:"state"`
	Where         string   `json:"where,omitempty"`
	At            string   `json:"at"`
	By            string   `json:"by"`
	Argv          []string `json:"argv"` // puts it back; none where nothing does
}

func lostOf(f recovery.Finding) lostValue {
	v := lostValue{ID: f.ID, What: whatOf(f), Was: f.Text, State: string(f.State), Where: f.Where,
		At: f.Record.At.UTC().Format(time.RFC3339), By: f.Record.Actor, Argv: []string{}}
	if f.Kind == diff.Signal {
		v.Was, _ = diff.CutSignal(f.Text)
	}
	if f.State == recovery.Lost {
		v.Argv = []string{"stig", "recover", f.ID, "--apply"}
	}
	return v
}

// whatOf names the part of an issue.
func whatOf(f recovery.Finding) string {
	switch {
	case f.Kind == diff.Issue:
		return string(diff.Issue)
	case f.Removed():
		return string(f.Kind) + " " + f.Name + " (removed)"
	}
	return string(f.Kind) + " " + f.Name
}

func (a *app) printLost(lost, others []recovery.Finding) error {
	if a.json {
		body := map[string]any{"lost": valuesOf(lost), "applied": []lostValue{}, "kept": []lostValue{}}
		if others != nil {
			body["others"] = valuesOf(others)
		}
		return a.printJSON("recover", body)
	}
	if len(lost)+len(others) == 0 {
		return a.print("nothing is lost\n")
	}
	var found grouped
	for _, f := range lost {
		found.add(f.ID, "%s", lostLine(f))
	}
	var rest grouped
	for _, f := range others {
		where := string(f.State)
		if f.State == recovery.Elsewhere {
			where = "on " + strings.TrimPrefix(f.Where, "refs/heads/")
		}
		rest.add(f.ID, "%s (%s)", lostLine(f), where)
	}
	var text strings.Builder
	found.write(&text, "lost")
	rest.write(&text, "not lost")
	if err := a.print(text.String()); err != nil {
		return err
	}
	if len(lost) > 0 {
		a.hint("type stig recover --apply to put back what is lost, or stig recover --forget to let it go")
	}
	return nil
}

// lostLine is a finding on one line: what, by whom, when, and its text in short.
func lostLine(f recovery.Finding) string {
	line := fmt.Sprintf("%s, written %s", oneLine(whatOf(f), 60), f.Record.At.UTC().Format(time.RFC3339))
	if f.InFile() {
		line = fmt.Sprintf("%s, in %s", oneLine(whatOf(f), 60), shortest(f.Where))
	}
	if f.Record.Actor != "" {
		line += " by " + f.Record.Actor
	}
	switch {
	case f.Hidden:
		line += ": the journal holds a hash alone"
	case f.Kind != diff.Issue && !f.Removed():
		line += ": " + shortText(string(f.Kind), f.Text)
	}
	return line
}

func valuesOf(findings []recovery.Finding) []lostValue {
	list := []lostValue{}
	for _, f := range findings {
		list = append(list, lostOf(f))
	}
	return list
}

// applyLost puts back what is lost.
func (a *app) applyLost(ctx context.Context, place live.Place, lost []recovery.Finding, dryRun bool) error {
	if busy := place.Tree.Busy(); busy != "" {
		return &beads.ConflictError{Path: place.Store, Reason: "git is in the middle of a " + busy,
			Hint: "type " + endOf(busy) + ", then run the command again"}
	}
	store, options, err := a.toWrite(ctx, dryRun)
	if err != nil {
		return err
	}
	result := &recovery.Result{}
	if len(lost) > 0 {
		if result, err = recovery.Apply(ctx, store, options, lost, a.schema); err != nil {
			return err
		}
	}
	if err := a.printApplied(result, dryRun); err != nil {
		return err
	}
	if !dryRun {
		if err := a.removeKept(store, func(recovery.Finding) bool { return false }); err != nil {
			return err
		}
	}
	if len(result.Kept) > 0 {
		return foundError{}
	}
	return nil
}

// endOf is what to type to end an operation of git.
func endOf(operation string) string {
	if operation == "bisect" {
		return "git bisect reset"
	}
	return fmt.Sprintf("git %s --continue, or --abort to give it up", operation)
}

func (a *app) printApplied(result *recovery.Result, dryRun bool) error {
	kept := []lostValue{}
	for _, k := range result.Kept {
		kept = append(kept, lostOf(k.Finding))
	}
	switch {
	case a.json:
		body := map[string]any{"lost": kept, "applied": valuesOf(result.Applied), "kept": kept}
		return a.printEdit("recover", body, result.Lines, dryRun)
	case dryRun:
		return a.printDiff(result.Lines)
	case len(result.Applied)+len(kept) == 0:
		return a.print("nothing is lost\n")
	}
	var done grouped
	for _, f := range result.Applied {
		done.add(f.ID, "%s", lostLine(f))
	}
	var text strings.Builder
	done.write(&text, "put back")
	for _, k := range result.Kept {
		a.warn("%s: %s: not put back: %s", k.ID, whatOf(k.Finding), k.Reason)
	}
	return a.print(text.String())
}

// forgetLost records that what is lost now, of those issues, may stay so.
func (a *app) forgetLost(place live.Place, ids []string, lost []recovery.Finding) error {
	now, err := a.clock()
	if err != nil {
		return err
	}
	actor, err := a.actorName(a.ctx)
	if err != nil {
		return err
	}
	record := live.Record{At: now, Actor: actor, Command: a.running, Forgets: true}
	for _, f := range lost {
		record.Changes = append(record.Changes, live.Change{Issue: f.ID, Kind: string(f.Kind), Name: f.Name, Was: f.Text})
	}
	if len(lost) > 0 {
		pending, err := place.Begin(record)
		if err == nil {
			err = pending.End(live.Written)
		}
		if err != nil {
			return err
		}
	}
	store, err := a.discover()
	if err == nil {
		err = a.removeKept(store, func(f recovery.Finding) bool { return isNamed(ids, f.ID) })
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON("recover", map[string]any{"lost": []lostValue{}, "applied": []lostValue{}, "kept": []lostValue{}, "forgotten": valuesOf(lost)})
	}
	return a.printf("%s forgotten\n", counted(len(lost), "value"))
}

// warnOfLost warns of what noteLost finds.
func (a *core) warnOfLost(ctx context.Context, store beads.Store) {
	if lost := a.noteLost(ctx, store); lost != "" {
		a.warn("%s", lost)
		a.hint("type stig recover to see what, and stig recover --apply to put it back")
	}
}

// noteLost says once, in one line, when values that stig wrote went since this
// work tree was last looked at. It costs one look at the file where nothing but
// stig wrote it. What cannot be found out is no hindrance.
func (a *core) noteLost(ctx context.Context, store beads.Store) string {
	place, err := live.At(store.Path)
	if err != nil {
		return ""
	}
	seen, now := place.Seen(), stamp(store.Path)
	if now == seen.Left || now == seen.Looked {
		return ""
	}
	journal, err := place.Recent()
	if err != nil || len(journal.Records) == 0 {
		return ""
	}
	lost, err := a.lostHere(ctx, store, journal) // after its stamp: what changes between is looked at next time
	if err != nil {
		return ""
	}
	next := live.Seen{Left: seen.Left, Looked: now, Told: seen.Told}
	fresh := 0
	next.Lost = []string{}
	for _, f := range lost {
		name := strings.Join([]string{f.ID, string(f.Kind), f.Name, f.Record.Seq}, " ")
		next.Lost = append(next.Lost, name)
		if !slices.Contains(seen.Told, name) {
			fresh++
		}
	}
	if next.Told = next.Lost; len(lost) == 0 {
		next.Left = now
	}
	if err := place.Remember(next); err != nil || fresh == 0 {
		return ""
	}
	return counted(fresh, "value") + " that stig wrote went from the store"
}

// lostHere lists what was written here and is lost.
func (a *core) lostHere(ctx context.Context, store beads.Store, journal live.Journal) (lost []recovery.Finding, err error) {
	file, err := beads.Read(store)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	q, err := a.question(ctx, file)
	if err != nil {
		return nil, err
	}
	q.Quick, q.Journal = true, journal
	findings, err := recovery.Find(ctx, q)
	lost, _ = split(findings)
	return lost, err
}
