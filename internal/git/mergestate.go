package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/file"
	"stig/internal/process"
)

// MergeState says what an unfinished merge left of one file. The zero value means that nothing
// is wrong with it.
type MergeState struct {
	// Doing is the unfinished operation: merge, cherry-pick, revert, rebase or am; "" for
	// another command, such as git stash pop or git checkout -m.
	Doing    string
	Unmerged bool // the file had a conflict, without a git add since
	Alone    bool // in the work tree or in the index it is our unchanged version
	Redo     bool // git checkout -m merges the file again

	// Sides are others' changes to a file that is our unchanged version after git add. A merge
	// that dropped their changes looks like this, and so does a correct one if ours contains
	// all of them.
	Sides []Side
}

// Side is one version of a file to merge into ours, and their base; a text is "" if there is no
// such file.
type Side struct{ Base, Ours, Theirs string }

// progress is a file in git's directory of a work tree that exists while a command is
// unfinished.
type progress struct{ file, doing, head string }

// inProgress lists these files; the first that exists counts. AUTO_MERGE remains after the
// conflicts of most merging commands, including git stash pop.
var inProgress = []progress{
	{"MERGE_HEAD", "merge", "MERGE_HEAD"},
	{"rebase-merge", "rebase", "REBASE_HEAD"},
	{"rebase-apply/rebasing", "rebase", "REBASE_HEAD"},
	{"rebase-apply", "am", ""},
	{"CHERRY_PICK_HEAD", "cherry-pick", "CHERRY_PICK_HEAD"},
	{"REVERT_HEAD", "revert", "REVERT_HEAD"},
	{"SQUASH_MSG", "", ""},
	{"AUTO_MERGE", "", ""},
}

// MergeState determines what an unfinished merge left of the file at path, which is absolute
// and without symbolic links. It starts git only if a file in git's directory shows an
// unfinished command, or if thorough is set: then it also finds conflicts of git checkout -m,
// for which git before 2.50 leaves no such file. Outside a repository, and if git is not on
// PATH, the state is zero, without an error.
func (g Client) MergeState(ctx context.Context, path string, thorough bool) (MergeState, error) {
	own := ownDirectory(filepath.Dir(path))
	if own == "" {
		return MergeState{}, nil
	}
	now, found := progressIn(own)
	if !found && !thorough {
		return MergeState{}, nil
	}
	state, err := g.Beside(path).mergeState(ctx, own, filepath.Base(path), now)
	if errors.Is(err, process.ErrNotFound) || err != nil && !found && ctx.Err() == nil {
		return MergeState{}, nil // if git does not work, nothing merges either
	}
	return state, err
}

// ownDirectory is git's directory of the work tree that contains a directory, or "". In a
// linked work tree and in a submodule the file .git names it.
func ownDirectory(dir string) string {
	for {
		path := filepath.Join(dir, ".git")
		if there, err := DotGit(dir); err == nil && there != "" {
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				return path
			}
		}
		if text, err := os.ReadFile(path); err == nil {
			link := strings.TrimSpace(strings.TrimPrefix(string(text), "gitdir:"))
			return file.Under(dir, link)
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

func progressIn(own string) (progress, bool) {
	for _, p := range inProgress {
		if _, err := os.Stat(filepath.Join(own, filepath.FromSlash(p.file))); err == nil {
			return p, true
		}
	}
	return progress{}, false
}

// Busy names the unfinished operation of a work tree, given git's directory of it: one that git
// can continue, such as rebase. It is "" for none, and does not start git.
func Busy(own string) string {
	if own == "" {
		return ""
	}
	if p, found := progressIn(own); found && p.doing != "" {
		return p.doing
	}
	if _, err := os.Stat(filepath.Join(own, "BISECT_LOG")); err == nil { // merges nothing
		return "bisect"
	}
	return ""
}

// Underway names the operation in progress in a work tree: the result of Busy, or "switch"
// while a git writes the index, as it does for minutes when it checks out many files. It is ""
// for none, and does not start git.
func Underway(own string) string {
	if doing := Busy(own); doing != "" || own == "" {
		return doing
	}
	if _, err := os.Stat(filepath.Join(own, "index.lock")); err == nil {
		return "switch"
	}
	return ""
}

// Beside is git in the directory of the file at path, in the repository around it: in a linked
// work tree git sets GIT_DIR for its hooks, which makes every directory the top of the work
// tree. GIT_INDEX_FILE stays, since that index is about to be committed. Without a .git around
// the file the variables stay.
func (g Client) Beside(path string) Client { return g.around(path, "GIT_INDEX_FILE") }

// Around is Beside without GIT_INDEX_FILE: a hook's index may belong to another work tree than
// the file, and must not be written there.
func (g Client) Around(path string) Client { return g.around(path, "") }

func (g Client) around(path, keep string) Client {
	g.Dir, g.Top = filepath.Dir(path), ""
	if ownDirectory(g.Dir) == "" {
		return g
	}
	g.Env = slices.DeleteFunc(slices.Clone(g.Env), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return name != keep && slices.Contains(PlaceVariables, name)
	})
	return g
}

// mergeState asks git about the file called name in g.Dir.
func (g Client) mergeState(ctx context.Context, own, name string, now progress) (MergeState, error) {
	stages, err := g.stages(ctx, name)
	if err != nil || stages == (versions{}) || stages.merged != "" && now.head == "" {
		return MergeState{}, err
	}
	present, err := g.Must(ctx, "hash-object", "--", name)
	if err != nil {
		return MergeState{}, err
	}
	if stages.merged == "" {
		return MergeState{
			Doing: now.doing, Unmerged: true, Alone: present == stages.ours,
			Redo: stages.ours != "" && stages.theirs != "",
		}, nil
	}
	ours, err := g.blobAt(ctx, "HEAD", name)
	if err != nil || present != ours && stages.merged != ours {
		return MergeState{}, err
	}
	sides, err := g.sides(ctx, own, name, ours, now)
	if err != nil || len(sides) == 0 {
		return MergeState{}, err
	}
	undo, err := g.Must(ctx, "ls-files", "--resolve-undo", "--", name)
	return MergeState{Doing: now.doing, Alone: true, Redo: undo != "", Sides: sides}, err
}

// Conflict returns the versions of the file at path that git could not merge, as in the index
// until git add; the zero value for a file without a conflict.
func (g Client) Conflict(ctx context.Context, path string) (Side, error) {
	g = g.Beside(path)
	stages, err := g.stages(ctx, filepath.Base(path))
	if err != nil || stages.merged != "" {
		return Side{}, err
	}
	return g.side(ctx, stages.base, stages.ours, stages.theirs)
}

// versions are the versions of a file in the index, as blob names, or "".
type versions struct{ merged, base, ours, theirs string }

func (g Client) stages(ctx context.Context, name string) (v versions, err error) {
	list, err := g.Must(ctx, "ls-files", "--stage", "--", name)
	for line := range strings.Lines(list) {
		fields := strings.Fields(line) // mode, blob, stage, name
		if len(fields) < 3 {
			continue
		}
		switch fields[2] {
		case "0":
			v.merged = fields[1]
		case "1":
			v.base = fields[1]
		case "2":
			v.ours = fields[1]
		case "3":
			v.theirs = fields[1]
		}
	}
	return v, err
}

// sides are the versions that changed the file differently from ours.
func (g Client) sides(ctx context.Context, own, name, ours string, now progress) (sides []Side, err error) {
	heads := []string{now.head}
	if now.doing == "merge" {
		text, err := os.ReadFile(filepath.Join(own, now.head))
		if err != nil {
			return nil, err
		}
		heads = strings.Fields(string(text))
	}
	for _, head := range heads {
		from, to, err := g.changed(ctx, head, now.doing)
		if err != nil {
			return nil, err
		}
		base, err := g.blobAt(ctx, from, name)
		if err != nil {
			return nil, err
		}
		theirs, err := g.blobAt(ctx, to, name)
		if err != nil {
			return nil, err
		}
		if theirs == "" || theirs == base || theirs == ours {
			continue
		}
		side, err := g.side(ctx, base, ours, theirs)
		if err != nil {
			return nil, err
		}
		sides = append(sides, side)
	}
	return sides, nil
}

// changed returns the two commits whose difference a command brings in.
func (g Client) changed(ctx context.Context, head, doing string) (from, to string, err error) {
	switch doing {
	case "merge":
		bases, err := g.Run(ctx, "merge-base", "HEAD", head)
		return strings.TrimSpace(string(bases.Stdout)), head, err
	case "revert":
		return head, head + "^", nil
	}
	return head + "^", head, nil
}

// blobAt is the blob of the file called name in a commit; "" if either is missing.
func (g Client) blobAt(ctx context.Context, commit, name string) (string, error) {
	if commit == "" {
		return "", nil
	}
	result, err := g.Run(ctx, "rev-parse", "--quiet", "--verify", "--end-of-options", commit+":./"+name)
	if err != nil || result.Exit != 0 {
		return "", err
	}
	return strings.TrimSpace(string(result.Stdout)), nil
}

func (g Client) side(ctx context.Context, blobs ...string) (Side, error) {
	var texts [3]string
	for i, blob := range blobs {
		if blob == "" {
			continue
		}
		text, err := g.mustRun(ctx, nil, nil, "cat-file", "blob", blob)
		if err != nil {
			return Side{}, err
		}
		texts[i] = text
	}
	return Side{Base: texts[0], Ours: texts[1], Theirs: texts[2]}, nil
}
