package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stig/internal/process"
)

// RejectedError reports that the content of a work tree cannot be committed or merged: a hook
// of the repository refused, an operation is unfinished, or there are conflicts.
type RejectedError struct {
	Reason string
	Exit   int      // git's exit code; 0 if git was not asked
	Tail   string   // the last lines of output of git and the hook
	Files  []string // files in conflict, as git names them
	Onto   string   // the branch with which they conflict
	Unable error    // why git can commit nothing here at all; nil if it can
}

func (e *RejectedError) Error() string { return e.Reason }

// tailLines limits RejectedError.Tail.
const tailLines = 60

func rejected(what string, r process.Result) *RejectedError {
	said := strings.TrimSpace(string(r.Stdout) + "\n" + string(r.Stderr))
	lines := strings.Split(strings.ToValidUTF8(said, "\uFFFD"), "\n")
	e := &RejectedError{Exit: r.Exit, Tail: strings.Join(lines[max(0, len(lines)-tailLines):], "\n")}
	e.Reason = fmt.Sprintf("%s: exit %d: %s", what, r.Exit, lines[len(lines)-1])
	return e
}

// Commit commits everything in the work tree except the store, ignored files and what is left
// out, if anything differs from its last commit, and returns the commit of the branch. The
// repository's hooks run. A *RejectedError says that one refused, that the work tree is in the
// middle of a merge or on another branch, or that its commits contain a repository that is not
// a submodule. If a hook changed files while it refused, as formatters do, a second try commits
// that. Files left out stay in the work tree; LeftOut lists them.
//
// author is the name of who made the changes. If git knows no user.name, author is also the
// committer.
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
		err = &RejectedError{Reason: fmt.Sprintf("%s: is a nested repository, of which git commits only a name; move its .git away, or make it a submodule", strings.Join(embedded, ", "))}
	}
	return commit, err
}

// embedded lists nested repositories that the branch contains as commits without being
// submodules. Their content is nowhere else.
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

// gitlink is the mode of a commit in a git tree.
const gitlink = "160000"

// commitAll is Commit for a work tree that is held and ready.
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
			return s.head, err // such as changes within a submodule, which cannot be committed
		}
		if changed, e := t.git().Run(ctx, "diff-files", "--quiet"); try > 1 || e != nil || changed.Exit == 0 {
			refused := rejected("git commit", result)
			_, refused.Unable = t.commitTree(ctx, s.head+"^{tree}", "nothing, to see whether git commits", nil)
			return "", refused
		}
	}
	return t.head(ctx)
}

// stage stages all changes, except those of the store and what is left out, which git does not
// even read.
func (t *Worktree) stage(ctx context.Context, store bool, left []LeftOut) error {
	add := []string{"add", "--all"}
	if t.repo.store != "" {
		add = append(add, "--sparse") // otherwise it fails for what a worker put there
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

// unstage removes from the index what is left out and the worker had staged.
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

// unstageStore removes changes to the store from the index.
func (t *Worktree) unstageStore(ctx context.Context, differs bool) error {
	if t.repo.store == "" || !differs {
		return nil
	}
	_, err := t.git().Must(ctx, "reset", "--quiet", "HEAD", "--", t.repo.store)
	return err
}

// commit commits the index, in author's name with the person's address from git, so that hosts
// show whose worker it was. Only if that fails it asks whether git knows an identity, which it
// nearly always does.
func (t *Worktree) commit(ctx context.Context, message, author string) (process.Result, error) {
	argv := []string{"-c", noUpkeep, "commit", "--quiet", "--file=-"}
	return t.knowing(ctx, []string{"GIT_AUTHOR_NAME=" + plain(author)}, author, message, argv...)
}

// knowing makes a commit. If git knows no identity, name is the committer.
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

// identity makes git commit under a name without an address.
func identity(name string) []string {
	name = plain(name)
	return []string{
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + name + addressEnd,
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + name + addressEnd,
	}
}

// addressEnd turns a name into an unreachable e-mail address.
const addressEnd = "@stig.invalid"

// knowsWho reports whether git knows a committer.
func knowsWho(ctx context.Context, g Client) (bool, error) {
	for _, who := range []string{"GIT_COMMITTER_IDENT", "GIT_AUTHOR_IDENT"} {
		if result, err := g.Run(ctx, "var", who); err != nil || result.Exit != 0 {
			return false, err
		}
	}
	return true, nil
}

// head is the commit that is checked out. If git keeps it in files, git is not started.
func (t *Worktree) head(ctx context.Context) (string, error) {
	_, commit := Checkout{Own: t.own, Common: t.repo.common}.Head()
	if commit == "" || strings.Contains(commit, " ") { // the name of another reference
		return t.git().Commit(ctx, "HEAD")
	}
	return commit, nil
}

// status is the state of a work tree.
type status struct {
	head     string
	branch   string   // "" for none
	dirty    bool     // something other than the store differs from head, including untracked files
	store    bool     // the store differs
	unmerged bool     // there are conflicts
	modules  bool     // a nested repository differs: a submodule, or an untracked one
	fresh    []string // files missing from head, with a slash at the end of a repository
	changed  []string // all differing files except the store's
	nested   []string // differing submodules
}

// status determines the state of the work tree.
func (t *Worktree) status(ctx context.Context) (s status, err error) {
	lines, err := t.git().Status(ctx)
	return t.read(lines), err
}

// read parses the output of git status.
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
		if isNew(line) && strings.HasSuffix(line, "/") { // the form in which git status lists a repository
			s.fresh = append(s.fresh, path+"/")
		} else if isNew(line) {
			s.fresh = append(s.fresh, path)
		}
		s.changed = append(s.changed, path)
	}
	s.dirty = len(s.changed) > 0
	return s
}

// isNew reports whether a line of git status is about a file missing from the commit, except an
// added submodule.
func isNew(line string) bool {
	fields := strings.Fields(line) // 1, how it differs, submodule, modes in commit, index and tree
	return line[0] == '?' || line[0] == '1' && strings.Trim(fields[3], "0") == "" && fields[4] != gitlink
}

// settled returns why the work tree cannot be committed or merged in its current state. If the
// worker continued on another branch or on none, the branch follows.
func (t *Worktree) settled(ctx context.Context) (status, error) {
	if doing := Busy(t.own); doing != "" {
		return status{}, &RejectedError{Reason: fmt.Sprintf("%s: is in the middle of a %s", t.Dir, doing)}
	}
	s, err := t.status(ctx)
	if err == nil && s.unmerged {
		err = &RejectedError{Reason: t.Dir + ": has unresolved conflicts"}
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
		return s, &RejectedError{Reason: fmt.Sprintf("%s: is on %s, which does not descend from %s", t.Dir, now, t.Branch)}
	}
	// HEAD moves to the branch at the same commit: no file changes
	if _, err := t.git().Must(ctx, "update-ref", "-m", "stig: follow "+now, "refs/heads/"+t.Branch, s.head); err != nil {
		return s, err
	}
	return s, t.attach(ctx)
}

// attach puts the work tree, which is at its branch's commit, back on the branch.
func (t *Worktree) attach(ctx context.Context) error {
	_, err := t.git().Must(ctx, "symbolic-ref", "-m", "stig: on "+t.Branch, "HEAD", "refs/heads/"+t.Branch)
	return err
}

// plain removes characters from a name that git does not accept in names.
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
