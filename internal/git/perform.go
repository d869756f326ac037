package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"stig/internal/process"
)

// Perform runs git as if a person typed the command, with all settings of repository and
// person: hooks, filters, signatures, path patterns. Programs started by git have no terminal,
// and are told so; env is appended to g's environment. It waits while another git process locks
// the index. An exit code other than 0 is not an error.
func (g Client) Perform(ctx context.Context, env []string, stdin []byte, argv ...string) (process.Result, error) {
	own := slices.DeleteFunc(slices.Clone(g.Env), func(variable string) bool {
		return strings.HasPrefix(variable, "GPG_TTY=") // which would ask for the passphrase of a signature
	})
	own = append(own, "LANGUAGE=en", "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_MERGE_AUTOEDIT=no")
	return g.await(ctx, process.Command{Stdin: stdin, Argv: append([]string{"git"}, argv...), Dir: g.Dir, Env: append(own, env...), Lock: g.Lock})
}

// accepted is Perform for a command that changes something; its failure is a *RejectedError.
func (g Client) accepted(ctx context.Context, env []string, stdin []byte, argv ...string) error {
	result, err := g.Perform(ctx, env, stdin, argv...)
	if err == nil && result.Exit != 0 {
		err = rejected("git "+verb(append([]string{"git"}, argv...)), result)
	}
	return err
}

// Found makes the directory a repository, with a first commit of the files at paths. If git
// knows no identity, name is the committer.
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

// IssueTrailer names the issue in commits made by stig.
const IssueTrailer = "Stig-Issue"

// HasHook reports whether git would run a hook with that name.
func (g Client) HasHook(ctx context.Context, name string) (bool, error) {
	path, err := g.Must(ctx, "rev-parse", "--git-path", "hooks/"+name)
	if err != nil {
		return false, err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(g.Dir, path)
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0), nil
}

// RunHook runs a hook on a message in a file, and returns its output if it refuses the message;
// "" if not. Changes to the file are discarded.
func (g Client) RunHook(ctx context.Context, name, message string) (refused string, err error) {
	file, err := os.CreateTemp("", "stig-message-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	if _, err = file.WriteString(message); err == nil {
		err = file.Close()
	}
	if err != nil {
		return "", err
	}
	result, err := g.Perform(ctx, nil, nil, "hook", "run", name, "--", file.Name())
	if err != nil || result.Exit == 0 {
		return "", err
	}
	said := strings.TrimSpace(string(result.Stderr) + "\n" + string(result.Stdout))
	return strings.ToValidUTF8(cmp.Or(said, fmt.Sprintf("exit %d", result.Exit)), "\uFFFD"), nil
}
