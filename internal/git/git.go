// Package git asks git about repositories, work trees and commits, makes commits, and gives a
// worker a work tree and a branch for an issue.
//
// Run and Must only ask, and start nothing that a repository names, from transports to filters,
// unless the client is Trusted. Perform runs git as the user would. Results are facts: the
// state of a work tree (Tree), the location of a repository (Place), the history of a file
// (FileAt, History, Tips), and the state of an unfinished merge (MergeState). A Worktree is
// prepared, committed, merged with others' work, landed and removed; nothing is pushed, and no
// branch changes that is checked out elsewhere.
//
// A file is a path, and its text bytes; only Past knows that a file is a store. The package
// knows nothing about issues, the gate or worker processes.
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
	Env []string // git's environment, as NAME=value
	Top string   // top of Dir's work tree, if known: Tree asks git otherwise
	// Trusted says that a person allows commands of this repository to run here, as criteria
	// and workers need: git may fetch what a partial clone lacks, and start filters.
	Trusted bool
	// Lock, if not nil, stays open in git: a lock held on it lasts until git has ended, even if
	// stig is killed.
	Lock *os.File
}

// How often and how long stig waits while another git process locks the index.
const (
	tries = 200
	pause = 50 * time.Millisecond
)

// PlaceVariables are the variables by which git tells its hooks where the repository is. A
// program for another repository must not get them.
var PlaceVariables = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_QUARANTINE_PATH",
}

// Run runs git to its end, without localization and with literal paths. It waits while another
// git process locks the index. An exit code other than 0 is not an error.
func (g Client) Run(ctx context.Context, argv ...string) (process.Result, error) {
	return g.run(ctx, nil, nil, argv)
}

// Ignores reports whether git ignores a path, existing or not; false if git cannot say. This
// question does not work with the environment of Run.
func (g Client) Ignores(ctx context.Context, path string) (bool, error) {
	command, err := g.asks(ctx, []string{"check-ignore", "--quiet", "--", path}, "GIT_LITERAL_PATHSPECS=0")
	if err != nil {
		return false, err
	}
	result, err := process.Run(ctx, command)
	return err == nil && result.Exit == 0, err
}

// run passes git's output to stdout, or returns it if that is nil.
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

// await runs git, and repeats it while another git process holds what it needs.
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

// isHeld reports whether git failed because another git is running: it holds a lock, or is
// creating or removing a work tree, which makes listing them fail.
func isHeld(said string) bool {
	return strings.Contains(said, ".lock': File exists") || strings.Contains(said, "could not lock config file") ||
		strings.Contains(said, "failed to read ") && strings.Contains(said, "/worktrees/")
}

// verb is the git command in a command line.
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

// Must returns git's output, trimmed, and turns a failure into an error with git's standard
// error, since git may have printed much before it failed.
func (g Client) Must(ctx context.Context, argv ...string) (string, error) {
	said, err := g.mustRun(ctx, nil, nil, argv...)
	return strings.TrimSpace(said), err
}

// mustRun is run that turns a failure into an error, and returns the raw output.
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

// Foreign explains that git refuses to read another user's repository, as often in a container,
// and what to type; nil if git ended otherwise. The error is a fault.Store.
func Foreign(r process.Result) error {
	_, at, found := strings.Cut(string(r.Stderr), "detected dubious ownership in repository at '")
	if !found {
		return nil
	}
	at, _, _ = strings.Cut(at, "'\n")
	return &fault.Error{Code: fault.Store, Reason: at + ": belongs to another user, so git refuses to read it",
		Hint: "type git config --global --add safe.directory " + visible.Quoted(at)}
}

// Commit returns the hash of a revision's commit, or a fault.NoRevision.
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
		unknown.Hint = "there is no commit yet: type git add .beads && git commit"
	} else if g.shallow(ctx) {
		unknown.Hint = "this clone is shallow and may lack it: type git fetch --unshallow; in CI, set fetch-depth: 0 on GitHub, GIT_DEPTH: \"0\" on GitLab"
	}
	return "", unknown
}

// outside is the error if there is no repository.
func (g Client) outside() error {
	return &fault.Error{Code: fault.NoRevision, Reason: g.Dir + ": is not in a git repository", Hint: "type git init"}
}

// Commits reports for each name whether it is a commit. It starts git once.
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

// FileAt writes the committed text of a file at a revision to w. path is absolute, without
// symbolic links, and below the root of Dir's repository. If the file had another name then,
// git's rename detection finds it. The error is a fault.NoRevision if there is no such
// revision, or no such file in it.
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

// renamedAt is FileAt for a file that a commit lacks under its current name.
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

// fromHere formats a path, as in FileAt, to follow a commit and a colon: relative to g.Dir, so
// that git need not be asked for the top of its work tree.
func (g Client) fromHere(path string) (string, error) {
	name, err := filepath.Rel(RealPath(g.Dir), path)
	return "./" + filepath.ToSlash(name), err
}

// blob writes the text of a file in a commit to w.
func (g Client) blob(ctx context.Context, commit, name string, w io.Writer) error {
	_, err := g.mustRun(ctx, nil, w, "cat-file", "blob", commit+":"+name)
	return err
}

// nameAt returns the name of a file in a commit that lacks its current one: the one it was
// renamed from since; "" for none.
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
