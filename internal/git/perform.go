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

// accepted is Perform of a command that changes something; a *RejectedError says that it failed.
func (g Client) accepted(ctx context.Context, env []string, stdin []byte, argv ...string) error {
	result, err := g.Perform(ctx, env, stdin, argv...)
	if err == nil && result.Exit != 0 {
		err = rejected("git "+verb(append([]string{"git"}, argv...)), result)
	}
	return err
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

// IssueTrailer names, in commits that stig makes, the issue that they are for.
const IssueTrailer = "Stig-Issue"

// HasHook reports whether git would run a hook of that name.
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

// RunHook runs a hook that reads a message in a file, and gives what it said where it refuses that;
// "" where it does not. It may change the file, which is not kept.
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
