package git

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/visible"
)

// Shared is the state that a repository's work trees share at one moment, and the state of a
// person's checkout. It contains the raw configuration, including credentials.
type Shared struct {
	Settings map[string][]string `json:"settings"` // values in their order, by the name of the file in git's directory, or global, a slash, and the key
	Refs     map[string]string   `json:"refs"`     // objects by whole names, but for references of stig
	Stashes  []string            `json:"stashes"`  // commits, the last first
	Files    map[string]string   `json:"files"`    // hashes of hooks and of info, by path in git's directory
	Heads    map[string]string   `json:"heads"`    // what HEAD says, by the directories of work trees of people
	Paths    map[string]string   `json:"paths"`    // size and time of what differs in the checkout; null where it is too large to be looked at
}

// Watch observes what a repository shares. It belongs to one goroutine.
type Watch struct {
	Git     Client   // in the person's checkout
	At      Checkout // the person's checkout
	Onto    string   // the branch for results
	Trees   string   // the directory of stig's work trees, which are nobody's checkout; "" for none
	Without []string // files of the checkout that do not count, as for Tree
	InPlace bool     // the worker works in the checkout: branches, HEAD and files do not count

	read map[string]map[string][]string // settings, cached by their text
}

// mostWatched limits how many files a checkout may have for its files to be observed: git
// status takes about 50 ms for that many.
const mostWatched = 10_000

// longestLook limits how long git may take to list them, since there may be any number of
// untracked files.
const longestLook = 5 * time.Second

// Look records the whole state.
func (w *Watch) Look(ctx context.Context) (s Shared, err error) {
	var files sync.WaitGroup
	var unseen error
	if !w.InPlace && w.entries() <= mostWatched {
		files.Go(func() { s.Paths, unseen = w.paths(ctx) })
	}
	s.Files, s.Heads = w.files(), w.heads()
	if s.Settings, err = w.settings(ctx); err == nil {
		s.Refs, err = w.refs(ctx)
	}
	if err == nil && s.Refs[stashRef] != "" {
		s.Stashes, err = w.stashes(ctx)
	}
	delete(s.Refs, stashRef)
	files.Wait()
	return s, errors.Join(err, unseen)
}

func (w *Watch) git() Client {
	g := w.Git
	g.Dir, g.Trusted = cmp.Or(w.Git.Dir, w.At.Root), true
	return g
}

const stashRef = "refs/stash"

// entries is the number of files in the checkout's index, from its header; 0 if that is
// unreadable.
func (w *Watch) entries() int {
	var head [12]byte
	f, err := os.Open(filepath.Join(w.At.Own, "index"))
	if err != nil {
		return 0
	}
	defer f.Close()
	if n, _ := f.Read(head[:]); n < len(head) {
		return 0
	}
	return int(head[8])<<24 | int(head[9])<<16 | int(head[10])<<8 | int(head[11])
}

// paths are the files of the checkout that differ from its commit; nil if git takes too long.
func (w *Watch) paths(ctx context.Context) (map[string]string, error) {
	limited, cancel := context.WithTimeout(ctx, longestLook)
	defer cancel()
	argv := []string{"status", "--porcelain=v2", "--no-renames", "--untracked-files=all", "--ignore-submodules=all", "-z"}
	lines, err := w.git().Must(limited, argv...)
	if limited.Err() != nil && ctx.Err() == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, found := below(w.At.Root, w.At.Root, w.Without), map[string]string{}
	for line := range strings.SplitSeq(lines, "\x00") {
		if path := ChangedPath(line); path != "" && !out(path) {
			found[path] = fileState(filepath.Join(w.At.Root, filepath.FromSlash(path)))
		}
	}
	return found, nil
}

// fileState identifies a version of a file.
func fileState(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "gone"
	}
	return fmt.Sprintf("%v %d %d", info.Mode(), info.Size(), info.ModTime().UnixNano())
}

// files are hooks that git starts, and files that configure what it ignores and how it reads
// files.
func (w *Watch) files() map[string]string {
	found := map[string]string{}
	for _, dir := range []string{"hooks", "info"} {
		entries, _ := os.ReadDir(filepath.Join(w.At.Common, dir)) // a missing one has none
		for _, entry := range entries {
			name := dir + "/" + entry.Name()
			if strings.HasSuffix(name, ".sample") || entry.IsDir() || name == "info/refs" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(w.At.Common, name))
			if name == "info/exclude" && err == nil {
				if text = withoutLocks(text); len(text) == 0 {
					continue
				}
			}
			sum := sha256.Sum256(text)
			if found[name] = hex.EncodeToString(sum[:8]); errors.Is(err, fs.ErrPermission) {
				found[name] = fileState(filepath.Join(w.At.Common, name))
			}
		}
	}
	return found
}

// withoutLocks removes the lines with which stig makes git ignore the locks of stores.
func withoutLocks(exclude []byte) (rest []byte) {
	for line := range bytes.Lines(exclude) {
		if !bytes.HasSuffix(bytes.TrimSpace(line), []byte("/.jsonl.lock")) {
			rest = append(rest, line...)
		}
	}
	return rest
}

// heads returns what the work trees other than stig's have checked out.
func (w *Watch) heads() map[string]string {
	found := map[string]string{}
	trees := ownDirectories(w.At.Common)
	if w.At.Own == w.At.Common {
		trees[w.At.Root] = w.At.Common
	} else {
		trees[filepath.Dir(w.At.Common)] = w.At.Common
	}
	for dir, own := range trees {
		text, err := os.ReadFile(filepath.Join(own, "HEAD"))
		_, ours := readNote(own)
		ours = ours || w.Trees != "" && strings.HasPrefix(dir, w.Trees+string(filepath.Separator))
		if err == nil && !ours && !(w.InPlace && own == w.At.Own) {
			found[dir] = strings.TrimSpace(string(text))
		}
	}
	return found
}

func (w *Watch) refs(ctx context.Context) (map[string]string, error) {
	said, err := w.git().Must(ctx, "for-each-ref", "--format=%(objectname) %(refname)")
	found := map[string]string{}
	for line := range strings.Lines(said) {
		object, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "" && !w.isOurs(name) {
			found[name] = object
		}
	}
	return found, err
}

// isOurs reports whether stig, or git by itself, moves a reference.
func (w *Watch) isOurs(name string) bool {
	branch, is := strings.CutPrefix(name, "refs/heads/")
	return is && w.InPlace || branch == w.Onto || strings.HasPrefix(branch, namespace+"/") || strings.HasPrefix(name, "refs/"+namespace+"/") ||
		strings.HasPrefix(name, "refs/prefetch/") || strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/bisect/")
}

func (w *Watch) stashes(ctx context.Context) ([]string, error) {
	said, err := w.git().Run(ctx, "log", "--walk-reflogs", "--format=%H", stashRef, "--") // fails if there is none
	return strings.Fields(string(said.Stdout)), err
}

// Signature is how commits and reflogs identify a worker as their author.
type Signature struct {
	Name, Email string
	Since       time.Time // start of its run
	Unclear     bool      // the same as the person's
	Others      []string  // actors of concurrent runs
}

// actor returns the worker named in a line such as "bo <ann@example.org>"; "" for none.
func (s Signature) actor(line string) string {
	if s.Unclear {
		return ""
	}
	for _, name := range append([]string{s.Name}, s.Others...) {
		if name = plain(name); line == name+" <"+s.Email+">" || line == name+" <"+name+addressEnd+">" {
			return name
		}
	}
	return ""
}

// Changes lists the differences between two looks in a fixed order, without those signed by
// workers of other runs, which report them.
func (w *Watch) Changes(ctx context.Context, was, now Shared, who Signature) (list []SharedChange, err error) {
	list = slices.Concat(settingChanges(was, now), w.fileChanges(was, now))
	differing(was.Refs, now.Refs, func(name, a, b string) {
		by := w.moved(ctx, name, a, b, who)
		if by == "" && strings.HasPrefix(name, "refs/remotes/") { // from anybody's fetch
			return
		}
		c := SharedChange{Kind: SharedRef, Name: name, Was: a, Now: b, By: by}
		for prefix, kind := range map[string]SharedKind{"refs/heads/": SharedBranch, "refs/tags/": SharedTag} {
			if short, ok := strings.CutPrefix(name, prefix); ok {
				c.Kind, c.Name, c.In = kind, short, headIn(now.Heads, name)
			}
		}
		list = append(list, c)
	})
	differing(was.Heads, now.Heads, func(dir, a, b string) {
		if a != "" && b != "" { // otherwise the work tree is new, or gone
			list = append(list, SharedChange{Kind: SharedHead, Name: dir, In: dir, Was: a, Now: b, By: w.switched(ctx, dir, who)})
		}
	})
	for _, one := range without(keyed(now.Stashes), was.Stashes) {
		subject, by := w.stash(ctx, one, who)
		list = append(list, SharedChange{Kind: SharedStash, Name: one, Now: subject, By: by})
	}
	for _, one := range without(keyed(was.Stashes), now.Stashes) {
		subject, by := w.stash(ctx, one, who)
		list = append(list, SharedChange{Kind: SharedStash, Name: one, Was: subject, By: by})
	}
	return slices.DeleteFunc(list, func(c SharedChange) bool { return c.By != "" && c.By != who.Name }), ctx.Err()
}

func keyed(list []string) map[string]string {
	keys := map[string]string{}
	for _, one := range list {
		keys[one] = one
	}
	return keys
}

// differing calls do for each key whose value changed, in key order; the zero value means none.
func differing[V any](was, now map[string]V, do func(key string, was, now V)) {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(was)), maps.Keys(now))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if !reflect.DeepEqual(was[key], now[key]) {
			do(key, was[key], now[key])
		}
	}
}

// headIn is the work tree that has a branch checked out; "" for none.
func headIn(heads map[string]string, ref string) string {
	for _, dir := range slices.Sorted(maps.Keys(heads)) {
		if heads[dir] == "ref: "+ref {
			return dir
		}
	}
	return ""
}

func (w *Watch) fileChanges(was, now Shared) (list []SharedChange) {
	differing(was.Files, now.Files, func(name, a, b string) {
		list = append(list, SharedChange{Kind: SharedFile, Name: name, Was: a, Now: b})
	})
	if was.Paths != nil && now.Paths != nil {
		differing(was.Paths, now.Paths, func(path, a, b string) {
			if b != "" { // otherwise it was committed, or is unchanged
				list = append(list, SharedChange{Kind: SharedPath, Name: path, Was: a, Now: b, In: w.At.Root})
			}
		})
	}
	return list
}

// mostMoves limits how many reflog entries and commits are searched for a signature.
const mostMoves = "100"

// moved is the worker that moved a reference, by the signature of a reflog entry or, without
// one, of a new commit; "" if unknown.
func (w *Watch) moved(ctx context.Context, name, was, now string, who Signature) string {
	if now == "" {
		return "" // with its reflog
	}
	entries := w.lines(ctx, "--walk-reflogs", "--format=%H %gn <%ge>", name)
	for _, entry := range entries {
		commit, by, _ := strings.Cut(entry, " ")
		if commit == was {
			break
		}
		if actor := who.actor(by); actor != "" {
			return actor
		}
	}
	if len(entries) > 0 {
		return ""
	}
	commits := []string{"--format=%an <%ae>%n%cn <%ce>", "--since=" + who.Since.Format(time.RFC3339), now}
	if was != "" {
		commits = append(commits, "^"+was)
	}
	for _, line := range w.lines(ctx, commits...) {
		if actor := who.actor(line); actor != "" {
			return actor
		}
	}
	return ""
}

// lines are the lines of git log; none if it fails, for example without a reflog.
func (w *Watch) lines(ctx context.Context, argv ...string) []string {
	said, err := w.git().Run(ctx, append(append([]string{"log", "--max-count=" + mostMoves}, argv...), "--")...)
	if err != nil || said.Exit != 0 {
		return nil
	}
	return strings.FieldsFunc(string(said.Stdout), func(r rune) bool { return r == '\n' })
}

// switched is the worker that last moved HEAD of a work tree; "" if unknown.
func (w *Watch) switched(ctx context.Context, dir string, who Signature) string {
	there := *w
	there.Git.Dir = dir
	for _, line := range there.lines(ctx, "--walk-reflogs", "--format=%gn <%ge>", "HEAD") {
		return who.actor(line)
	}
	return ""
}

// stash returns a stash's message, and the worker that made it; "" if unknown.
func (w *Watch) stash(ctx context.Context, commit string, who Signature) (subject, by string) {
	lines := append(w.lines(ctx, "--no-walk", "--format=%an <%ae>%n%s", commit), "", "")
	return visible.HideSecrets(cmp.Or(lines[1], commit)), who.actor(lines[0])
}

// Sign returns an actor's signature, and the variables that make git use it: the actor's name,
// with the person's address if git knows one, so that hosts show whose worker it was. If
// commits are signed with a key chosen by committer, the committer stays the person.
func (w *Watch) Sign(ctx context.Context, actor string) (Signature, []string, error) {
	g := w.git()
	said, err := g.Run(ctx, "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return Signature{}, nil, err
	}
	person, rest, _ := strings.Cut(strings.TrimSpace(string(said.Stdout)), " <")
	address, _, _ := strings.Cut(rest, ">")
	who := Signature{Name: plain(actor)}
	who.Email, who.Unclear = cmp.Or(address, who.Name+addressEnd), person == who.Name
	env := []string{"GIT_AUTHOR_NAME=" + who.Name, "GIT_AUTHOR_EMAIL=" + who.Email}
	if key, err := g.Run(ctx, "config", "user.signingKey"); err != nil || key.Exit != 0 {
		if signs, err := signs(ctx, g); err != nil || signs {
			return who, env, err
		}
	}
	return who, append(env, "GIT_COMMITTER_NAME="+who.Name, "GIT_COMMITTER_EMAIL="+who.Email), nil
}
