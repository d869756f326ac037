package store

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/workspace"
	"stig/schemas"
)

// published are the schemas that can be printed, by name.
var published = []struct{ name, source string }{
	{"signals", schemas.StigmergicWorkflow}, {"config", schemas.Config}, {"output", schemas.Output}, {"traces", schemas.Traces}, {"actors", schemas.Actors},
}

func names() (list []string) {
	for _, p := range published {
		list = append(list, p.name)
	}
	return list
}

func SchemaCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "print a CUE schema: " + strings.Join(names(), ", "),
		Long: "Print the CUE schema of signals, of the configuration (config), of what commands print with\n" +
			"--json (output), of traces, or of the front matter in .stig/actors (actors).",
		Args:      cli.Takes(0, 1, "one name at most"),
		ValidArgs: names(),
		Example:   "  stig schema >schema.cue\n  stig schema config",
		RunE: func(_ *cobra.Command, args []string) error {
			name := published[0].name
			if len(args) == 1 {
				name = args[0]
			}
			for _, p := range published {
				if p.name == name {
					return printSchema(a, name, p.source)
				}
			}
			return workspace.Usage(fmt.Sprintf("schema: must be one of %s; found %q", strings.Join(names(), ", "), name), "")
		},
	}
}

func printSchema(a *cli.App, name, source string) error {
	body := struct {
		Name   string `json:"name"`
		Source string `json:"source"`
	}{name, source}
	return a.Result("schema", body, nil, func() error { return a.Data(source) })
}
