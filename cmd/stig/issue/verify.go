package issue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/gate"
	"stig/internal/service"
	"stig/internal/visible"
	"stig/internal/workspace"
)

func VerifyCommand(a *cli.App) *cobra.Command {
	var r service.VerifyRequest
	cmd := &cobra.Command{
		Use:   "verify ID…",
		Short: "run the commands in an issue's acceptance criteria",
		Long: "Run the commands in an issue's acceptance criteria, in the root of the repository, one at a\n" +
			"time and in order. What passes counts until the criteria or the work tree change: stig close\n" +
			"then runs nothing again. A repository must be trusted once; see stig trust.\n" +
			"With --plan, run nothing; show what would run for the given issues, or for all open ones.\n" +
			"Read that before you trust a repository.",
		Args:    cli.Takes(0, -1, "one issue, or with --plan any number of them"),
		Example: "  stig verify demo-1 --plan\n  stig verify --plan\n  stig verify demo-1 --keep-going --timeout 90s",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 && r.Plan {
				findings, err := service.Plans(cmd.Context(), a.Run, args)
				if err != nil {
					return err
				}
				return printPlans(a, findings)
			}
			if len(args) != 1 {
				return workspace.Usage(fmt.Sprintf("one issue is verified at a time; found %d", len(args)), "name one; stig verify --plan shows what all open issues would run")
			}
			r.ID = args[0]
			f, err := service.Verify(cmd.Context(), a.Run, r)
			if err != nil {
				return err
			}
			if r.Plan {
				return printPlan(a, f)
			}
			if err := tell(a, f); err != nil {
				return err
			}
			if err := service.WarnOfStale(cmd.Context(), a.Run, f.GateRun); err != nil {
				return err
			}
			return conclude(a, []service.Finding{f})
		},
	}
	cmd.Flags().BoolVar(&r.Plan, "plan", false, "print what would run, what would not, and why; run nothing")
	bindTrial(cmd, &r.GateRunOptions)
	a.Acts(cmd)
	return cmd
}

func printPlan(a *cli.App, f service.Finding) error {
	if a.JSON {
		return a.PrintOutput(service.VerdictOutput([]service.Finding{f}))
	}
	if f.GateRun.Edited != nil {
		service.WarnOfEdited(a.Run, f.GateRun)
	}
	text := planText(f.GateRun)
	if !f.GateRun.Asks() {
		text += "what could show that it is done:\n" + f.GateRun.Fence()
	}
	return a.Print(text)
}

// printPlans prints what several issues would run, on one page. It leaves out code that is only
// mentioned.
func printPlans(a *cli.App, findings []service.Finding) error {
	if a.JSON {
		return a.PrintOutput(service.VerdictOutputs(findings))
	}
	var text strings.Builder
	total, empty := 0, []string{}
	for _, f := range findings {
		read := slices.DeleteFunc(slices.Clone(f.GateRun.Plan), func(c gate.Check) bool { return c.Class == gate.Mention })
		if len(read) == 0 {
			empty = append(empty, f.Id)
			continue
		}
		t := *f.GateRun
		t.Plan = read
		text.WriteString(planText(&t))
		total += t.Runs()
	}
	fmt.Fprintf(&text, "%s: %s would run\n", visible.Counted(len(findings), "issue"), visible.Counted(total, "command"))
	if len(empty) > 0 {
		const most = 20 // ids in the last line
		more := ""
		if rest := len(empty) - most; rest > 0 {
			empty, more = empty[:most], fmt.Sprintf(" and %d more", rest)
		}
		fmt.Fprintf(&text, "nothing to run or to read in %s%s\n", strings.Join(empty, ", "), more)
	}
	return a.Print(text.String())
}

// tell prints a finding as text as soon as it is known. JSON waits for the end.
func tell(a *cli.App, f service.Finding) error {
	if a.JSON {
		return nil
	}
	return printFinding(a, f)
}

// conclude prints the findings as JSON and returns the worst of their exit codes.
func conclude(a *cli.App, findings []service.Finding) error {
	if a.JSON {
		if err := a.PrintOutput(service.VerdictOutput(findings)); err != nil {
			return err
		}
	}
	worst := workspace.ExitDone
	for _, f := range findings {
		worst = max(worst, f.Code())
	}
	if worst != workspace.ExitDone {
		return workspace.Ended{Code: worst}
	}
	return nil
}
