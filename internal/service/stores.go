package service

import (
	"context"
	"path/filepath"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
	"stig/internal/store/sql"
	"stig/internal/workspace"
)

// placeNamed returns the store with that file or URL.
func placeNamed(a *workspace.Run, name string) (beads.Place, error) {
	where := a.Where()
	if where.File = name; !jsonl.IsURL(name) {
		path, err := filepath.Abs(filepath.Join(where.Dir, name))
		if filepath.IsAbs(name) {
			path = name
		}
		if err != nil {
			return beads.Place{}, err
		}
		if !workspace.Exists(path) {
			if p, err := jsonl.Discover(where); err == nil { // bd may not have exported it
				return p, nil
			}
			return beads.Place{Path: path, Dir: filepath.Dir(path)}, nil
		}
	}
	return jsonl.Discover(where)
}

// CopyRequest names two stores, each by its file or URL.
type CopyRequest struct {
	From, To string
	DryRun   bool
	Told     func(done, of int) // called with the number of lines sent to a server; may be nil
}

// Copied says what was copied.
type Copied struct {
	*sql.Transferred
	From, To beads.Place
}

// CopyStore copies a whole store, byte for byte, into one that is empty or does not exist yet.
func CopyStore(ctx context.Context, a *workspace.Run, r CopyRequest) (c Copied, err error) {
	if c.From, err = placeNamed(a, r.From); err != nil {
		return c, err
	}
	if c.From.Mode != beads.Server && c.From.Mode != beads.BD && !workspace.Exists(c.From.Path) {
		return c, &fault.Error{Code: fault.Store, Path: workspace.Shortest(c.From.Path), Reason: "no such file", Hint: "name a file of issues or the URL of a store"}
	}
	if c.To, err = placeNamed(a, r.To); err != nil {
		return c, err
	}
	for _, p := range []*beads.Place{&c.From, &c.To} {
		p.Path = workspace.Shortest(p.Path)
	}
	if c.From.Mode == beads.BD {
		return c, &fault.Error{Code: fault.Refused, Path: c.From.Path, Reason: "an export of bd's database, which may have changed since", Hint: exportHint(c.To.Name())}
	}
	if filepath.Base(c.To.Path) == beads.DirName {
		return c, &fault.Error{Code: fault.Refused, Path: c.To.Path, Reason: "is the directory of a store", Hint: "name the .jsonl file in it"}
	}
	if c.To.ByBD() {
		return c, &fault.Error{Code: fault.Refused, Path: c.To.Path, Reason: "bd keeps these issues in a database", Hint: "name a file in another directory"}
	}
	who, err := a.ActorName(ctx)
	if err != nil {
		return c, err
	}
	c.Transferred, err = sql.Transfer{Pool: a.OnServers(), From: c.From, To: c.To, Actor: who, DryRun: r.DryRun, Told: r.Told}.Run(ctx)
	return c, err
}

// exportHint returns how to copy what bd keeps in a database.
func exportHint(to string) string {
	return "type bd export -o bd.jsonl && stig store copy bd.jsonl " + to
}

// SyncResult is the result for the copy of a store on a server.
type SyncResult struct {
	sql.Synced
	Store, Copy string
	Written     bool
}

// SyncCopy writes the content of the server to the copy of the store. With check it only
// reports whether the copy would change.
func SyncCopy(ctx context.Context, a *workspace.Run, check bool) (s SyncResult, err error) {
	store, err := a.Discover()
	if err != nil {
		return s, err
	}
	p := store.Place()
	if p.Mode != beads.Server {
		return s, workspace.Usage("store sync: works only on a store on a server; this one is in a file: "+p.Path, "type stig store copy "+p.Path+" FILE to copy it")
	}
	p.Copy = workspace.Shortest(filepath.Join(p.Dir, jsonl.CopyFile))
	pool := a.OnServers()
	opened, err := pool.Open(p)
	if err != nil {
		return s, err
	}
	options, err := a.Options(check)
	if err != nil {
		return s, err
	}
	s.Store, s.Copy = p.Name(), p.Copy
	s.Synced, err = sql.Copy{Store: opened, File: p.Copy, Cache: pool.Cache}.Sync(ctx, options)
	s.Written = err == nil && s.Behind && !check
	return s, err
}

// MigrateServer migrates stig's tables to the version of this program.
func MigrateServer(ctx context.Context, a *workspace.Run, dryRun bool) (url string, from, to int, err error) {
	store, err := a.Discover()
	if err != nil {
		return "", 0, 0, err
	}
	p := store.Place()
	if p.Mode != beads.Server {
		return "", 0, 0, workspace.Usage("doctor --migrate: works only on a store on a server; this one is in a file: "+p.Path, "leave --migrate out")
	}
	o, _, err := a.OnServers().Options(p)
	if err != nil {
		return p.Name(), 0, 0, err
	}
	from, to, err = sql.Migrate(ctx, o, dryRun)
	return p.Name(), from, to, err
}

// ExaminedServer describes the server of a store, and the connection to it.
type ExaminedServer struct {
	sql.Server
	Cipher string // "" if not encrypted
	User   string
	From   string   // source of the password; see sql.Login
	Local  bool     // the server is on this machine
	Wrong  []string // issues of which the tables repeat other rows than the lines have
}

// ExamineServer queries the server of a store about itself.
func ExamineServer(ctx context.Context, a *workspace.Run, p beads.Place) (e ExaminedServer, err error) {
	pool := a.OnServers()
	o, from, err := pool.Options(p)
	if err != nil {
		return e, err
	}
	e.User, e.From, e.Local = o.Config.User, from, o.Config.IsHere()
	store, err := pool.Open(p)
	if err == nil {
		e.Server, err = store.Server(ctx)
	}
	if err == nil {
		e.Cipher, err = store.Cipher(ctx)
	}
	if err == nil {
		e.Wrong, err = store.Derived(ctx)
	}
	return e, err
}
