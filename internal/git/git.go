// Package git asks git about repositories, work trees and commits, has it commit, and
// gives a worker a work tree and a branch of its own for an issue.
//
// Run and Must ask, and start nothing that a repository names, from transports to filters,
// unless the client is Trusted. Perform runs git as the user would. What the package gives
// are facts: what a work tree holds
// (Tree), where a repository is (Place), what a file was and who changed it (FileAt,
// History, Tips), and what an unfinished merge left of it (MergeState). A Worktree is
// prepared, committed, merged with what others did, landed and removed; nothing is pushed,
// and no branch is touched that is checked out elsewhere.
//
// A file is a path to it, and its text bytes. Only Past knows that a file is a store. The
// package knows no issues, no gate and no process of a worker.
//
//	repo := git.Client{Dir: dir, Env: environment}
//	tree, err := repo.Tree(ctx)
//	if err == nil && tree.Dirty {
//		fmt.Println("uncommitted changes on", tree.Head)
//	}
package git

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/visible"
)

// Client runs git in a directory.
type Client struct {
	Dir string
	Env []string // the environment that git runs in, as NAME=value
	Top string   // of the work tree that Dir is in, where that is known: Tree asks git otherwise
	// Trusted says that a person lets commands of this repository run here, as criteria and
	// workers need: git may fetch what a partial clone lacks, and start filters.
	Trusted bool
	// Lock, if not nil, is open in git: a lock on it that we hold stays until git has ended,
	// even where we are killed.
	Lock *os.File
}

// How often git is tried again while another git process holds its index, and how long
// stig waits each time.
const (
	tries = 200
	pause = 50 * time.Millisecond
)

// PlaceVariables are the variables by which git tells its hooks where the repository
// is. A program that means another repository must not get them.
var PlaceVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_QUARANTINE_PATH",
}

// Run runs git to its end, in its own language and with paths taken as they
// are written. It waits while another git process holds the index. An exit
// code other than 0 is no error.
func (g Client) Run(ctx context.Context, argv ...string) (process.Result, error) {
	return g.run(ctx, nil, nil, argv)
}

// Ignores reports whether git leaves a path out, be it there or not; false where git
// cannot say. It refuses this one question in the environment of Run.
func (g Client) Ignores(ctx context.Context, path string) (bool, error) {
	command, err := g.asks(ctx, []string{"check-ignore", "--quiet", "--", path}, "GIT_LITERAL_PATHSPECS=0")
	if err != nil {
		return false, err
	}
	result, err := process.Run(ctx, command)
	return err == nil && result.Exit == 0, err
}

// run passes what git prints on to stdout, or collects it where that is nil.
func (g Client) run(ctx context.Context, stdin []byte, stdout io.Writer, argv []string) (process.Result, error) {
	command, err := g.asks(ctx, argv, "GIT_LITERAL_PATHSPECS=1")
	if err != nil {
		return process.Result{}, err
	}
	command.Stdin, command.Stdout, command.Lock = stdin, stdout, g.Lock
	result, err := g.await(ctx, command)
	if err == nil {
		err = g.fetchesNot(result)
	}
	return result, err
}

// await runs git, and again while another git process holds what it needs.
func (g Client) await(ctx context.Context, command process.Command) (process.Result, error) {
	for try := 1; ; try++ {
		result, err := process.Run(ctx, command)
		if err != nil {
			return process.Result{}, fmt.Errorf("git %s: %w", verb(command.Argv), err)
		}
		if result.Exit == 0 || !isHeld(string(result.Stderr)) || try == tries {
			return result, nil
		}
		select {
		case <-ctx.Done():
			return process.Result{}, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// isHeld reports whether git failed because another git is at work just now: it holds a lock,
// or makes or removes a work tree, on which listing them fails.
func isHeld(said string) bool {
	return strings.Contains(said, ".lock': File exists") || strings.Contains(said, "could not lock config file") ||
		strings.Contains(said, "failed to read ") && strings.Contains(said, "/worktrees/")
}

// verb is the command of git in a command line.
func verb(argv []string) string {
	for i := 1; i < len(argv); i++ {
		if argv[i] == "-c" {
			i++
		} else {
			return argv[i]
		}
	}
	return ""
}

// Must gives what git printed, trimmed, and turns a failure of git into an
// error with git's own words: those of standard error, since it may have
// printed much before it failed.
func (g Client) Must(ctx context.Context, argv ...string) (string, error) {
	said, err := g.mustRun(ctx, nil, nil, argv...)
	return strings.TrimSpace(said), err
}

// mustRun is run that turns a failure of git into an error, and gives what it printed as it is.
func (g Client) mustRun(ctx context.Context, stdin []byte, stdout io.Writer, argv ...string) (string, error) {
	result, err := g.run(ctx, stdin, stdout, argv)
	if err == nil && result.Exit != 0 {
		err = failure(argv, result)
	}
	if err != nil {
		return "", err
	}
	return string(result.Stdout), nil
}

func failure(argv []string, r process.Result) error {
	if err := Foreign(r); err != nil {
		return err
	}
	said := strings.TrimSpace(string(r.Stderr))
	if said == "" {
		said = strings.TrimSpace(string(r.Stdout)) // where git commit says that there is nothing to commit
	}
	return fmt.Errorf("git %s: exit %d: %s", verb(append([]string{"git"}, argv...)), r.Exit, said)
}

// Foreign says why git refuses to read a repository that belongs to another user, as often
// in a container, and what to type; nil if git ended otherwise. The error is a fault.Store.
func Foreign(r process.Result) error {
	_, at, found := strings.Cut(string(r.Stderr), "detected dubious ownership in repository at '")
	if !found {
		return nil
	}
	at, _, _ = strings.Cut(at, "'\n")
	return &fault.Error{Code: fault.Store, Reason: at + ": belongs to another user, and git reads nothing of it",
		Hint: "type git config --global --add safe.directory " + visible.Quoted(at)}
}

// Commit gives the hash of the commit that a revision names, or a fault.NoRevision.
func (g Client) Commit(ctx context.Context, revision string) (string, error) {
	if g.isOutside() {
		return "", g.outside()
	}
	result, err := g.Run(ctx, "rev-parse", "--quiet", "--verify", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return "", err
	}
	if result.Exit == 0 {
		return strings.TrimSpace(string(result.Stdout)), nil
	}
	if result, err = g.Run(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return "", err
	}
	if err := Foreign(result); err != nil {
		return "", err
	}
	if result.Exit != 0 {
		return "", g.outside()
	}
	unknown := &fault.Error{Code: fault.NoRevision, Reason: fmt.Sprintf("%q: git has no such commit", revision)}
	if revision == "HEAD" && g.onBranch(ctx) || revision != "HEAD" && g.unborn(ctx) {
		unknown.Hint = "nothing is committed yet: type git add .beads && git commit"
	} else if g.shallow(ctx) {
		unknown.Hint = "this clone is shallow and may lack it: type git fetch --unshallow; in CI, set fetch-depth: 0 on GitHub, GIT_DEPTH: \"0\" on GitLab"
	}
	return "", unknown
}

// outside says that there is no repository.
func (g Client) outside() error {
	return &fault.Error{Code: fault.NoRevision, Reason: g.Dir + ": is in no git repository", Hint: "type git init"}
}

// Commits reports for each name whether there is such a commit. It asks git once.
func (g Client) Commits(ctx context.Context, names []string) ([]bool, error) {
	has := make([]bool, len(names))
	if len(names) == 0 {
		return has, nil
	}
	var asked strings.Builder
	for _, name := range names {
		asked.WriteString(name + "^{commit}\n")
	}
	said, err := g.mustRun(ctx, []byte(asked.String()), nil, "cat-file", "--batch-check=%(objecttype)")
	if err != nil {
		return nil, err
	}
	at := 0
	for line := range strings.Lines(said) {
		if at == len(has) {
			break
		}
		has[at] = line == "commit\n"
		at++
	}
	return has, nil
}

// FileAt writes the text of a file at a revision to w, as it is committed.
// path is absolute, without symbolic links in it, below the root of the
// repository that Dir is in. Of a file that has another name now the old one
// is found, by git's own search for renames. The error is a fault.NoRevision
// where there is no such revision, or no such file then.
func (g Client) FileAt(ctx context.Context, revision, path string, w io.Writer) error {
	if g.isOutside() {
		return g.outside()
	}
	name, err := g.fromHere(path)
	if err != nil {
		return err
	}
	commit, written := "", false
	if !strings.Contains(revision, "\n") { // each line is a question
		err = g.objects(ctx, []string{revision + "^{commit}", revision + "^{commit}:" + name}, func(o object) error {
			switch o.kind {
			case "commit":
				commit = o.hash
			case "blob":
				_, err := io.Copy(w, o.text)
				written = err == nil
				return err
			}
			return nil
		})
	}
	if err != nil || commit == "" {
		if _, reason := g.Commit(ctx, revision); reason != nil || err == nil {
			err = reason
		}
		return err
	}
	if written {
		return nil
	}
	if named, err := g.Run(ctx, "rev-parse", "--quiet", "--verify", "--end-of-options", commit+":"+name); err != nil || named.Exit == 0 {
		return cmp.Or(err, lacking(g.Dir, strings.TrimSpace(string(named.Stdout))))
	}
	return g.renamedAt(ctx, commit, revision, path, w)
}

// renamedAt is FileAt of a file that a commit does not hold under its present name.
func (g Client) renamedAt(ctx context.Context, commit, revision, path string, w io.Writer) error {
	root, err := g.Must(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	name, err := filepath.Rel(filepath.FromSlash(root), path)
	if err != nil {
		return err
	}
	g.Dir = filepath.FromSlash(root)
	old, err := g.nameAt(ctx, commit, filepath.ToSlash(name))
	if err != nil {
		return err
	}
	if old == "" {
		return &fault.Error{Code: fault.NoRevision, Reason: fmt.Sprintf("%s: was not committed at %s", path, revision)}
	}
	return g.blob(ctx, commit, old, w)
}

// fromHere is a path, as of FileAt, as it stands behind a commit and a colon: from g.Dir,
// so that git is not asked where its work tree begins.
func (g Client) fromHere(path string) (string, error) {
	name, err := filepath.Rel(RealPath(g.Dir), path)
	return "./" + filepath.ToSlash(name), err
}

// blob writes the text of a file at a commit to w.
func (g Client) blob(ctx context.Context, commit, name string, w io.Writer) error {
	_, err := g.mustRun(ctx, nil, w, "cat-file", "blob", commit+":"+name)
	return err
}

// nameAt is the name that a file had at a commit, which does not hold its present one: the
// one that it was renamed from since; "" without.
func (g Client) nameAt(ctx context.Context, commit, name string) (string, error) {
	renames, err := g.Must(ctx, "log", "--follow", "--diff-filter=R", "--name-status", "--format=", "-z", commit+"..HEAD", "--", name)
	if err != nil {
		return "", err
	}
	old := ""
	fields := strings.Split(renames, "\x00")
	for i, field := range fields {
		if strings.HasPrefix(field, "R") && i+2 < len(fields) && fields[i+2] == name {
			old, name = fields[i+1], fields[i+1]
		}
	}
	if there, err := g.has(ctx, commit, old); err != nil || !there {
		return "", err
	}
	return old, nil
}

func (g Client) has(ctx context.Context, commit, name string) (bool, error) {
	if name == "" {
		return false, nil
	}
	result, err := g.Run(ctx, "cat-file", "-e", commit+":"+name)
	return result.Exit == 0, err
}
