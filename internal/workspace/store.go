package workspace

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/store/bd"
	"stig/internal/store/jsonl"
	"stig/internal/store/sql"
	"stig/internal/visible"
)

// Where returns what determines the store of this run.
func (a *Run) Where() jsonl.Where {
	return jsonl.Where{Dir: cmp.Or(a.Dir, "."), File: a.Store, BeadsDir: a.Getenv("BEADS_DIR")}
}

// Discover finds the store of this run and reads its configuration.
func (a *Run) Discover() (beads.Store, error) {
	place, err := jsonl.Discover(a.Where())
	if err != nil {
		return nil, cmp.Or(a.notHere(context.Background(), a.Where().Dir, err), err)
	}
	place.Path = Shortest(place.Path)
	if place.Copy != "" {
		place.Copy = Shortest(place.Copy)
	}
	sparing(place.Path)
	return a.At(place), a.Configure(place)
}

// leastHeap is the minimum limit that sparing sets, in bytes.
const leastHeap = 256 << 20

// sparing limits memory to twice the store, so that garbage is collected more often above that:
// a line of 100 MB is copied several times. A GOMEMLIMIT of the user takes precedence.
func sparing(path string) {
	if info, err := os.Stat(path); err == nil && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(max(leastHeap, 2*info.Size()))
	}
}

// Vacant returns an error unless a store can be created in a directory: neither jsonl.Vacant
// nor git may know of one there.
func (a *Run) Vacant(ctx context.Context, dir string) error {
	if err := jsonl.Vacant(dir); err != nil {
		return err
	}
	_, absent := jsonl.Discover(jsonl.Where{Dir: dir})
	return a.notHere(ctx, dir, absent)
}

// notHere returns the error of a store that git tracks around a directory but the work tree
// lacks: a new empty store would be committed as the deletion of all issues. It returns nil if
// none is tracked, or if err is not beads.ErrAbsent.
func (a *Run) notHere(ctx context.Context, dir string, err error) error {
	if !errors.Is(err, beads.ErrAbsent) || !process.Finder("", a.Getenv)("git") {
		return nil
	}
	path, top, sparse, err := a.GitIn(dir).Lacks(ctx, beads.DirName+"/issues.jsonl", beads.DirName+"/beads.jsonl")
	if err != nil || path == "" {
		return nil // the caller reports err
	}
	git := "git -C " + visible.Quoted(top)
	hint := git + " checkout -- " + path + ", then stig recover for uncommitted edits; git rm it to start over"
	if sparse {
		hint = git + " sparse-checkout add " + beads.DirName
	}
	return &fault.Error{Code: fault.Store, Path: filepath.Join(top, filepath.FromSlash(path)), Reason: "tracked by git, but missing in this work tree", Hint: "type " + hint}
}

// At returns the store at a place with its wrappers: edits are journalled, bd makes them if it
// stores the issues in a database, and snapshots ask other projects.
func (a *Run) At(p beads.Place) beads.Store {
	return &journalled{Store: a.edgesOf(p).Wrap(a.BD().Wrap(a.synced(a.Bare(p)))), journal: a.Edits()}
}

// Bare returns the store at a place without the wrappers of At.
func (a *Run) Bare(p beads.Place) beads.Store {
	switch {
	case a.OpenStore != nil:
		return a.OpenStore(p)
	case p.Mode == beads.Server:
		store, err := a.OnServers().Open(p)
		if err != nil {
			return sql.Unopened{At: p, Err: err}
		}
		if a.Cache != nil {
			store.Remember(a.Cache.Memo)
		}
		return store
	}
	return a.File(p)
}

// Live returns where the live state of a store is kept: in files of the clone. What other
// machines have to see is on the server, if the store is on one.
func (a *Run) Live(p beads.Place) (clone.Place, error) {
	place, err := clone.At(p.Path)
	if err != nil {
		return place, err
	}
	if s, ok := a.Bare(p).(interface{ State() clone.Documents }); ok {
		self, _ := process.Self()
		place.Documents, place.Host, place.Now = s.State(), self.Host, a.now
	}
	return place, nil
}

// LastEdits returns the time of each actor's last edit on any machine; nil if the clone's
// journal already has all edits.
func (a *Run) LastEdits(ctx context.Context, p beads.Place) (last map[string]time.Time, err error) {
	s, ok := a.Bare(p).(interface {
		LastEdits(context.Context) (map[string]time.Duration, error)
	})
	if !ok || a.Getenv("STIG_NOW") != "" { // a fixed clock cannot be compared with the server's
		return nil, nil
	}
	ago, err := s.LastEdits(ctx)
	last = map[string]time.Time{}
	for actor, d := range ago {
		last[actor] = a.now().Add(-d)
	}
	return last, err
}

// now is Clock, or the machine's time if STIG_NOW is malformed, which is reported elsewhere.
func (a *Run) now() time.Time {
	if t, err := a.Clock(); err == nil {
		return t
	}
	return a.Now().UTC()
}

// synced wraps a store on a server to write its copy too, if that is configured; it returns
// other stores unchanged.
func (a *Run) synced(s beads.Store) beads.Store {
	store, ok := s.(*sql.Store)
	if !ok {
		return s
	}
	p := s.Place()
	if settings, err := sql.Settings(p); err != nil || !settings.SyncFile {
		return s
	}
	return sql.Syncing{Store: store, Copy: sql.Copy{Store: store, File: cmp.Or(p.Copy, Shortest(filepath.Join(p.Dir, jsonl.CopyFile))), Cache: a.OnServers().Cache}, Warn: func(err error) {
		said := Classify(err)
		a.Warn("written to %s, but not to its copy: %s", p.Name(), said.Message)
		a.Hint(said.Hint)
	}}
}

// OnServers returns the open stores on servers. It is safe for concurrent use.
func (a *Run) OnServers() *sql.Pool {
	a.opening.Lock()
	defer a.opening.Unlock()
	if a.servers == nil {
		a.servers = a.pool()
	}
	return a.servers
}

// pool returns a new pool without open stores.
func (a *Run) pool() *sql.Pool {
	p := &sql.Pool{Now: a.Now, Given: func() sql.Given {
		g := sql.Given{User: a.Getenv(sql.UserVariable), Password: a.Getenv(sql.PasswordVariable)}
		if dir, err := a.ConfigDir(); err == nil && filepath.IsAbs(dir) {
			g.File = filepath.Join(dir, "stig", "credentials")
		}
		return g
	}}
	if a.CacheDir == nil {
		return p
	}
	if dir, err := a.CacheDir(); err == nil && filepath.IsAbs(dir) {
		p.Cache = filepath.Join(dir, "stig")
	}
	return p
}

// Disconnect closes this process's connections to servers.
func (a *Run) Disconnect() {
	a.opening.Lock()
	defer a.opening.Unlock()
	if a.servers != nil {
		_ = a.servers.Close() // writes are already committed
	}
}

// BD returns bd as this run calls it.
func (a *Run) BD() bd.Program {
	b := bd.Program{Env: a.Environ(), OnPath: process.Finder("", a.Getenv)("bd"), Warn: a.Warn, Lock: jsonl.Lock}
	if dir := a.StateDir(); dir != "" {
		b.Cache = filepath.Join(dir, "bd")
	}
	b.Actor = func() string {
		name, _ := a.ActorName(a.Ctx) // if there is none, bd uses git's user
		return name
	}
	return b
}

// Edits returns the journal of this run.
func (a *Run) Edits() *journal {
	if a.Journal == nil {
		a.Journal = &journal{app: a, ctx: a.Ctx}
	}
	return a.Journal
}

// File returns the JSONL file of the store at a place.
func (a *Run) File(p beads.Place) *jsonl.Store {
	store := jsonl.Open(p)
	store.Weak, store.Cache = a.WarnOfWeak, a.Cache
	return store
}

// Rewrite changes the text of the store's file, even if conflict markers prevent every edit;
// see jsonl.Store.Rewrite.
func (a *Run) Rewrite(ctx context.Context, p beads.Place, o beads.Options, fn func(text string) ([]jsonl.Splice, error)) error {
	if err := bd.Refuse(p); err != nil {
		return err
	}
	entry := a.Edits().entry(p, o)
	o.Written = func([]beads.Change) { entry.end(true) }
	err := a.File(p).Rewrite(ctx, o, func(text string) ([]jsonl.Splice, error) {
		splices, err := fn(text)
		if err == nil {
			entry.begin(jsonl.ChangesOf(text, splices))
		}
		return splices, err
	})
	entry.end(err == nil)
	return err
}

// Open reads the store and warns of what cannot be read.
func (a *Run) Open() (*beads.Snapshot, error) {
	store, err := a.DiscoverToRead()
	if err != nil {
		return nil, err
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	a.WarnOfStore(file)
	return file, nil
}

// OpenNear opens a part of the store, if the store can read it alone (see beads.Nearby), or else
// the whole. It warns of the whole only.
func (a *Run) OpenNear(scope beads.Scope) (*beads.Snapshot, error) {
	store, err := a.DiscoverToRead()
	if err != nil {
		return nil, err
	}
	if s, ok := a.Bare(store.Place()).(beads.Nearby); ok && !scope.IsWhole() {
		file, err := s.Near(a.Ctx, scope)
		if err != nil {
			return nil, err
		}
		return a.edgesOf(store.Place()).In(file), nil
	}
	return a.Open()
}

// OpenQuietly reads the store without messages; nil if there is none or it cannot be read.
func (a *Run) OpenQuietly() *beads.Snapshot {
	store, err := a.Discover()
	if err != nil && !errors.Is(err, errConfig) {
		return nil
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil
	}
	return file
}

// DiscoverToRead is Discover for commands that write nothing and run nothing: an invalid
// configuration is a warning, and the defaults apply.
func (a *Run) DiscoverToRead() (beads.Store, error) {
	store, err := a.Discover()
	if errors.Is(err, errConfig) {
		if !a.misconfigured {
			wrong := Classify(err)
			a.Warn("%s; its settings are ignored, and stig writes nothing until it is fixed", wrong.Message)
			a.Hint(wrong.Hint)
		}
		a.misconfigured, err = true, nil
	}
	return store, err
}

// Options returns the options of all edits: the time of this run.
func (a *Run) Options(dryRun bool) (beads.Options, error) {
	now, err := a.Clock()
	if err != nil {
		return beads.Options{}, err
	}
	return beads.Options{Now: now, DryRun: dryRun}, nil
}

// ToWrite returns the store for a command that writes, and the options of its edit. It returns
// an error if an unfinished merge left changes out, and a fault.Usage if the actor's name is
// invalid, since the journal records it.
func (a *Run) ToWrite(ctx context.Context, dryRun bool) (beads.Store, beads.Options, error) {
	options, err := a.Options(dryRun)
	if err != nil {
		return nil, options, err
	}
	if name := a.Named(); name != "" {
		if err := checkActor(name); err != nil {
			return nil, options, err
		}
	}
	store, err := a.Discover()
	if err == nil {
		err = a.RefuseUnfinished(ctx, store.Place())
	}
	return store, options, err
}

// ToWriteAs is ToWrite, and also returns the actor: named is ActorName, or MustActor if an
// actor is required.
func (a *Run) ToWriteAs(ctx context.Context, dryRun bool, named func(context.Context) (string, error)) (beads.Store, beads.Options, string, error) {
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return nil, options, "", err
	}
	actor, err := named(ctx)
	return store, options, actor, err
}

// Weakness returns the warning for a file system that cannot exchange two files.
func Weakness(p beads.Place) string {
	return "the file system of " + Shortest(filepath.Dir(p.Path)) + " cannot exchange two files: " +
		"stig guards its writes and reads them back, but other programs may overwrite them"
}

// WarnOfWeak prints Weakness at the first write to a store.
func (a *Run) WarnOfWeak(p beads.Place) {
	if mark := a.weakMark(p); mark != "" {
		if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
			return
		}
		if os.MkdirAll(filepath.Dir(mark), 0o700) == nil {
			_ = os.WriteFile(mark, nil, 0o600) // else the next write warns again
		}
	}
	a.Warn("%s", Weakness(p))
}

// weakMark returns the file that records that the user was warned; "" if there is no state
// directory.
func (a *Run) weakMark(p beads.Place) string {
	dir, err := RealPath(p.Dir)
	if err != nil || a.StateDir() == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(a.StateDir(), "weak", hex.EncodeToString(sum[:8]))
}

// StoresBeside returns the stores at the same place in the other work trees.
func (a *Run) StoresBeside(ctx context.Context, store beads.Place) (list []beads.Store) {
	if store.Mode == beads.Server {
		return nil // all share this one
	}
	gitDir, path, err := a.Git(store)
	if err != nil {
		return nil
	}
	here, err := git.CheckoutOf(filepath.Dir(path))
	place, below := strings.CutPrefix(path, here.Root+string(filepath.Separator))
	if err != nil || here.Root == "" || !below {
		return nil
	}
	trees, err := gitDir.Must(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil
	}
	for field := range strings.SplitSeq(trees, "\x00") {
		tree, ok := strings.CutPrefix(field, "worktree ")
		if tree = filepath.FromSlash(tree); !ok || tree == here.Root {
			continue
		}
		if s, err := jsonl.Discover(jsonl.Where{Dir: tree, File: filepath.Join(tree, place)}); err == nil {
			list = append(list, a.At(s))
		}
	}
	return list
}

// Again is how long to wait before retrying to read a store.
const Again = 50 * time.Millisecond

// Until returns how long to wait from now before checking whether t is reached; 0 if t is zero.
// It is at most an hour, since timers do not count while a machine sleeps.
func Until(t, now time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return min(max(t.Sub(now), Again), time.Hour)
}

// AwaitChange waits for a change, for at most most unless that is 0, and reports whether ctx is
// still active. After a second without a change it returns memory to the system, since the wait
// may take days.
func AwaitChange(ctx context.Context, changes <-chan struct{}, most time.Duration) bool {
	var end <-chan time.Time
	if most > 0 {
		end = time.After(most)
	}
	quiet := time.After(time.Second)
	for {
		select {
		case <-ctx.Done():
			return false
		case <-quiet:
			debug.FreeOSMemory()
		case <-changes:
			return true
		case <-end:
			return true
		}
	}
}
