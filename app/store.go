package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"stig/bd"
	"stig/beads"
	"stig/credentials"
	"stig/database"
	"stig/fault"
	"stig/jsonl"
	"stig/live"
	"stig/process"
	"stig/remote"
	"stig/shell"
)

// Where says what of this run decides on the store.
func (a *App) Where() jsonl.Where {
	return jsonl.Where{Dir: cmp.Or(a.Dir, "."), File: a.Store, BeadsDir: a.Getenv("BEADS_DIR")}
}

// Discover finds the store of this run, and the configuration that goes with it.
func (a *App) Discover() (beads.Store, error) {
	place, err := jsonl.Discover(a.Where())
	if err != nil {
		return nil, cmp.Or(a.notHere(context.Background(), a.Where().Dir, err), err)
	}
	place.Path = Shortest(place.Path)
	if place.Copy != "" {
		place.Copy = Shortest(place.Copy)
	}
	return a.At(place), a.Configure(place)
}

// Vacant reports whether a store can be made in a directory: jsonl.Vacant knows of none
// there, and neither does git.
func (a *App) Vacant(ctx context.Context, dir string) error {
	if err := jsonl.Vacant(dir); err != nil {
		return err
	}
	_, absent := jsonl.Discover(jsonl.Where{Dir: dir})
	return a.notHere(ctx, dir, absent)
}

// notHere is the error of a store that git tracks around a directory and the work tree
// lacks: an empty one in its place would be committed as the end of all issues. It is nil
// where none is tracked, or where err says something else than that there is no store.
func (a *App) notHere(ctx context.Context, dir string, err error) error {
	if !errors.Is(err, beads.ErrAbsent) || !process.Finder("", a.Getenv)("git") {
		return nil
	}
	path, top, sparse, err := a.GitIn(dir).Lacks(ctx, beads.DirName+"/issues.jsonl", beads.DirName+"/beads.jsonl")
	if err != nil || path == "" {
		return nil // the other error is said
	}
	git := "git -C " + shell.Quoted(top)
	hint := git + " checkout -- " + path + ", then stig recover for what was not committed; git rm it to begin anew"
	if sparse {
		hint = git + " sparse-checkout add " + beads.DirName
	}
	return &fault.Error{Code: fault.Store, Path: filepath.Join(top, filepath.FromSlash(path)), Reason: "git has it, and this work tree does not", Hint: "type " + hint}
}

// At gives the store at a place as this run works on it: what it writes is in the
// journal, and bd writes it where bd keeps the issues in a database.
func (a *App) At(p beads.Place) beads.Store {
	return &journalled{Store: a.BD().Wrap(a.synced(a.bare(p))), journal: a.edits()}
}

// bare gives the store at a place without what At adds.
func (a *App) bare(p beads.Place) beads.Store {
	switch {
	case a.OpenStore != nil:
		return a.OpenStore(p)
	case p.Mode == beads.Server:
		store, err := a.OnServers().Open(p)
		if err != nil {
			return remote.Unopened{At: p, Err: err}
		}
		if a.Cache != nil {
			store.Remember(a.Cache.Memo)
		}
		return store
	}
	return a.file(p)
}

// Live is where the live state of the store at a place is kept: in files of the clone,
// and what other machines have to see where the store is, if that is a server.
func (a *App) Live(p beads.Place) (live.Place, error) {
	place, err := live.At(p.Path)
	if err != nil {
		return place, err
	}
	if s, ok := a.bare(p).(interface{ State() live.Documents }); ok {
		self, _ := process.Self()
		place.Documents, place.Host, place.Now = s.State(), self.Host, a.now
	}
	return place, nil
}

// Edited gives when each actor made their last edit on any machine; nil where the journal
// of the clone says all that is known.
func (a *App) Edited(ctx context.Context, p beads.Place) (last map[string]time.Time, err error) {
	s, ok := a.bare(p).(interface {
		Edited(context.Context) (map[string]time.Duration, error)
	})
	if !ok || a.Getenv("STIG_NOW") != "" { // a clock that stands cannot be compared with the server's
		return nil, nil
	}
	ago, err := s.Edited(ctx)
	last = map[string]time.Time{}
	for actor, d := range ago {
		last[actor] = a.now().Add(-d)
	}
	return last, err
}

// now is Clock where that is right, which others see to.
func (a *App) now() time.Time {
	if t, err := a.Clock(); err == nil {
		return t
	}
	return a.Now().UTC()
}

// synced is a store on a server that also writes its copy, where the settings ask for
// that; another store as it is.
func (a *App) synced(s beads.Store) beads.Store {
	store, ok := s.(*database.Store)
	if !ok {
		return s
	}
	p := s.Place()
	if settings, err := remote.Settings(p); err != nil || !settings.SyncFile {
		return s
	}
	return remote.Syncing{Store: store, Copy: remote.Copy{Store: store, File: cmp.Or(p.Copy, Shortest(filepath.Join(p.Dir, jsonl.CopyFile))), Cache: a.OnServers().Cache}, Warn: func(err error) {
		said := Classify(err)
		a.Warn("written to %s, and not to its copy: %s", p.Name(), said.Message)
		a.Hint(said.Hint)
	}}
}

// OnServers are the stores on servers that this process has open. A server of ours
// asks for them from several calls at once.
func (a *App) OnServers() *remote.Pool {
	a.opening.Lock()
	defer a.opening.Unlock()
	if a.servers == nil {
		a.servers = a.pool()
	}
	return a.servers
}

// pool is one in which no store is open yet.
func (a *App) pool() *remote.Pool {
	p := &remote.Pool{Now: a.Now, Given: func() credentials.Given {
		g := credentials.Given{User: a.Getenv(credentials.UserVariable), Password: a.Getenv(credentials.PasswordVariable)}
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

// Disconnect ends the connections of this process to servers.
func (a *App) Disconnect() {
	a.opening.Lock()
	defer a.opening.Unlock()
	if a.servers != nil {
		_ = a.servers.Close() // what was written is there
	}
}

// BD is the bd of this machine as this run calls it.
func (a *App) BD() bd.Program {
	b := bd.Program{Env: a.Environ(), OnPath: process.Finder("", a.Getenv)("bd"), Warn: a.Warn, Lock: jsonl.Lock}
	if dir := a.StateDir(); dir != "" {
		b.Cache = filepath.Join(dir, "bd")
	}
	b.Actor = func() string {
		name, _ := a.ActorName(a.Ctx) // nobody's: bd names git's user
		return name
	}
	return b
}

// edits is the journal of this run.
func (a *App) edits() *journal {
	if a.journal == nil {
		a.journal = &journal{app: a, ctx: a.Ctx}
	}
	return a.journal
}

// file is the file of the store at a place.
func (a *App) file(p beads.Place) *jsonl.Store {
	store := jsonl.Open(p)
	store.Weak, store.Cache = a.warnOfWeak, a.Cache
	return store
}

// rewrite changes the text of the store's file, in which conflict markers may keep
// every edit from being made; see jsonl.Store.Rewrite.
func (a *App) rewrite(ctx context.Context, p beads.Place, o beads.Options, fn func(text string) ([]jsonl.Splice, error)) error {
	if err := bd.Refuse(p); err != nil {
		return err
	}
	entry := a.edits().entry(p, o)
	o.Written = func([]beads.Change) { entry.end(true) }
	err := a.file(p).Rewrite(ctx, o, func(text string) ([]jsonl.Splice, error) {
		splices, err := fn(text)
		if err == nil {
			entry.begin(jsonl.ChangesOf(text, splices))
		}
		return splices, err
	})
	entry.end(err == nil)
	return err
}

// Open reads the store and says on the error stream what of it is unreadable.
func (a *App) Open() (*beads.Snapshot, error) {
	store, err := a.discoverToRead()
	if err != nil {
		return nil, err
	}
	file, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	a.warnOfStore(file)
	return file, nil
}

// OpenQuietly reads the store without saying anything; nil where there is none, or
// where it cannot be read.
func (a *App) OpenQuietly() *beads.Snapshot {
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

// discoverToRead is Discover for what writes nothing and runs nothing: a mistake in the
// configuration is a warning, and its settings are the defaults.
func (a *App) discoverToRead() (beads.Store, error) {
	store, err := a.Discover()
	if errors.Is(err, errConfig) {
		if !a.misconfigured {
			wrong := Classify(err)
			a.Warn("%s; its settings are left out, and stig writes nothing until it is fixed", wrong.Message)
			a.Hint(wrong.Hint)
		}
		a.misconfigured, err = true, nil
	}
	return store, err
}

// Options are those of every edit of the store: the time of this run.
func (a *App) Options(dryRun bool) (beads.Options, error) {
	now, err := a.Clock()
	if err != nil {
		return beads.Options{}, err
	}
	return beads.Options{Now: now, DryRun: dryRun}, nil
}

// ToWrite gives the store of a command that writes, and the options of its edit.
// It refuses a store in which an unfinished merge left changes out, and (fault.Usage) an
// actor whose name nobody can have: the journal names who wrote.
func (a *App) ToWrite(ctx context.Context, dryRun bool) (beads.Store, beads.Options, error) {
	options, err := a.Options(dryRun)
	if err != nil {
		return nil, options, err
	}
	if name := a.named(); name != "" {
		if err := checkActor(name); err != nil {
			return nil, options, err
		}
	}
	store, err := a.Discover()
	if err == nil {
		err = a.refuseUnfinished(ctx, store.Place())
	}
	return store, options, err
}

// toWriteAs is ToWrite with who acts: by ActorName, or by MustActor where somebody
// has to be named.
func (a *App) toWriteAs(ctx context.Context, dryRun bool, named func(context.Context) (string, error)) (beads.Store, beads.Options, string, error) {
	store, options, err := a.ToWrite(ctx, dryRun)
	if err != nil {
		return nil, options, "", err
	}
	actor, err := named(ctx)
	return store, options, actor, err
}

// Weakness says what a file system lacks that cannot exchange two files.
func Weakness(p beads.Place) string {
	return "the file system of " + Shortest(filepath.Dir(p.Path)) + " cannot exchange two files: " +
		"stig's writes are guarded and read back, those of other programs may overwrite them"
}

// warnOfWeak says, at the first write to a store, what its file system lacks.
func (a *App) warnOfWeak(p beads.Place) {
	if mark := a.weakMark(p); mark != "" {
		if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
			return
		}
		if os.MkdirAll(filepath.Dir(mark), 0o700) == nil {
			_ = os.WriteFile(mark, nil, 0o600) // without it the next write says it again
		}
	}
	a.Warn("%s", Weakness(p))
}

// weakMark is the file that records that the user was told of a store; "" where
// nothing is kept for the user.
func (a *App) weakMark(p beads.Place) string {
	dir, err := realPath(p.Dir)
	if err != nil || a.StateDir() == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(a.StateDir(), "weak", hex.EncodeToString(sum[:8]))
}

// storesBeside are the stores at the same place in the other worktrees.
func (a *App) storesBeside(ctx context.Context, store beads.Place) (list []beads.Store) {
	if store.Mode == beads.Server {
		return nil // they all have this one
	}
	git, path, err := a.Git(store)
	if err != nil {
		return nil
	}
	here, err := jsonl.WorktreeOf(filepath.Dir(path))
	place, below := strings.CutPrefix(path, here.Root+string(filepath.Separator))
	if err != nil || here.Root == "" || !below {
		return nil
	}
	trees, err := git.Must(ctx, "worktree", "list", "--porcelain", "-z")
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

// Again is after what time a store is read once more that could not be read, or in which
// something is open.
const Again = 50 * time.Millisecond

// Until is for how long to wait from now for a time at which something is to be looked at
// again: 0 for none. A machine may sleep meanwhile, which its timers do not count.
func Until(t, now time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return min(max(t.Sub(now), Again), time.Hour)
}

// AwaitChange waits for a change, for most at most unless that is 0, and reports whether
// ctx goes on. Once nothing happened for a second, the memory that reading took goes back to
// the system: who waits may do so for days.
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
