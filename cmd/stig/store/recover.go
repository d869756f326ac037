package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/journal"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

// recoverOptions are the flags of stig recover.
type recoverOptions struct {
	all, apply, forget, dryRun bool
	from                       string // where else to recover from: "elsewhere" or ""
}

func RecoverCommand(a *cli.App) *cobra.Command {
	var o recoverOptions
	cmd := &cobra.Command{
		Use:   "recover [ID…]",
		Short: "list or put back edits that the store lost",
		Long: goingBack +
			"recover compares the journal with the store. An edit is lost if the store does not have it,\n" +
			"no other branch, work tree, stash or side of a merge has it, nothing newer replaced it, and\n" +
			"no commit took it away on purpose, such as a revert.\n\n" +
			"--apply puts lost edits back, issue by issue, and never over something newer; edits that\n" +
			"another program may have undone on purpose only if their issue is named. --from elsewhere\n" +
			"also takes edits from other branches and stashes. --all also lists edits that are\n" +
			"elsewhere, were changed since, or removed. --forget accepts the loss.\n" +
			"The exit code is 1 if something is lost and was not put back.",
		Args:    cobra.ArbitraryArgs,
		Example: "  stig recover\n  stig recover demo-1 --apply\n  stig recover --all",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.from != "" && (o.from != "elsewhere" || !o.apply):
				return workspace.Usage(fmt.Sprintf("--from: must be elsewhere, with --apply; found %q", o.from), "type stig recover --all to see what is where")
			case o.forget && !o.dryRun:
				return forgetLost(cmd.Context(), a, args)
			case o.apply:
				return applyLost(cmd.Context(), a, service.RecoverRequest{IDs: args, Elsewhere: o.from != "", DryRun: o.dryRun})
			}
			return findLost(cmd.Context(), a, args, o.all)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.all, "all", false, "also list edits that are elsewhere, were changed since, or removed")
	flags.BoolVar(&o.apply, "apply", false, "put back lost edits")
	flags.StringVar(&o.from, "from", "", "with --apply, also put back edits that are `elsewhere`")
	flags.BoolVar(&o.forget, "forget", false, "accept the loss: stop reporting these edits")
	a.Writes(cmd, &o.dryRun)
	cli.Exclude(cmd, "forget", "apply", "all")
	return cmd
}

// findLost lists lost edits, with all also those that are missing but not lost.
func findLost(ctx context.Context, a *cli.App, ids []string, all bool) error {
	m, err := service.FindLost(ctx, a.Run, ids)
	if err != nil {
		return err
	}
	if !all { // unexplained edits are listed without --all, too
		m.Others = slices.DeleteFunc(m.Others, func(f journal.Finding) bool { return f.State.IsAnswer() })
	}
	if err := printLost(a, m, all); err != nil {
		return err
	}
	if len(m.Lost) > 0 {
		return workspace.Found()
	}
	return nil
}

// recovered is the result of recover as JSON.
type recovered struct {
	Applied   []lostValue `json:"applied"`
	Forgotten []lostValue `json:"forgotten,omitzero"`
	Kept      []lostValue `json:"kept"`
	Lost      []lostValue `json:"lost"`
	Others    []lostValue `json:"others,omitzero"` // not lost; only with --all, or if unexplained
}

func printLost(a *cli.App, m service.Missing, all bool) error {
	if a.JSON {
		body := recovered{Lost: valuesOf(m.Lost), Applied: []lostValue{}, Kept: []lostValue{}}
		if all || len(m.Others) > 0 {
			body.Others = valuesOf(m.Others)
		}
		return a.PrintJSON("recover", body)
	}
	if len(m.Lost)+len(m.Others) == 0 {
		return a.Print(nothingLost(m.Unread))
	}
	if err := a.Print(foundText(m.Lost, m.Others)); err != nil {
		return err
	}
	if len(m.Lost) > 0 {
		a.Hint("type stig recover --apply to put back what is lost, or stig recover --forget to accept the loss")
	}
	return nil
}

// nothingLost returns the message that nothing is lost. unread means that part of the journal
// cannot be read.
func nothingLost(unread bool) string {
	if unread {
		return "nothing is lost, as far as the journal can be read\n"
	}
	return "nothing is lost\n"
}

// applyLost puts back lost edits.
func applyLost(ctx context.Context, a *cli.App, request service.RecoverRequest) error {
	r, err := service.Recover(ctx, a.Run, request)
	if err != nil {
		return err
	}
	if err := printApplied(a, r, request.DryRun); err != nil {
		return err
	}
	noteKept(a, r.Files)
	if len(r.Kept) > 0 {
		return workspace.Found()
	}
	return nil
}

func printApplied(a *cli.App, result *service.Recovered, dryRun bool) error {
	kept := []lostValue{}
	for _, k := range result.Kept {
		kept = append(kept, lostOf(k.Finding))
	}
	switch {
	case a.JSON:
		body := recovered{Lost: kept, Applied: valuesOf(result.Applied), Kept: kept}
		return a.PrintEdit("recover", body, result.Lines, dryRun)
	case dryRun:
		return a.PrintDiff(result.Lines)
	case len(result.Applied)+len(kept) == 0 && len(result.Left) > 0:
		return a.Print(foundText(nil, result.Left))
	case len(result.Applied)+len(kept) == 0:
		return a.Print(nothingLost(result.Unread))
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

// forgetLost accepts the present losses.
func forgetLost(ctx context.Context, a *cli.App, ids []string) error {
	lost, files, err := service.ForgetLost(ctx, a.Run, ids)
	if err != nil {
		return err
	}
	noteKept(a, files)
	if a.JSON {
		return a.PrintJSON("recover", recovered{Lost: []lostValue{}, Applied: []lostValue{}, Kept: []lostValue{}, Forgotten: valuesOf(lost)})
	}
	return a.Printf("%s forgotten\n", visible.Counted(len(lost), "value"))
}
