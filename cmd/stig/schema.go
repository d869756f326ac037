package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"stig/schemas"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema [NAME]",
		Short:     "the CUE schema of signal tables (signals) or of the configuration (config)",
		GroupID:   "connect",
		Args:      takes(0, 1, "one name at most"),
		ValidArgs: []string{"signals", "config"},
		Example:   "  stig schema >schema.cue\n  stig schema config",
		RunE: func(_ *cobra.Command, args []string) error {
			name := "signals"
			if len(args) == 1 {
				name = args[0]
			}
			switch name {
			case "signals":
				return a.printSchema(name, schemas.StigmergicWorkflow)
			case "config":
				return a.printSchema(name, schemas.Config)
			}
			return usage(fmt.Sprintf("schema: must be one of signals, config; found %q", name), "")
		},
	}
}

func (a *app) printSchema(name, source string) error {
	if a.json {
		return a.printJSON("schema", map[string]string{"name": name, "source": source})
	}
	return a.data(source)
}
