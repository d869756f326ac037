package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/beads"
	"stig/cmd/stig/cli"
	"stig/diff"
	"stig/live"
	"stig/recovery"
)

// recoverOptions are the flags of stig recover.
type recoverOptions struct {
	all, apply, forget, dryRun bool
}

func RecoverCommand(a *cli.App) *cobra.Command {
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
		Args:    cli.Takes(0, 1, "one ID at most"),
		Example: "  stig recover\n  stig recover demo-1 --apply\n  stig recover --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			return recover(cmd.Context(), a, args, o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.all, "all", false, "also list what is elsewhere, edited since, or dropped with its branch")
	flags.BoolVar(&o.apply, "apply", false, "put back what is lost")
	flags.BoolVar(&o.forget, "forget", false, "no longer count what is lost now")
	a.Writes(cmd, &o.dryRun)
	cli.Exclude(cmd, "forget", "apply", "all")
	return cmd
}

func recover(ctx context.Context, a *cli.App, ids []string, o recoverOptions) error {
	findings, place, err := a.FindLost(ctx, ids)
	if err != nil {
		return err
	}
	lost, others := app.Split(findings)
	switch {
	case o.forget && !o.dryRun:
		return forgetLost(a, place, ids, lost)
	case o.apply:
		return applyLost(ctx, a, place, lost, o.dryRun)
	case !o.all:
		others = nil
	}
	if err := printLost(a, lost, others); err != nil {
		return err
	}
	if len(lost) > 0 {
		return app.FoundError{}
	}
	return nil
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

func printLost(a *cli.App, lost, others []recovery.Finding) error {
	if a.JSON {
		body := map[string]any{"lost": valuesOf(lost), "applied": []lostValue{}, "kept": []lostValue{}}
		if others != nil {
			body["others"] = valuesOf(others)
		}
		return a.PrintJSON("recover", body)
	}
	if len(lost)+len(others) == 0 {
		return a.Print("nothing is lost\n")
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
	if err := a.Print(text.String()); err != nil {
		return err
	}
	if len(lost) > 0 {
		a.Hint("type stig recover --apply to put back what is lost, or stig recover --forget to let it go")
	}
	return nil
}

// lostLine is a finding on one line: what, by whom, when, and its text in short.
func lostLine(f recovery.Finding) string {
	line := fmt.Sprintf("%s, written %s", cli.OneLine(whatOf(f), 60), f.Record.At.UTC().Format(time.RFC3339))
	if f.InFile() {
		line = fmt.Sprintf("%s, in %s", cli.OneLine(whatOf(f), 60), app.Shortest(f.Where))
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
func applyLost(ctx context.Context, a *cli.App, place live.Place, lost []recovery.Finding, dryRun bool) error {
	if busy := place.Tree.Busy(); busy != "" {
		return &beads.ConflictError{Path: place.Store, Reason: "git is in the middle of a " + busy,
			Hint: "type " + endOf(busy) + ", then run the command again"}
	}
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return err
	}
	result := &recovery.Result{}
	if len(lost) > 0 {
		if result, err = recovery.Apply(ctx, store, options, lost, a.Schema); err != nil {
			return err
		}
	}
	if err := printApplied(a, result, dryRun); err != nil {
		return err
	}
	if !dryRun {
		if err := a.RemoveKept(store.Place(), func(recovery.Finding) bool { return false }); err != nil {
			return err
		}
	}
	if len(result.Kept) > 0 {
		return app.FoundError{}
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

func printApplied(a *cli.App, result *recovery.Result, dryRun bool) error {
	kept := []lostValue{}
	for _, k := range result.Kept {
		kept = append(kept, lostOf(k.Finding))
	}
	switch {
	case a.JSON:
		body := map[string]any{"lost": kept, "applied": valuesOf(result.Applied), "kept": kept}
		return a.PrintEdit("recover", body, result.Lines, dryRun)
	case dryRun:
		return a.PrintDiff(result.Lines)
	case len(result.Applied)+len(kept) == 0:
		return a.Print("nothing is lost\n")
	}
	var done grouped
	for _, f := range result.Applied {
		done.add(f.ID, "%s", lostLine(f))
	}
	var text strings.Builder
	done.write(&text, "put back")
	for _, k := range result.Kept {
		a.Warn("%s: %s: not put back: %s", k.ID, whatOf(k.Finding), k.Reason)
	}
	return a.Print(text.String())
}

// forgetLost records that what is lost now, of those issues, may stay so.
func forgetLost(a *cli.App, place live.Place, ids []string, lost []recovery.Finding) error {
	now, err := a.Clock()
	if err != nil {
		return err
	}
	actor, err := a.ActorName(a.Ctx)
	if err != nil {
		return err
	}
	record := live.Record{At: now, Actor: actor, Command: a.Running, Forgets: true}
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
	store, err := a.Discover()
	if err == nil {
		err = a.RemoveKept(store.Place(), func(f recovery.Finding) bool { return app.IsNamed(ids, f.ID) })
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON("recover", map[string]any{"lost": []lostValue{}, "applied": []lostValue{}, "kept": []lostValue{}, "forgotten": valuesOf(lost)})
	}
	return a.Printf("%s forgotten\n", app.Counted(len(lost), "value"))
}
