package store

import (
	"fmt"

	"github.com/spf13/cobra"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/schemas"
)

func SchemaCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:       "schema [NAME]",
		Short:     "the CUE schema of signals, of the configuration (config) or of JSON output (output)",
		GroupID:   "connect",
		Args:      cli.Takes(0, 1, "one name at most"),
		ValidArgs: []string{"signals", "config", "output"},
		Example:   "  stig schema >schema.cue\n  stig schema config",
		RunE: func(_ *cobra.Command, args []string) error {
			name := "signals"
			if len(args) == 1 {
				name = args[0]
			}
			switch name {
			case "signals":
				return printSchema(a, name, schemas.StigmergicWorkflow)
			case "config":
				return printSchema(a, name, schemas.Config)
			case "output":
				return printSchema(a, name, schemas.Output)
			}
			return app.Usage(fmt.Sprintf("schema: must be one of signals, config, output; found %q", name), "")
		},
	}
}

func printSchema(a *cli.App, name, source string) error {
	if a.JSON {
		return a.PrintJSON("schema", map[string]string{"name": name, "source": source})
	}
	return a.Data(source)
}
