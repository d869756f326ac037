package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"stig/schemas"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:       "schema [NAME]",
		Short:     "the CUE schema of signals, of the configuration (config) or of JSON output (output)",
		GroupID:   "connect",
		Args:      takes(0, 1, "one name at most"),
		ValidArgs: []string{"signals", "config", "output"},
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
			case "output":
				return a.printSchema(name, schemas.Output)
			}
			return usage(fmt.Sprintf("schema: must be one of signals, config, output; found %q", name), "")
		},
	}
}

func (a *app) printSchema(name, source string) error {
	if a.json {
		return a.printJSON("schema", map[string]string{"name": name, "source": source})
	}
	return a.data(source)
}
