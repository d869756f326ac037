package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestWritingOptions: every command has --dry-run and --actor, except those listed here, which
// write only what they print or are started by other programs.
func TestWritingOptions(t *testing.T) {
	reads := strings.Fields("orient retro check cycles lint explain show ready list blocked count stats dep.tree search plan graph review trajectory diff " +
		"doctor log skill version schema completion help signals.get verify hook mcp board notify-send actor.list actor.show actor.runs actor.log morning worktree.list worker.status trace.list trace.show watch recall swarm.choose swarm.status swarm.report")
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
