package workers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/git"
	"stig/internal/service"
	"stig/internal/service/night"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// landing is the flags of stig land.
type landing struct {
	night.LandRequest
	diff, revert, reason string
	sync                 bool
}

// LandCommand returns stig land.
func LandCommand(a *cli.App) *cobra.Command {
	var r landing
	cmd := &cobra.Command{
		Use:   "land [ID…]",
		Short: "merge finished work into the checkout",
		Long: "List finished work of worker loops that the current branch lacks, one issue a line. Work\n" +
			"that was merged, squashed, picked or rebased by hand counts as landed.\n\n" +
			"With issues, or --all, stig lands the work: it merges it, with the work that it is built on,\n" +
			"in a separate work tree, runs the acceptance criteria there, and fast-forwards the checkout,\n" +
			"in which only the store may have changes. If a check fails or the work conflicts, nothing\n" +
			"changes. stig pushes nothing.\n\n" +
			"--revert takes back the work on an issue, landed or not, and reopens the issue: the next run\n" +
			"gets the reason as feedback, and starts from scratch.\n\n" +
			"With land: \"review\" in .stig.cue, each proved issue gets a request for review on a forge.\n" +
			"--sync closes issues whose change is on the default branch, reopens those whose change was\n" +
			"reverted there, and gives remarks of reviewers to the workers. Loops do so every minute.",
		Example: "  stig land\n  stig land demo-1 demo-2\n  stig land --all --commit\n  stig land --diff demo-1\n  stig land --sync --commit\n  stig land --revert demo-1 --reason \"the page is blank in Firefox\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			r.IDs = args
			if err := r.check(); err != nil {
				return err
			}
			switch {
			case r.sync:
				if err := a.ForPeople("land --sync"); err != nil {
					return err
				}
				done, err := r.synchronize(cmd.Context(), a.Run)
				return a.Result("land-synced", done, err, func() error { return a.Print(syncedText(done)) })
			case r.diff != "":
				text, err := night.Diff(cmd.Context(), a.Run, r.diff, r.Onto)
				return a.Result("land-diff", struct {
					ID   string `json:"id"`
					Diff string `json:"diff"`
				}{r.diff, text}, err, func() error { return a.Data(text) })
			case r.revert != "":
				done, err := night.Revert(cmd.Context(), a.Run, night.RevertRequest{ID: r.revert, Reason: r.reason, Onto: r.Onto, DryRun: r.DryRun})
				return a.Result("land-reverted", done, err, func() error { return a.Print(revertedText(done)) })
			case len(args) > 0 || r.All:
				done, err := night.Land(cmd.Context(), a.Run, r.LandRequest)
				return a.Result("landed", done, err, func() error { return a.Print(landedText(done)) })
			}
			return showUnlanded(cmd.Context(), a, r.Onto)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&r.All, "all", false, "land all finished work")
	flags.StringVar(&r.diff, "diff", "", "print what the work on `ID` changes")
	flags.StringVar(&r.revert, "revert", "", "revert the work on `ID`, and reopen the issue")
	flags.StringVar(&r.reason, "reason", "", "say `WHY` it is reverted")
	flags.StringVar(&r.Onto, "onto", "", "the `BRANCH` that work --onto named (default "+git.WorkBranch+")")
	flags.BoolVar(&r.sync, "sync", false, "close issues whose requests for review have landed")
	flags.BoolVar(&r.Commit, "commit", false, "also commit the store, and nothing else")
	cli.Filters(cmd, "onto", "diff", "revert")
	a.Writes(cmd, &r.DryRun)
	cli.Needs(cmd, "revert", "reason")
	return cmd
}

// check refuses flags that cannot be used together.
func (r *landing) check() error {
	asked := []bool{len(r.IDs) > 0, r.All, r.diff != "", r.revert != "", r.sync}
	if n := len(slices.DeleteFunc(asked, func(yes bool) bool { return !yes })); n > 1 {
		return workspace.Usage("land: issues, --all, --diff, --revert and --sync cannot be used together", "give one of them")
	}
	return nil
}

func (r *landing) synchronize(ctx context.Context, a *workspace.Run) (*night.Synced, error) {
	if r.Commit && !r.DryRun {
		return night.SyncAndCommit(ctx, a)
	}
	return night.Sync(ctx, a, r.DryRun)
}

func showUnlanded(ctx context.Context, a *cli.App, onto string) error {
	if _, err := a.Discover(); err == nil && a.Config.ByReview() && onto == "" {
		done, err := night.Requests(a.Run)
		return a.Result("land-synced", done, err, func() error { return a.Print(syncedText(done)) })
	}
	u, err := night.ToLand(ctx, a.Run, onto)
	return a.Result("unlanded", u, err, func() error {
		if len(u.Issues) == 0 {
			return a.Print("nothing to land\n")
		}
		s := a.Sheet()
		for _, one := range u.Issues {
			s.Line(cli.Plain, cli.CutLine(unlandedLine(one), cli.ListWidth))
		}
		if err := a.Show(s); err != nil {
			return err
		}
		to := u.Branch
		if to == "" {
			to = "the branch that you switch to"
		}
		a.Hint("to land it on " + to + ": stig land --all, or stig land ID; to see what an issue changes: stig land --diff ID")
		return nil
	})
}

// unlandedLine formats an issue with work to land as a line.
func unlandedLine(one service.UnlandedIssue) string {
	name := one.ID
	if name == "" {
		name, one.Title = "(no issue)", "commits that name no issue"
	}
	text := fmt.Sprintf("%s  %s, +%d -%d  %s", name, visible.Counted(one.Files, "file"), one.Added, one.Deleted, visible.OneLine(one.Title))
	if one.Status != "closed" && one.ID != "" {
		text += " (" + visible.OneLine(one.Status) + ")"
	}
	if len(one.After) > 0 {
		text += "; after " + strings.Join(one.After, ", ")
	}
	if one.Onto != git.WorkBranch {
		text += "; on " + one.Onto
	}
	return workspace.Visible(text)
}

func landedText(d *night.Landed) string {
	var text strings.Builder
	for _, id := range d.There {
		fmt.Fprintf(&text, "%s: nothing to land\n", id)
	}
	if len(d.Issues) == 0 && len(d.There) == 0 {
		return "nothing to land\n"
	}
	if len(d.Issues) > 0 {
		verb := "landed on"
		if d.DryRun {
			verb = "would land on"
		}
		fmt.Fprintf(&text, "%s %s: %s", verb, d.Branch, strings.Join(d.Issues, ", "))
		if len(d.Brought) > 0 {
			fmt.Fprintf(&text, " (others are built on %s)", strings.Join(d.Brought, ", "))
		}
		text.WriteString("\n")
	}
	if d.Committed != "" {
		fmt.Fprintf(&text, "committed the store: %.12s\n", d.Committed)
	}
	return text.String()
}

func syncedText(d *night.Synced) string {
	var text strings.Builder
	for _, one := range d.Issues {
		what := string(one.State)
		switch {
		case one.Did == night.DidNothing && (one.State == signals.ReviewLanded || one.State == signals.ReviewReverted) && one.Why == "":
			continue // it is over
		case one.Did == night.DidMark:
			what = "marked ready for review"
		case one.Did == night.DidFeed:
			what = "reviewers' remarks were given to the worker"
		case one.Did == night.DidAsk:
			what = "a person was asked"
		case one.Did != night.DidNothing:
			what = string(one.Did)
		}
		if d.DryRun && one.Did != night.DidNothing {
			what = "would be: " + what
		}
		if one.Why != "" {
			what += ": " + one.Why
		}
		fmt.Fprintf(&text, "%s  #%d  %s\n", one.ID, one.Request, what)
		text.WriteString(strangersText(one))
	}
	if text.Len() == 0 {
		return "no request is open\n"
	}
	if d.Committed != "" {
		fmt.Fprintf(&text, "committed the store: %.12s\n", d.Committed)
	}
	return workspace.Visible(text.String())
}

// strangersText formats the remarks of people who may not write to the repository.
func strangersText(one night.Requested) string {
	if len(one.Strangers) == 0 {
		return ""
	}
	text := fmt.Sprintf("  not given to workers, since their authors may not write to the repository; see %s\n", one.URL)
	for _, s := range one.Strangers {
		text += cli.CutLine(fmt.Sprintf("    %s: %s", s.Author, visible.OneLine(s.Text)), cli.ListWidth) + "\n"
	}
	return text
}

func revertedText(d *night.Reverted) string {
	verb := "reverted on"
	if d.DryRun {
		verb = "would be reverted on"
	}
	text := fmt.Sprintf("%s: %s %s", d.ID, verb, strings.Join(d.Places, " and "))
	if d.Changed {
		text += ", and reopened"
	}
	if len(d.BuiltOn) > 0 {
		text += "\nbuilt on it: " + strings.Join(d.BuiltOn, ", ")
	}
	return text + "\n"
}
