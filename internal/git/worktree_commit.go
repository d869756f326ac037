package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stig/internal/process"
)

// RejectedError says that what is in a work tree cannot be committed or merged: a hook of
// the repository said no, it is not finished, or it has conflicts.
type RejectedError struct {
	Reason string
	Exit   int      // of git; 0 where it was not asked
	Tail   string   // the last lines of what git and the hook said
	Files  []string // that have conflicts with the branch that results go to, as git names them
	Unable error    // why git can commit nothing here, whatever is in it; nil where it can
}

func (e *RejectedError) Error() string { return e.Reason }

// tailLines bounds RejectedError.Tail.
const tailLines = 60

func rejected(what string, r process.Result) *RejectedError {
	said := strings.TrimSpace(string(r.Stdout) + "\n" + string(r.Stderr))
	lines := strings.Split(strings.ToValidUTF8(said, "\uFFFD"), "\n")
	e := &RejectedError{Exit: r.Exit, Tail: strings.Join(lines[max(0, len(lines)-tailLines):], "\n")}
	e.Reason = fmt.Sprintf("%s: exit %d: %s", what, r.Exit, lines[len(lines)-1])
	return e
}

// Commit commits all that the work tree holds, but for the store, what git ignores and what
// is left out, if anything differs from its last commit, and gives the commit of the branch.
// Hooks of the repository run. A *RejectedError says that one refused, or that the work tree
// is in the middle of a merge or on another branch, or has a repository in its commits that is
// no submodule. If a hook changed files while it refused, as formatters do, that is committed
// on a second try. What was left out stays in the work
// tree, and LeftOut says what that is.
//
// author is the name of who made the changes. If git knows no user.name, author is the
// committer too.
func (t *Worktree) Commit(ctx context.Context, message, author string) (commit string, err error) {
	release, err := t.hold(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	s, err := t.settled(ctx)
	if err != nil {
		return "", err
	}
	if t.LeftOut, err = t.omitted(ctx, s.fresh); err != nil {
		return "", err
	}
	commit, err = t.commitAll(ctx, s, t.LeftOut, message, author)
	if err != nil || commit == t.Base || s.head == t.Base && !s.modules {
		return commit, err
	}
	embedded, err := t.embedded(ctx, commit)
	if err == nil && len(embedded) > 0 {
		err = &RejectedError{Reason: fmt.Sprintf("%s: is a repository of its own, of which git commits a name and no file; move its .git away, or make it a submodule", strings.Join(embedded, ", "))}
	}
	return commit, err
}

// embedded lists the repositories within the work tree that the branch has as commits of
// no submodule. What is in them is nowhere else.
func (t *Worktree) embedded(ctx context.Context, head string) (paths []string, err error) {
	said, err := t.git().Must(ctx, "diff-tree", "-r", "-z", "--no-renames", t.Base, head)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(said, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if modes := strings.Fields(fields[i]); len(modes) > 1 && modes[0] != ":"+gitlink && modes[1] == gitlink {
			paths = append(paths, fields[i+1])
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	known, err := t.git().Run(ctx, "config", "--blob", head+":.gitmodules", "--null", "--get-regexp", `^submodule\..*\.path$`)
	return slices.DeleteFunc(paths, func(path string) bool { return strings.Contains(string(known.Stdout), "\n"+path+"\x00") }), err
}

// gitlink is the mode of a commit in a tree of git.
const gitlink = "160000"

// commitAll is Commit of a work tree that is held and stands so.
func (t *Worktree) commitAll(ctx context.Context, s status, left []LeftOut, message, author string) (commit string, err error) {
	if !s.dirty {
		return s.head, t.unstageStore(ctx, s.store)
	}
	for try := 1; ; try++ {
		if err := t.stage(ctx, s.store || try > 1, left); err != nil {
			return "", err
		}
		if len(left) > 0 { // perhaps all of it
			if staged, err := t.git().Run(ctx, "diff-index", "--cached", "--quiet", "HEAD", "--"); err != nil || staged.Exit == 0 {
				return s.head, err
			}
		}
		result, err := t.commit(ctx, message, author)
		if err != nil {
			return "", err
		}
		if result.Exit == 0 {
			break
		}
		if staged, err := t.git().Run(ctx, "diff-index", "--cached", "--quiet", "HEAD", "--"); err != nil || staged.Exit == 0 {
			return s.head, err // such as changes within a submodule: nothing of them can be committed
		}
		if changed, e := t.git().Run(ctx, "diff-files", "--quiet"); try > 1 || e != nil || changed.Exit == 0 {
			refused := rejected("git commit", result)
			_, refused.Unable = t.commitTree(ctx, s.head+"^{tree}", "nothing, to see whether git commits", nil)
			return "", refused
		}
	}
	return t.head(ctx)
}

// stage puts all changes into the index, but for those of the store, where there are any, and
// what is left out, which git does not even read.
func (t *Worktree) stage(ctx context.Context, store bool, left []LeftOut) error {
	add := []string{"add", "--all"}
	if t.repo.store != "" {
		add = append(add, "--sparse") // or it fails for what a worker put there
	}
	var paths []byte
	if len(left) > 0 {
		add = append(add, "--pathspec-from-file=-", "--pathspec-file-nul")
		paths = append(paths, ":(top)\x00"...)
		for _, l := range left {
			paths = append(paths, ":(top,exclude,literal)"+l.Path+"\x00"...)
		}
	}
	if err := t.git().accepted(ctx, []string{"GIT_LITERAL_PATHSPECS=0"}, paths, add...); err != nil {
		return err
	}
	if err := t.unstage(ctx, left); err != nil {
		return err
	}
	return t.unstageStore(ctx, store)
}

// unstage takes out of the index what is left out and was put there by the worker.
func (t *Worktree) unstage(ctx context.Context, left []LeftOut) error {
	if len(left) == 0 {
		return nil
	}
	staged, err := t.git().Run(ctx, "diff-index", "--cached", "--name-only", "--diff-filter=A", "--no-renames", "-z", "HEAD", "--")
	var out strings.Builder
	for path := range strings.SplitSeq(string(staged.Stdout), "\x00") {
		if slices.ContainsFunc(left, func(l LeftOut) bool {
			return path == l.Path || strings.HasSuffix(l.Path, "/") && strings.HasPrefix(path, l.Path)
		}) {
			out.WriteString(path + "\x00")
		}
	}
	if err != nil || out.Len() == 0 {
		return err
	}
	_, err = t.git().mustRun(ctx, []byte(out.String()), nil, "update-index", "--force-remove", "-z", "--stdin")
	return err
}

// unstageStore takes out of the index what differs of the store there, if anything does.
func (t *Worktree) unstageStore(ctx context.Context, differs bool) error {
	if t.repo.store == "" || !differs {
		return nil
	}
	_, err := t.git().Must(ctx, "reset", "--quiet", "HEAD", "--", t.repo.store)
	return err
}

// commit commits the index, in the name of author under the address of the person that git
// knows, so that hosts show whose worker it was. Only if that fails is git asked whether it
// knows anybody: it nearly always does.
func (t *Worktree) commit(ctx context.Context, message, author string) (process.Result, error) {
	argv := []string{"-c", noUpkeep, "commit", "--quiet", "--file=-"}
	return t.knowing(ctx, []string{"GIT_AUTHOR_NAME=" + plain(author)}, author, message, argv...)
}

// knowing has git make a commit. If that fails because git knows nobody to commit as, name is
// the committer.
func (t *Worktree) knowing(ctx context.Context, env []string, name, message string, argv ...string) (process.Result, error) {
	g, text := t.git(), []byte(message+"\n")
	if !t.unnamed {
		result, err := g.Perform(ctx, env, text, argv...)
		if err != nil || result.Exit == 0 {
			return result, err
		}
		known, err := knowsWho(ctx, g)
		if err != nil || known {
			return result, err
		}
		t.unnamed = true
	}
	return g.Perform(ctx, identity(name), text, argv...)
}

// identity has git commit as a name that it knows no address of.
func identity(name string) []string {
	name = plain(name)
	return []string{
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + name + addressEnd,
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + name + addressEnd,
	}
}

// addressEnd turns a name into an e-mail address that leads nowhere.
const addressEnd = "@stig.invalid"

// knowsWho reports whether git knows somebody to commit as.
func knowsWho(ctx context.Context, g Client) (bool, error) {
	for _, who := range []string{"GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"} {
		if result, err := g.Run(ctx, "var", who); err != nil || result.Exit != 0 {
			return false, err
		}
	}
	return true, nil
}

// head is the commit that is checked out. Where git keeps that in files, it need not be
// started.
func (t *Worktree) head(ctx context.Context) (string, error) {
	_, commit := Checkout{Own: t.own, Common: t.repo.common}.Head()
	if commit == "" || strings.Contains(commit, " ") { // the name of another reference
		return t.git().Commit(ctx, "HEAD")
	}
	return commit, nil
}

// status is how a work tree stands.
type status struct {
	head     string
	branch   string   // "" for none
	dirty    bool     // something differs from head, files that git does not know included, the store not
	store    bool     // the store does
	unmerged bool     // there are conflicts
	modules  bool     // a repository within differs: a submodule, or one that git does not know
	fresh    []string // the files that head has not, with a slash at the end of a repository
	changed  []string // all files that differ, the store's not
	nested   []string // submodules that differ
}

// status looks how the work tree stands.
func (t *Worktree) status(ctx context.Context) (s status, err error) {
	lines, err := t.git().Status(ctx)
	return t.read(lines), err
}

// read reads what git status says.
func (t *Worktree) read(lines string) (s status) {
	for line := range strings.SplitSeq(lines, "\x00") {
		if head, ok := strings.CutPrefix(line, "# branch.oid "); ok {
			s.head = head
		} else if branch, ok := strings.CutPrefix(line, "# branch.head "); ok && branch != "(detached)" {
			s.branch = branch
		}
		path := ChangedPath(line)
		s.unmerged = s.unmerged || strings.HasPrefix(line, "u ")
		if s.store = s.store || t.repo.isStore(path); path == "" || t.repo.isStore(path) {
			continue
		}
		isModule := line[0] != '?' && strings.Fields(line)[2][0] == 'S'
		s.modules = s.modules || isModule || strings.HasSuffix(line, "/")
		if isModule {
			s.nested = append(s.nested, path)
		}
		if isNew(line) && strings.HasSuffix(line, "/") { // which git status lists so where it is a repository
			s.fresh = append(s.fresh, path+"/")
		} else if isNew(line) {
			s.fresh = append(s.fresh, path)
		}
		s.changed = append(s.changed, path)
	}
	s.dirty = len(s.changed) > 0
	return s
}

// isNew reports whether a line of git status is about a file that the commit has not, a
// submodule that was added apart.
func isNew(line string) bool {
	fields := strings.Fields(line) // 1, how it differs, submodule, modes of the commit, the index and the tree
	return line[0] == '?' || line[0] == '1' && strings.Trim(fields[3], "0") == "" && fields[4] != gitlink
}

// settled says why the work tree cannot be committed or merged as it stands. Where the
// worker went on from its branch on another, or on none, the branch follows.
func (t *Worktree) settled(ctx context.Context) (status, error) {
	if doing := Busy(t.own); doing != "" {
		return status{}, &RejectedError{Reason: fmt.Sprintf("%s: is in the middle of a %s", t.Dir, doing)}
	}
	s, err := t.status(ctx)
	if err == nil && s.unmerged {
		err = &RejectedError{Reason: t.Dir + ": has conflicts that are not resolved"}
	}
	if err != nil || s.branch == t.Branch {
		return s, err
	}
	now := s.branch
	if now == "" {
		now = "no branch"
	}
	if ahead, err := t.repo.descends(ctx, s.head, "refs/heads/"+t.Branch); err != nil {
		return s, err
	} else if !ahead {
		return s, &RejectedError{Reason: fmt.Sprintf("%s: is on %s, which does not come from %s", t.Dir, now, t.Branch)}
	}
	// HEAD moves to the branch at the very commit that it is at: no file changes
	if _, err := t.git().Must(ctx, "update-ref", "-m", "stig: follow "+now, "refs/heads/"+t.Branch, s.head); err != nil {
		return s, err
	}
	return s, t.attach(ctx)
}

// attach has the work tree, which is at the commit of its branch, be on that again.
func (t *Worktree) attach(ctx context.Context) error {
	_, err := t.git().Must(ctx, "symbolic-ref", "-m", "stig: on "+t.Branch, "HEAD", "refs/heads/"+t.Branch)
	return err
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
