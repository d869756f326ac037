package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/process"
)

// Tree identifies the content of a work tree. The zero value means no repository.
type Tree struct {
	Head  string `json:"head"`  // the commit; "" before the first one
	Dirty bool   `json:"dirty"` // something differs from Head, untracked files included
	State string `json:"state"` // 64 hexadecimal digits: Head, and all that differs from it
}

// Tracked identifies the content of tracked files, as State does for all; "" without a work
// tree or git.
func (g Client) Tracked(ctx context.Context, without ...string) (string, error) {
	root, err := g.top(ctx)
	if err != nil || root == "" {
		return "", err
	}
	lines, err := g.status(ctx, "no")
	if err != nil {
		return "", err
	}
	tree, _, err := g.look(ctx, root, lines, without)
	return tree.State, err
}

// TreeAndTracked is Tree and Tracked in one pass.
func (g Client) TreeAndTracked(ctx context.Context, without ...string) (tree Tree, tracked string, err error) {
	root, err := g.top(ctx)
	if err != nil || root == "" {
		return Tree{}, "", err
	}
	lines, err := g.Status(ctx)
	if err != nil {
		return Tree{}, "", err
	}
	return g.look(ctx, root, lines, without)
}

// top is the top of g.Dir's work tree; "" without one, or without git.
func (g Client) top(ctx context.Context) (string, error) {
	if g.Top != "" {
		return g.Top, nil
	}
	place, err := g.Place(ctx)
	return place.Root, err
}

// Lacks returns the first of the paths that git tracks and g.Dir's work tree lacks, "" for
// none, and the top of the work tree; sparse says that git omits it on purpose. The paths are
// relative to the top.
func (g Client) Lacks(ctx context.Context, paths ...string) (lacked, top string, sparse bool, err error) {
	if top, err = g.top(ctx); err != nil || top == "" {
		return "", "", false, err
	}
	g.Dir = top
	listed, err := g.Must(ctx, append([]string{"ls-files", "-t", "-z", "--"}, paths...)...)
	for line := range strings.SplitSeq(listed, "\x00") {
		tag, path, _ := strings.Cut(line, " ")
		if _, gone := os.Lstat(filepath.Join(top, filepath.FromSlash(path))); path != "" && errors.Is(gone, fs.ErrNotExist) {
			return path, top, tag == "S", err
		}
	}
	return "", top, false, err
}

// Tree identifies the content of g.Dir's work tree. Ignored files do not count, and neither do
// the files and directories in without, absolute or relative to g.Dir. Without a work tree or
// git it returns the zero value and no error.
func (g Client) Tree(ctx context.Context, without ...string) (Tree, error) {
	tree, _, err := g.TreeAndTracked(ctx, without...)
	return tree, err
}

// look hashes what git status reports for the work tree with top root, and separately the input
// of Tracked.
func (g Client) look(ctx context.Context, root, lines string, without []string) (tree Tree, tracked string, err error) {
	left := below(root, g.Dir, without)
	state, known := sha256.New(), sha256.New()
	for line := range strings.SplitSeq(lines, "\x00") {
		if commit, ok := strings.CutPrefix(line, "# branch.oid "); ok && commit != "(initial)" {
			tree.Head = commit
		}
		path := ChangedPath(line)
		if path == "" || left(path) {
			continue
		}
		tree.Dirty = true
		to := io.MultiWriter(state, known)
		if line[0] == '?' {
			to = state
		}
		_, _ = fmt.Fprintf(to, "%q ", line)
		if err := g.add(ctx, to, filepath.Join(root, filepath.FromSlash(path))); err != nil {
			return Tree{}, "", err
		}
	}
	_, _ = fmt.Fprintf(io.MultiWriter(state, known), "head %s", tree.Head)
	tree.State = hex.EncodeToString(state.Sum(nil))
	return tree, hex.EncodeToString(known.Sum(nil)), nil
}

// Status returns the NUL-terminated lines of git status --porcelain=v2 --branch. ChangedPath
// parses one.
func (g Client) Status(ctx context.Context) (string, error) { return g.status(ctx, "all") }

// status is Status with or without all untracked files.
func (g Client) status(ctx context.Context, untracked string) (string, error) {
	return g.mustRun(ctx, nil, nil, "status", "--porcelain=v2", "--branch", "--no-renames", "--no-ahead-behind", "--untracked-files="+untracked, g.submodules(), "-z")
}

// beyond lists the paths at which the work tree differs from a commit, including untracked
// files, by git status and the index.
func (g Client) beyond(ctx context.Context, base string) ([]string, error) {
	lines, err := g.Status(ctx)
	if err != nil {
		return nil, err
	}
	var paths []string
	for line := range strings.SplitSeq(lines, "\x00") {
		paths = append(paths, ChangedPath(line))
	}
	if base == "" || !strings.Contains(lines, "# branch.oid "+base+"\x00") {
		// This compares only the index: to compare files, git diff would also write the index.
		argv := []string{"diff-index", "--cached", "--name-only", "--no-renames", "-z", base, "--"}
		if base == "" {
			argv = []string{"ls-files", "--cached", "-z"}
		}
		listed, err := g.Must(ctx, argv...)
		if err != nil {
			return nil, err
		}
		paths = append(paths, strings.Split(listed, "\x00")...)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" }), nil
}

// ChangedPath is the path in a line of git status --porcelain=v2 --no-renames -z, "" for none.
func ChangedPath(line string) string {
	before := map[byte]int{'1': 8, 'u': 10, '?': 1} // fields before the path
	if line == "" || before[line[0]] == 0 {
		return ""
	}
	fields := strings.SplitN(line, " ", before[line[0]]+1)
	return strings.TrimSuffix(fields[len(fields)-1], "/")
}

// below returns a function that reports whether a path from git, relative to root, is or is
// below one of names, which are relative to dir.
func below(root, dir string, names []string) func(path string) bool {
	var paths []string
	for _, name := range names {
		if path, err := filepath.Rel(root, RealPath(file.Under(dir, name))); err == nil {
			paths = append(paths, filepath.ToSlash(path))
		}
	}
	return func(path string) bool {
		for _, p := range paths {
			if path == p || strings.HasPrefix(path, p+"/") {
				return true
			}
		}
		return false
	}
}

// RealPath makes a path absolute and resolves symbolic links, as far as the files exist.
func RealPath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(RealPath(parent), filepath.Base(path))
	}
	return path
}

// add hashes the current content of a path. A nested repository counts with its own state, an
// unreadable file with size and time.
func (g Client) add(ctx context.Context, state io.Writer, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_, _ = io.WriteString(state, "gone ")
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(path)
		_, _ = fmt.Fprintf(state, "link %q ", target)
		return err
	case info.IsDir():
		return g.addDirectory(ctx, state, path)
	case !info.Mode().IsRegular():
		_, _ = fmt.Fprintf(state, "%v ", info.Mode())
		return nil
	}
	_, _ = fmt.Fprintf(state, "%v %d ", info.Mode(), info.Size())
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // gone since we looked
		_, _ = io.WriteString(state, "gone ")
		return nil
	case errors.Is(err, fs.ErrPermission):
		_, _ = fmt.Fprintf(state, "%d ", info.ModTime().UnixNano())
		return nil
	case err != nil:
		return err
	}
	_, err = io.Copy(state, f)
	return errors.Join(err, f.Close())
}

func (g Client) addDirectory(ctx context.Context, state io.Writer, path string) error {
	if _, err := os.Lstat(filepath.Join(path, ".git")); err != nil {
		_, _ = io.WriteString(state, "directory ")
		return nil
	}
	// Variables that name our repository do not name the nested one.
	env := slices.DeleteFunc(slices.Clone(g.Env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(PlaceVariables, name)
	})
	inner, err := Client{Dir: path, Env: env, Trusted: g.Trusted}.Tree(ctx)
	_, _ = fmt.Fprintf(state, "repository %s ", inner.State)
	return err
}

// Place is the location of a repository. The zero value means none.
type Place struct {
	Root string // the top of the work tree
	Home string // shared by its work trees: the top of the main one, or git's directory
	Own  string // stig's directory in git's own directory of this work tree; it may not exist yet
}

// Place returns the locations of g.Dir's repository, all absolute. Without a work tree or git
// it returns the zero value and no error.
func (g Client) Place(ctx context.Context) (Place, error) {
	if g.isOutside() {
		return Place{}, nil
	}
	argv := []string{"rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--git-path", "stig"}
	result, err := g.Run(ctx, argv...)
	if errors.Is(err, process.ErrNotFound) {
		return Place{}, nil
	}
	if err != nil {
		return Place{}, err
	}
	if result.Exit != 0 {
		said := string(result.Stderr)
		for _, none := range []string{"not a git repository", "must be run in a work tree", "cannot use bare repository"} {
			if strings.Contains(said, none) {
				return Place{}, nil
			}
		}
		return Place{}, failure(argv, result)
	}
	lines := strings.Split(strings.TrimSuffix(string(result.Stdout), "\n"), "\n")
	if len(lines) != 3 { // a path contains a line break: git is asked for each separately
		lines = nil
		for _, what := range [][]string{argv[2:3], argv[3:4], argv[4:]} {
			if result, err = g.Run(ctx, append(argv[:2:2], what...)...); err != nil {
				return Place{}, err
			}
			lines = append(lines, strings.TrimSuffix(string(result.Stdout), "\n"))
		}
	}
	common := filepath.FromSlash(lines[1])
	p := Place{Root: filepath.FromSlash(lines[0]), Home: common, Own: filepath.FromSlash(lines[2])}
	if filepath.Base(common) == ".git" {
		p.Home = filepath.Dir(common)
	}
	return p, nil
}

// isOutside reports whether git, which takes longer than the rest of a small command, would
// find no repository around g.Dir: the environment names none, and no directory above contains
// .git.
func (g Client) isOutside() bool {
	for _, variable := range g.Env {
		if dir, named := strings.CutPrefix(variable, "GIT_DIR="); named && dir != "" {
			return false
		}
	}
	for dir := RealPath(g.Dir); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}

// RootCommit returns the first commit of a repository, "" before that and outside a repository:
// the first of known that is an ancestor of HEAD; of several roots the oldest.
func (g Client) RootCommit(ctx context.Context, known ...string) (string, error) {
	if g.isOutside() {
		return "", nil
	}
	for _, commit := range known {
		if !IsHash(commit) {
			continue
		}
		// Anybody can add a commit to a repository: it must be an ancestor of HEAD.
		if result, err := g.Run(ctx, "merge-base", "--is-ancestor", commit, "HEAD"); err == nil && result.Exit == 0 {
			return commit, nil
		}
	}
	roots, err := g.Must(ctx, "rev-list", "--max-parents=0", "HEAD")
	if err == nil {
		return roots[strings.LastIndexByte(roots, '\n')+1:], nil
	}
	if _, reason := g.Commit(ctx, "HEAD"); reason != nil {
		if fault.Is(reason, fault.NoRevision) || errors.Is(reason, process.ErrNotFound) {
			return "", nil
		}
		return "", reason
	}
	return "", err
}

// IsHash reports whether a text is a full object name, which no reference can hide.
func IsHash(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && (len(text) == 40 || len(text) == 64)
}
