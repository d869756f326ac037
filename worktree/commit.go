package worktree

import (
	"context"
	"fmt"
	"strings"

	"stig/git"
	"stig/process"
)

// RejectedError says that what is in a work tree cannot be committed: a hook of the
// repository said no, or it is not finished.
type RejectedError struct {
	Reason string
	Exit   int    // of git; 0 where it was not asked
	Tail   string // the last lines of what git and the hook said
}

func (e *RejectedError) Error() string { return e.Reason }

// tailLines bounds RejectedError.Tail.
const tailLines = 60

func rejected(what string, r process.Result) error {
	said := strings.TrimSpace(string(r.Stdout) + "\n" + string(r.Stderr))
	lines := strings.Split(strings.ToValidUTF8(said, "\uFFFD"), "\n")
	e := &RejectedError{Exit: r.Exit, Tail: strings.Join(lines[max(0, len(lines)-tailLines):], "\n")}
	e.Reason = fmt.Sprintf("%s: exit %d: %s", what, r.Exit, lines[len(lines)-1])
	return e
}

// Commit commits all that the work tree holds, but for the store and what git ignores, if
// anything differs from its last commit, and gives the commit of the branch. Hooks of the
// repository run; a *RejectedError says that one refused, or that the work tree is in the
// middle of a merge or on another branch. What a hook changed while it refused, as those
// do that format, is committed by a second try.
//
// author is the name of who made the changes. Who has told git no name commits under the
// author's.
func (t *Tree) Commit(ctx context.Context, message, author string) (commit string, err error) {
	if err := t.settled(ctx); err != nil {
		return "", err
	}
	env, err := identity(ctx, t.git(), author)
	if err != nil {
		return "", err
	}
	by, err := authorOf(ctx, t.git(), env, author)
	if err != nil {
		return "", err
	}
	for try := 1; ; try++ {
		staged, err := t.stage(ctx)
		if err != nil {
			return "", err
		}
		if !staged {
			break
		}
		result, err := t.git().Perform(ctx, env, []byte(message+"\n"), "commit", "--quiet", "--author="+by, "--file=-")
		if err != nil {
			return "", err
		}
		if result.Exit == 0 {
			break
		}
		if changed, e := t.git().Run(ctx, "diff-files", "--quiet"); try > 1 || e != nil || changed.Exit == 0 {
			return "", rejected("git commit", result)
		}
	}
	return t.git().Commit(ctx, "HEAD")
}

// stage puts all changes into the index, but for the store, and reports whether it differs
// from the last commit then.
func (t *Tree) stage(ctx context.Context) (bool, error) {
	add := []string{"add", "--all"}
	if t.repo.store != "" {
		add = append(add, "--sparse") // or it fails for what a worker put there
	}
	result, err := t.git().Perform(ctx, nil, nil, add...)
	if err != nil {
		return false, err
	}
	if result.Exit != 0 {
		return false, rejected("git add", result)
	}
	if store := t.repo.store; store != "" {
		if _, err := t.git().Must(ctx, "reset", "--quiet", "HEAD", "--", store); err != nil {
			return false, err
		}
	}
	staged, err := t.git().Run(ctx, "diff-index", "--cached", "--quiet", "HEAD", "--")
	return staged.Exit != 0, err
}

// Changed reports whether there is work in the tree: changes that are not committed, or
// commits beyond Base.
func (t *Tree) Changed(ctx context.Context) (bool, error) {
	if dirty, err := t.dirty(ctx, false); err != nil || dirty {
		return dirty, err
	}
	head, err := t.git().Commit(ctx, "HEAD")
	if err != nil || head == t.Base {
		return false, err
	}
	known, err := t.repo.descends(ctx, t.Base, head)
	return !known, err
}

// dirty reports whether something differs from the last commit, files that git does not
// know included, and the store where that is asked for.
func (t *Tree) dirty(ctx context.Context, store bool) (bool, error) {
	listed, err := t.git().Must(ctx, "status", "--porcelain", "--no-renames", "--untracked-files=all", "--ignore-submodules=none", "-z")
	if err != nil {
		return false, err
	}
	for line := range strings.SplitSeq(listed, "\x00") {
		if _, name, _ := strings.Cut(strings.TrimSpace(line), " "); name != "" && (store || !t.repo.isStore(strings.TrimSpace(name))) {
			return true, nil
		}
	}
	return false, nil
}

// onBranch makes sure that the branch of the issue is checked out. Where the worker went
// on from it on another branch, or on none, the branch follows.
func (t *Tree) onBranch(ctx context.Context) error {
	g := t.git()
	result, err := g.Run(ctx, "symbolic-ref", "--quiet", "HEAD")
	now := strings.TrimPrefix(strings.TrimSpace(string(result.Stdout)), "refs/heads/")
	if err != nil || now == t.Branch {
		return err
	}
	if now == "" {
		now = "no branch"
	}
	head, err := g.Commit(ctx, "HEAD")
	if err != nil {
		return err
	}
	if ahead, err := t.repo.descends(ctx, head, "refs/heads/"+t.Branch); err != nil {
		return err
	} else if !ahead {
		return &RejectedError{Reason: fmt.Sprintf("%s: is on %s, which does not come from %s", t.Dir, now, t.Branch)}
	}
	// HEAD moves to the branch at the very commit that it is at: no file changes
	if _, err := g.Must(ctx, "update-ref", "-m", "stig: follow "+now, "refs/heads/"+t.Branch, head); err != nil {
		return err
	}
	_, err = g.Must(ctx, "symbolic-ref", "-m", "stig: follow "+now, "HEAD", "refs/heads/"+t.Branch)
	return err
}

// identity is what git needs to be told where it knows nobody to commit as.
func identity(ctx context.Context, g git.Client, name string) ([]string, error) {
	known, err := g.Run(ctx, "var", "GIT_COMMITTER_IDENT")
	if err != nil || known.Exit == 0 {
		return nil, err
	}
	name = plain(name)
	return []string{"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + name + addressEnd, "GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + name + addressEnd}, nil
}

// addressEnd makes an address of a name that leads nowhere.
const addressEnd = "@stig.invalid"

// authorOf is the author of a commit as git writes it: under the address of the person
// that git knows, so that hosts show whose worker it was.
func authorOf(ctx context.Context, g git.Client, env []string, name string) (string, error) {
	address := plain(name) + addressEnd
	if env == nil {
		who, err := g.Must(ctx, "var", "GIT_AUTHOR_IDENT")
		if err != nil {
			return "", err
		}
		if _, rest, ok := strings.Cut(who, "<"); ok {
			address, _, _ = strings.Cut(rest, ">")
		}
	}
	return fmt.Sprintf("%s <%s>", plain(name), address), nil
}

// plain is a name without what ends one in git.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune("<>", r) {
			return -1
		}
		return r
	}, name)
	if name = strings.Trim(name, " .,:;\"'"); name == "" {
		return "stig"
	}
	return name
}
