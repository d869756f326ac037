package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// keepDir exists in git's directory of a work tree while Keep is active: a tree that was not
// restored, because the process was killed, is recreated.
const keepDir = "stig-keep"

// Keep records the content of a work tree, and returns a function that restores it: new files
// are removed, including ignored ones, and changed or removed files are restored. Ignored files
// that existed stay as they are by then.
func (t *Worktree) Keep(ctx context.Context) (back func(context.Context) error, err error) {
	g := t.git()
	head, err := t.head(ctx)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(t.own, keepDir)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	forget := func() error { return os.RemoveAll(dir) }
	index, real := filepath.Join(dir, "index"), filepath.Join(t.own, "index")
	kept := g
	kept.Env = append(slices.Clone(g.Env), "GIT_INDEX_FILE="+index)
	err = copyFile(real, index)
	if err == nil {
		_, err = kept.Must(ctx, "add", "--all", "--sparse")
	}
	var had map[string]bool
	if err == nil {
		had, err = t.others(ctx, kept)
	}
	if err != nil {
		return nil, errors.Join(err, forget())
	}
	saved := filepath.Join(dir, "saved")
	if err := copyFile(real, saved); err != nil {
		return nil, errors.Join(err, forget())
	}
	return func(ctx context.Context) error {
		err := t.putBack(ctx, kept, had)
		if now, e := t.head(ctx); e != nil || now != head {
			_, moved := g.Must(ctx, "update-ref", "-m", "stig: put back", "refs/heads/"+t.Branch, head)
			err = errors.Join(err, moved, t.attach(ctx))
		}
		return errors.Join(err, copyFile(saved, real), forget())
	}, nil
}

// copyFile copies a small file of git's own.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// putBack restores the files of the tree from an index, and removes others.
func (t *Worktree) putBack(ctx context.Context, kept Client, had map[string]bool) error {
	now, err := t.others(ctx, kept)
	if err != nil {
		return err
	}
	for path := range now {
		if had[path] {
			continue
		}
		full := filepath.Join(t.Dir, filepath.FromSlash(path))
		if err := os.RemoveAll(full); err != nil {
			return err
		}
		for dir := filepath.Dir(full); dir != t.Dir && os.Remove(dir) == nil; { // only if it is empty
			dir = filepath.Dir(dir)
		}
	}
	differ, err := kept.Run(ctx, "diff-files", "--name-only", "-z", "--ignore-submodules=all")
	if err != nil {
		return err
	}
	if len(differ.Stdout) == 0 {
		return nil
	}
	return kept.accepted(ctx, nil, differ.Stdout, "checkout-index", "--force", "-z", "--stdin")
}

// others are the files missing from an index, including ignored ones.
func (t *Worktree) others(ctx context.Context, kept Client) (map[string]bool, error) {
	said, err := kept.Must(ctx, "ls-files", "-z", "--others")
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for path := range strings.SplitSeq(said, "\x00") {
		if path != "" && !t.repo.isStore(path) {
			paths[path] = true
		}
	}
	return paths, nil
}

// Stands lists how the files of the work tree differ from its commit, including submodules, one
// path a line with the reason; nil if they are equal.
func (t *Worktree) Stands(ctx context.Context) (differs []string, err error) {
	lines, err := t.git().Status(ctx)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(lines, "\x00") {
		path := ChangedPath(line)
		if path == "" || t.repo.isStore(path) {
			continue
		}
		differs = append(differs, path+": "+t.why(ctx, line, path))
	}
	return differs, nil
}

// why describes the difference in a line of git status.
func (t *Worktree) why(ctx context.Context, line, path string) string {
	if line[0] == '?' {
		return "is not in the commit"
	}
	if sub := strings.Fields(line)[2]; sub[0] == 'S' {
		if sub[1] != 'C' {
			return "is a submodule with uncommitted changes"
		}
		recorded, _ := t.git().Run(ctx, "rev-parse", "--short", "HEAD:"+path)
		inner, _ := Client{Dir: filepath.Join(t.Dir, filepath.FromSlash(path)), Env: t.git().Env}.Run(ctx, "rev-parse", "--short", "HEAD")
		return "is a submodule at " + strings.TrimSpace(string(inner.Stdout)) + ", where the commit has " + strings.TrimSpace(string(recorded.Stdout)) +
			"; git submodule update --init --recursive brings it there"
	}
	return "differs from the commit"
}

// Lacking lists what the commit has in submodules or LFS and the work tree lacks: directories
// of missing submodules, and files that are LFS pointers.
func (g Client) Lacking(ctx context.Context) (submodules, pointers []string, err error) {
	modules, attributes := isThere(filepath.Join(g.Dir, ".gitmodules")), isThere(filepath.Join(g.Dir, ".gitattributes"))
	if !modules && !attributes { // which name submodules, and LFS files
		return nil, nil, nil
	}
	staged, err := g.Must(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return nil, nil, err
	}
	var files []string
	for line := range strings.SplitSeq(staged, "\x00") {
		stat, path, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(stat, gitlink) && !isThere(filepath.Join(g.Dir, filepath.FromSlash(path), ".git")) {
			submodules = append(submodules, path)
		} else if attributes && path != "" {
			files = append(files, path)
		}
	}
	for _, path := range files {
		full := filepath.Join(g.Dir, filepath.FromSlash(path))
		if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() || info.Size() > 1024 {
			continue
		}
		if text, err := os.ReadFile(full); err == nil && strings.HasPrefix(string(text), "version https://git-lfs.github.com/spec/") {
			pointers = append(pointers, path)
		}
	}
	return submodules, pointers, nil
}

// Ignored lists existing files that git ignores, a directory with a slash at its end, except
// those below without, as for Tree. g.Dir must be in a work tree with top g.Top.
func (g Client) Ignored(ctx context.Context, without ...string) (paths []string, err error) {
	out := below(g.Top, g.Dir, without)
	g.Dir = g.Top
	said, err := g.Must(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return nil, err
	}
	for path := range strings.SplitSeq(said, "\x00") {
		if path != "" && !out(strings.TrimSuffix(path, "/")) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}
