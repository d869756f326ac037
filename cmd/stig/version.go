package main

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
)

// versionOutput is the version as JSON. Commit and date are those of the source.
type versionOutput struct {
	Version string `json:"version"`
	Commit  string `json:"commit"` // "" if the program was not built in a clone
	Date    string `json:"date"`   // a day; "" if Commit is ""
}

func versionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version of stig",
		Args:  cli.Takes(0, 0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			v := built()
			return a.Result("version", v, nil, func() error { return a.Print(v.line()) })
		},
	}
}

func (v versionOutput) line() string {
	if v.Commit == "" {
		return "stig " + v.Version + "\n"
	}
	return fmt.Sprintf("stig %s (%s, %s)\n", v.Version, v.Commit, v.Date)
}

// built returns the source of this program's build: from the release, or else from the go
// command, which asked git.
func built() versionOutput {
	v := versionOutput{cli.Version, cli.Commit, cli.Date}
	info, ok := debug.ReadBuildInfo()
	if v.Commit != "" || !ok {
		return v
	}
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			v.Commit = setting.Value
		case setting.Key == "vcs.time":
			v.Date, _, _ = strings.Cut(setting.Value, "T")
		case setting.Key == "vcs.modified" && setting.Value == "true":
			v.Commit += " with changes"
		}
	}
	return v
}
