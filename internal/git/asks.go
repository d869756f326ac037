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

// asked is what git is told wherever stig asks it. A bare repository may lie in a directory
// of a clone, with a configuration that came along; in that one nothing is asked at all.
var asked = []string{"-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false", "-c", "log.showSignature=false"}

// looks are the commands of git that read files of the work tree: for them git starts
// filters, and a hook where it writes its index anew.
var looks = []string{"status", "diff", "diff-files", "hash-object"}

// asks is git with a question. Unless the repository is trusted git starts no program that
// the repository names: it fetches nothing that is missing, by no transport, and filters are
// those of the user alone. GIT_NO_LAZY_FETCH is known since git 2.45 and spares older ones
// nothing but the words: no protocol is allowed anyway.
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

// fetchesNot says what keeps git from an answer where it would have had to fetch an object
// that a partial clone left out.
func (g Client) fetchesNot(r process.Result) error {
	said := string(r.Stderr)
	if strings.Contains(said, "lazy fetching disabled") || strings.Contains(said, "fatal: transport '") && strings.Contains(said, "' not allowed") {
		return lacking(g.Dir, "an object")
	}
	return nil
}

// lacking says that an object is not there.
func lacking(dir, object string) error {
	return &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("%s: git lacks %s of this repository, and stig fetches nothing", dir, object),
		Hint: "in a partial clone that you trust, type git fetch --refetch --no-filter"}
}

// withoutFilters are settings that put what the user has in place of the filters that the
// configuration of the repository names, and nothing where the user has none. command is a
// git in that repository.
func (g Client) withoutFilters(ctx context.Context, command process.Command) (settings []string, err error) {
	command.Argv = slices.Concat([]string{"git"}, asked, []string{"config", "--null", "--includes", "--show-scope", "--get-regexp", `^(filter|lfs\.extension)\.`})
	result, err := g.await(ctx, command)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(string(result.Stdout), "\x00") // scope, then a key, a line break and a value
	users, theirs := map[string]string{}, []string{}
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		if fields[i] != "local" && fields[i] != "worktree" {
			users[key] = value
		} else if strings.Contains(key, "=") {
			return nil, &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("%s: its configuration names a filter %q; a name without = is allowed", g.Dir, key),
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

// submodules is the option of git status and git diff that says how far they look into
// repositories in the repository, each of which has a configuration of its own: whether it
// stands at the commit that is recorded, and what its files hold only where that is trusted.
func (g Client) submodules() string {
	if g.Trusted {
		return "--ignore-submodules=none"
	}
	return "--ignore-submodules=dirty"
}
