package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/workspace"
)

// TestElsewhere checks that each hint for another program's word names existing commands and
// flags, and that no command of stig has such a hint.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	root := command(cli.Front(nil, io.Discard, io.Discard, &workspace.Run{}))
	for word, hint := range cli.Elsewhere() {
		if !strings.HasSuffix(word, "*") && !strings.Contains(word, " -") {
			if cmd, rest, err := root.Find(strings.Fields(word)); err == nil && len(rest) == 0 {
				t.Errorf("%q is %s, and leads to %q", word, cmd.CommandPath(), hint)
			}
		}
		if strings.HasPrefix(word, "* ") {
			for flag := range strings.FieldsSeq(hint) {
				if !hasFlag(root, strings.TrimLeft(flag, "-")) {
					t.Errorf("%q: no command has %s", word, flag)
				}
			}
		}
		for _, line := range strings.Split(hint, "stig ")[1:] {
			fields := strings.Fields(strings.ReplaceAll(line, ",", ""))
			cmd, rest, err := root.Find(fields)
			if err != nil || cmd == root {
				t.Errorf("%q: %q is no command", word, line)
				continue
			}
			for _, arg := range rest {
				switch {
				case strings.HasPrefix(arg, "--") && arg != "--" && cmd.Flag(arg[2:]) == nil && arg != "--help":
					t.Errorf("%q: %s has no %s", word, cmd.CommandPath(), arg)
				case len(arg) == 2 && arg[0] == '-' && arg != "--" && cmd.Flags().ShorthandLookup(arg[1:]) == nil:
					t.Errorf("%q: %s has no %s", word, cmd.CommandPath(), arg)
				}
			}
		}
	}
}

// hasFlag reports whether a command, or one of its subcommands, has a flag.
func hasFlag(cmd *cobra.Command, name string) bool {
	return cmd.Flag(name) != nil || slices.ContainsFunc(cmd.Commands(), func(c *cobra.Command) bool { return hasFlag(c, name) })
}
