package git

import (
	"context"
	"slices"
	"strings"

	"stig/internal/process"
)

// Perform runs git as if a person typed the command, with the settings of the repository and
// of the person: hooks, filters, signatures, patterns in paths. What git starts has no
// terminal to prompt on and is told so; env is appended to the environment of g. It waits
// while another git process holds the index. An exit code other than 0 is no error.
func (g Client) Perform(ctx context.Context, env []string, stdin []byte, argv ...string) (process.Result, error) {
	own := slices.DeleteFunc(slices.Clone(g.Env), func(variable string) bool {
		return strings.HasPrefix(variable, "GPG_TTY=") // where the passphrase of a signature would be asked
	})
	own = append(own, "LANGUAGE=en", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_MERGE_AUTOEDIT=no")
	return g.await(ctx, process.Command{Stdin: stdin, Argv: append([]string{"git"}, argv...), Dir: g.Dir, Env: append(own, env...), Lock: g.Lock})
}

// Found makes a repository of the directory, with a first commit of the files at paths. Where git
// does not know whose commit it is, it is that of name.
func (g Client) Found(ctx context.Context, name, message string, paths ...string) error {
	var env []string
	for _, argv := range [][]string{{"init", "--quiet"}, append([]string{"add", "--"}, paths...), {"commit", "--quiet", "--message", message}} {
		if argv[0] == "commit" {
			known, err := knowsWho(ctx, g)
			if err != nil {
				return err
			}
			if !known {
				env = identity(name)
			}
		}
		result, err := g.Perform(ctx, env, nil, argv...)
		if err != nil {
			return err
		}
		if result.Exit != 0 {
			return failure(argv, result)
		}
	}
	return nil
}
