package check

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/lint"
	"stig/internal/workspace"
)

func ExplainCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:     "explain [RULE]",
		Short:   "explain a rule of check, with an example",
		Long:    "Explain why a rule exists, with an example; without a rule, list all rules.",
		Args:    cli.Takes(0, 1, "one rule at most"),
		Example: "  stig explain\n  stig explain close-reason",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return lint.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listRules(a)
			}
			return explain(a, args[0])
		},
	}
}

func listRules(a *cli.App) error {
	if a.JSON {
		return a.PrintJSON("rules", struct {
			Rules []lint.Rule `json:"rules"`
		}{lint.All()})
	}
	width := 0
	for _, name := range lint.Names() {
		width = max(width, len(name))
	}
	var text strings.Builder
	for _, rule := range lint.All() {
		fmt.Fprintf(&text, "%-*s  %-7s  %s\n", width, rule.ID, rule.Severity, rule.Summary)
	}
	return a.Print(text.String())
}

func explain(a *cli.App, id string) error {
	rule, known := lint.Named(id)
	if !known {
		return workspace.Usage(fmt.Sprintf("no rule %q", id), nearRule(id))
	}
	if a.JSON {
		return a.PrintJSON("rule", rule)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s (%s): %s\n\n%s\n\nExample:\n", rule.ID, rule.Severity, rule.Summary, rule.Why)
	for line := range strings.Lines(rule.Example) {
		text.WriteString("    " + line)
	}
	fmt.Fprintf(&text, "\n\nWhat to do: %s\n", rule.Fix)
	return a.Print(text.String())
}

// nearRule suggests rules with similar names.
func nearRule(typed string) string {
	near := lint.Near(typed)
	if len(near) == 0 {
		return "type stig explain to see all rules"
	}
	return "did you mean " + strings.Join(near, ", ") + "?"
}
