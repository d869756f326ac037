package git

import (
	"bytes"
	"context"
	"crypto/sha1" // as git does
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Content identifies how the files of a work tree differ from a commit, whatever git status
// says; it stays the same when the difference is committed. A file changed only by checkout
// filters and line endings counts as unchanged, and so does a submodule that is missing or at
// its commit. Files in without do not count, as for Tree, nor those that left names, given
// whether the commit has them; nil names none. g.Dir must be the top of the work tree; base ""
// means the commit before the first one.
func (g Client) Content(ctx context.Context, base string, left func(path string, tracked bool) bool, without ...string) (state string, paths []string, err error) {
	listed, err := g.beyond(ctx, base)
	if err != nil {
		return "", nil, err
	}
	out := below(g.Dir, g.Dir, without)
	listed = slices.DeleteFunc(listed, out)
	was, err := g.entries(ctx, base, listed)
	if err != nil {
		return "", nil, err
	}
	listed = slices.DeleteFunc(listed, func(path string) bool { return left != nil && left(path, was[path] != entry{}) })
	sum := sha256.New()
	const most = 500 // files that the checkout may have written differently; more than that are work
	for i, path := range listed {
		full := filepath.Join(g.Dir, filepath.FromSlash(path))
		if i < most {
			if same, err := g.same(ctx, base, path, full, was[path]); err != nil {
				return "", nil, err
			} else if same {
				continue
			}
		}
		paths = append(paths, path)
		_, _ = fmt.Fprintf(sum, "%q ", path)
		if err := g.add(ctx, sum, full); err != nil {
			return "", nil, err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), paths, nil
}

// NoContent is the result of Content if nothing differs.
const NoContent = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// entry is what a commit has at a path; the zero value for nothing.
type entry struct{ mode, object string }

// entries returns what a commit has at paths.
func (g Client) entries(ctx context.Context, base string, paths []string) (map[string]entry, error) {
	found := map[string]entry{}
	if base == "" {
		return found, nil
	}
	for some := range slices.Chunk(paths, 500) {
		said, err := g.Must(ctx, append([]string{"ls-tree", "-z", "--full-tree", base, "--"}, some...)...)
		if err != nil {
			return nil, err
		}
		for line := range strings.SplitSeq(said, "\x00") {
			stat, path, _ := strings.Cut(line, "\t")
			if fields := strings.Fields(stat); len(fields) == 3 {
				found[path] = entry{fields[0], fields[2]}
			}
		}
	}
	return found, nil
}

// same reports whether a path has the same content as in a commit.
func (g Client) same(ctx context.Context, base, path, full string, was entry) (bool, error) {
	info, err := os.Lstat(full)
	switch {
	case was == entry{}, was.mode == "120000":
		return false, nil // otherwise the link would not be listed
	case was.mode == gitlink:
		if err != nil || !info.IsDir() || !isThere(filepath.Join(full, ".git")) {
			return err == nil && info.IsDir(), nil
		}
		inner, err := Client{Dir: full, Env: g.Env, Trusted: g.Trusted}.Tree(ctx)
		return inner.Head == was.object && !inner.Dirty, err
	case err != nil || !info.Mode().IsRegular():
		return false, nil
	}
	if runs := info.Mode()&0o100 != 0; runs != (was.mode == "100755") {
		return false, nil
	}
	text, err := os.ReadFile(full)
	if err != nil {
		return false, nil // it counts by size and time
	}
	if object := blobOf(text, len(was.object)); object == was.object {
		return true, nil
	}
	result, err := g.Run(ctx, "cat-file", "--filters", base+":"+path)
	return err == nil && result.Exit == 0 && bytes.Equal(result.Stdout, text), err
}

// blobOf returns git's name for a file, with that many digits.
func blobOf(text []byte, digits int) string {
	named := append(fmt.Appendf(nil, "blob %d\x00", len(text)), text...)
	if digits == 2*sha256.Size {
		sum := sha256.Sum256(named)
		return hex.EncodeToString(sum[:])
	}
	sum := sha1.Sum(named)
	return hex.EncodeToString(sum[:])
}

// Change is a file that differs between two commits.
type Change struct {
	Path string // from the top, with slashes
	Was  bool   // the first commit has it
}

// Between lists the files that differ between two commits, except those below without, a path
// from the top; "" omits nothing.
func (g Client) Between(ctx context.Context, from, to, without string) (list []Change, err error) {
	said, err := g.Must(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(said, "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		if path := fields[i+1]; without == "" || path != without && !strings.HasPrefix(path, without+"/") {
			list = append(list, Change{path, fields[i] != "A"})
		}
	}
	return list, nil
}
