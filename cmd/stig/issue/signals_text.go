package issue

import (
	"encoding/json"
	"fmt"
	"strings"

	"stig/cmd/stig/cli"
	"stig/signals"
)

func printSignal(a *cli.App, table *signals.Table, name string) error {
	s, err := signalNamed(name)
	if err != nil {
		return err
	}
	return a.Printf("%s\n", table.Value(s))
}

func printTable(a *cli.App, id string, table *signals.Table, withDates bool) error {
	values, err := table.Effective()
	switch {
	case err != nil:
		return err
	case a.JSON && withDates:
		return a.PrintJSON("signals", struct {
			ID         string            `json:"id"`
			Signals    json.RawMessage   `json:"signals"`
			Updated    map[string]string `json:"updated"`
			Violations []signals.Finding `json:"violations"`
		}{id, values, dates(table), append([]signals.Finding{}, table.Findings()...)})
	case a.JSON:
		return a.Printf("%s\n", values)
	}
	var text strings.Builder
	for _, s := range table.Signals() {
		fmt.Fprintf(&text, "%-18s %s", s, table.Raw(s))
		if withDates {
			fmt.Fprintf(&text, "  %s", table.Updated(s))
		}
		text.WriteString("\n")
	}
	if err := a.Print(text.String()); err != nil {
		return err
	}
	for _, f := range table.Findings() {
		a.Warn("%s notes:%d:%d: %s", id, f.Line, f.Column, f.Message)
	}
	if !table.Present() {
		a.Hint("these are the defaults: the issue has no signal table; type stig signals init " + id)
	}
	return nil
}

// dates returns the days of a table's rows by JSON key. Rows without a day are left out.
func dates(table *signals.Table) map[string]string {
	byKey := map[string]string{}
	for _, s := range table.Signals() {
		if day := table.Updated(s); day != "" {
			byKey[s.Key()] = day
		}
	}
	return byKey
}
