package git

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"stig/internal/fault"
	"stig/internal/process"
)

// asked are the settings with which stig always runs git. A directory of a clone may contain a
// bare repository with a configuration that came along; git refuses to read that.
var asked = []string{"-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"}

// looks are the git commands that read files of the work tree: for them git starts filters, and
// a hook when it rewrites its index.
var looks = []string{"status", "diff", "diff-files", "hash-object"}

// asks returns the git command for a question. Unless the repository is trusted git starts no
// program that the repository names: it fetches no missing objects over any transport, and uses
// the user's filters only. GIT_NO_LAZY_FETCH exists since git 2.45 and only improves the
// message: no protocol is allowed anyway.
func (g Client) asks(ctx context.Context, argv []string, env ...string) (process.Command, error) {
	command := process.Command{Dir: g.Dir, Env: slices.Concat(g.Env, []string{"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0"}, env)}
	settings := asked
	if !g.Trusted {
		command.Env = append(command.Env, "GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
		if slices.Contains(looks, verb(append([]string{"git"}, argv...))) {
			own, err := g.withoutFilters(ctx, command)
			if err != nil {
				return command, err
			}
			settings = slices.Concat(settings, []string{"-c", "core.hooksPath=" + os.DevNull}, own)
		}
	}
	command.Argv = slices.Concat([]string{"git"}, settings, argv)
	return command, nil
}

// fetchesNot explains git's failure if it would have had to fetch an object missing from a
// partial clone.
func (g Client) fetchesNot(r process.Result) error {
	said := string(r.Stderr)
	if strings.Contains(said, "lazy fetching disabled") || strings.Contains(said, "fatal: transport '") && strings.Contains(said, "' not allowed") {
		return lacking(g.Dir, "an object")
	}
	return nil
}

// lacking is git's message for a missing object.
func lacking(dir, object string) error {
	return &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("%s: git lacks %s of this repository, and stig fetches nothing", dir, object),
		Hint: "in a partial clone that you trust, type git fetch --refetch --no-filter"}
}

// withoutFilters are settings that replace the filters in the repository's configuration by the
// user's, or by nothing. command is git in that repository.
func (g Client) withoutFilters(ctx context.Context, command process.Command) (settings []string, err error) {
	command.Argv = slices.Concat([]string{"git"}, asked, []string{"config", "--null", "--includes", "--show-scope", "--get-regexp", `^(filter|lfs\.extension)\.`})
	result, err := g.await(ctx, command)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(string(result.Stdout), "\x00") // scope, then key, line break and value
	users, theirs := map[string]string{}, []string{}
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		if fields[i] != "local" && fields[i] != "worktree" {
			users[key] = value
		} else if strings.Contains(key, "=") {
			return nil, &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("%s: its configuration names a filter %q; only names without = are supported", g.Dir, key),
				Hint: "type git config --unset-all '" + strings.ReplaceAll(key, "'", `'\''`) + "'"}
		} else if !slices.Contains(theirs, key) {
			theirs = append(theirs, key)
		}
	}
	for _, key := range theirs {
		settings = append(settings, "-c", key+"="+users[key])
	}
	return settings, nil
}

// submodules is the option of git status and git diff for nested repositories, each of which
// has a configuration of its own: whether they are at the recorded commit, and their files only
// if they are trusted.
func (g Client) submodules() string {
	if g.Trusted {
		return "--ignore-submodules=none"
	}
	return "--ignore-submodules=dirty"
}
