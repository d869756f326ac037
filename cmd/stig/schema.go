package main

import (
	"github.com/spf13/cobra"

	"stig/schemas"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "the CUE schema that signal tables are held against",
		GroupID: "connect",
		Args:    takes(0, 0, "nothing"),
		Example: "  stig schema >schema.cue",
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON("schema", map[string]string{"name": schemas.File, "source": schemas.StigmergicWorkflow})
			}
			return a.print(schemas.StigmergicWorkflow)
		},
	}
}
