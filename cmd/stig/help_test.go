package main

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// What the list of commands says of each is a phrase that begins with a verb, short enough for
// a line of a terminal.
func TestShortHelp(t *testing.T) {
	verbs := strings.Fields("acknowledge add answer ask begin change close connect copy count delete draw end find forget gather give have keep " +
		"leave let list make mark merge open order print put read return run say serve set settle share show take tell unite validate wait write")
	used := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		first, _, _ := strings.Cut(strings.TrimSuffix(cmd.Short, ","), " ")
		first = strings.TrimSuffix(first, ",")
		used[first] = true
		if n := utf8.RuneCountInString(cmd.Short); n == 0 || n > 60 {
			t.Errorf("%s: %d characters, 1 to 60 are allowed: %q", cmd.CommandPath(), n, cmd.Short)
		}
		if !slices.Contains(verbs, first) {
			t.Errorf("%s: does not begin with a verb of the list above: %q", cmd.CommandPath(), cmd.Short)
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(commandTree())
	for _, verb := range verbs {
		if !used[verb] {
			t.Errorf("no command begins with %q: take it off the list above", verb)
		}
	}
}
