package issue

import (
	"fmt"
	"strings"

	"stig/app"
	"stig/checkpoint"
	"stig/cmd/stig/cli"
)

// printClosed says how the issue was closed and what follows.
func printClosed(a *cli.App, c *checkpoint.Closed) error {
	if c.Already {
		if err := a.Printf("%s: closed already, nothing changed\n  %s\n", c.ID, c.Reason); err != nil || c.Unkept == "" {
			return err
		}
		a.Complain(fmt.Sprintf("%s: the reason given now was not kept", c.ID),
			"to keep it too: stig checkpoint "+c.ID+" --learned …")
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s: closed\n  %s\n", c.ID, c.Reason)
	for _, change := range c.Changed {
		fmt.Fprintf(&text, "  %s: %s → %s\n", change.Signal, change.From, change.To)
	}
	for _, ref := range c.Unblocked {
		fmt.Fprintf(&text, "ready now: %s %s\n", ref.ID, ref.Title)
	}
	if c.Nearer > 0 {
		fmt.Fprintf(&text, "nearer: %s\n", app.Counted(c.Nearer, "more issue"))
	}
	if e := c.Epic; e != nil {
		fmt.Fprintf(&text, "epic %s %s: %d of %d closed\n", e.ID, e.Title, e.Closed, e.Total)
	}
	for _, alert := range c.Alerts {
		fmt.Fprintf(&text, "alert %s: %s\n", alert.Rule, alert.Message)
	}
	if c.Epic.Complete() && !a.Quiet {
		waive := ""
		if c.Epic.NoCriteria {
			waive = " --waive …"
		}
		fmt.Fprintf(&text, "next: stig close %s --reason …%s\n", c.Epic.ID, waive)
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	a.WarnOfEdit(c.ID, c.Warnings, c.Lines)
	if app.WithoutEstimate(c) {
		a.Hint("for those who wait for it: stig checkpoint " + c.ID + " --done … --learned … --downstream …")
	}
	return nil
}
