package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every command takes --dry-run and --actor that is not listed here as one that
// writes nothing but what it is asked to print, or that others start.
func TestWritingOptions(t *testing.T) {
	reads := strings.Fields("orient retro check cycles lint explain show ready list blocked count stats dep.tree search plan graph review trajectory diff " +
		"doctor log skill version schema completion help signals.get verify hook mcp board notify-send actor.list actor.show actor.runs actor.log morning worktree.list worker.status trace.list trace.show watch recall swarm.choose swarm.status")
	var walk func(cmd *cobra.Command, path string)
	walk = func(cmd *cobra.Command, path string) {
		for _, below := range cmd.Commands() {
			walk(below, strings.TrimPrefix(path+"."+below.Name(), "."))
		}
		if !cmd.Runnable() || cmd.HasSubCommands() || slices.Contains(reads, path) || strings.HasPrefix(path, "completion.") {
			return
		}
		for _, flag := range []string{"dry-run", "actor"} {
			if cmd.Flags().Lookup(flag) == nil {
				t.Errorf("%s: has no --%s", path, flag)
			}
		}
	}
	walk(command(newApp()), "")
}
