package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
	"stig/internal/store/sql"
	"stig/internal/workspace"
)

// ServerRequest says what store to create on the server that --store names.
type ServerRequest struct {
	Prefix   string // of ids; "" means the name of the directory
	Import   bool   // copy the issues of the file into the database
	SyncFile bool   // keep a file as a copy of the database
	TLS, CA  string // see jsonl.Settings; a relative CA is relative to the working directory
	DryRun   bool
	Told     func(done, of int) // called with the number of lines sent; may be nil

	actor string // who creates it
}

// MadeOnServer is a store that was created on a server, or would be in a dry run.
type MadeOnServer struct {
	Store, Prefix string
	Files         []string // created files
	Issues        int      // number of issues copied into it
	Diff          string   // of a dry run
}

// InitOnServer creates the tables of a store in an empty database, then the file that names it.
func InitOnServer(ctx context.Context, a *workspace.Run, r ServerRequest) (*MadeOnServer, error) {
	dir, err := Home(ctx, a)
	if err != nil {
		return nil, err
	}
	settings, err := r.settings(a.Store, dir)
	if err != nil {
		return nil, err
	}
	if _, err = placeNamed(a, a.Store); err != nil {
		return nil, err
	}
	file, err := r.source(dir, settings.Store)
	if err != nil {
		return nil, err
	}
	p, files := jsonl.BlankServer(dir, settings)
	pool := a.OnServers()
	told := settings
	if told.CA != "" && !filepath.IsAbs(told.CA) {
		told.CA = filepath.Join(p.Dir, told.CA)
	}
	pool.Tell(p, told)
	m := &MadeOnServer{Store: p.Name(), Files: []string{}}
	if m.Prefix, err = r.prefix(file, dir); err != nil {
		return nil, err
	}
	if r.DryRun {
		for _, f := range files {
			m.Diff += workspace.HostFile{Path: f.Path}.Diff(nil, []byte(f.Text))
		}
	}
	if r.actor, err = a.ActorName(ctx); err != nil {
		return nil, err
	}
	if err = r.tables(ctx, pool, file, p, m); err != nil || r.DryRun {
		return m, err
	}
	for _, f := range files {
		m.Files = append(m.Files, workspace.Shortest(f.Path))
	}
	return m, jsonl.Make(files)
}

// settings returns the settings for the file.
func (r ServerRequest) settings(url, dir string) (jsonl.Settings, error) {
	s := jsonl.Settings{Store: url, SyncFile: r.SyncFile, TLS: r.TLS}
	if r.CA == "" {
		return s, nil
	}
	path, err := filepath.Abs(r.CA)
	if err != nil {
		return s, err
	}
	if !workspace.Exists(path) {
		return s, workspace.Usage("--ca: no such file: "+r.CA, "name the file of the authority that signed the server's certificate")
	}
	if top, err := filepath.Abs(dir); err == nil {
		if below, err := filepath.Rel(top, path); err == nil && filepath.IsLocal(below) {
			path, err = filepath.Rel(filepath.Join(top, beads.DirName), path)
			return jsonl.Settings{Store: url, SyncFile: r.SyncFile, TLS: r.TLS, CA: filepath.ToSlash(path)}, err
		}
	}
	s.CA = path
	return s, nil
}

// source returns the file whose issues to import; the zero Place for none. It refuses a
// directory that already has a store unless that is imported.
func (r ServerRequest) source(dir, url string) (beads.Place, error) {
	found, err := jsonl.Discover(jsonl.Where{Dir: dir})
	switch {
	case err != nil && r.Import:
		return found, err
	case err != nil:
		return beads.Place{}, jsonl.Vacant(dir)
	case found.Mode == beads.Server:
		return found, &fault.Error{Code: fault.Refused, Path: workspace.Shortest(found.Path), Reason: "there is a store already: " + found.Name(),
			Hint: "if its database has no store, or to create another, remove the file and retry; stig create TITLE adds an issue to the existing store"}
	case found.ByBD():
		return found, &fault.Error{Code: fault.Refused, Path: workspace.Shortest(found.Path), Reason: "bd keeps these issues in a database",
			Hint: exportHint(url) + " to copy them to the server"}
	case !r.Import:
		return found, &fault.Error{Code: fault.Refused, Path: workspace.Shortest(found.Path), Reason: "there is a store already",
			Hint: fmt.Sprintf("type stig init --store %s --import to copy its issues to the server and work there", url)}
	}
	found.Path = workspace.Shortest(found.Path)
	return found, nil
}

func (r ServerRequest) prefix(file beads.Place, dir string) (string, error) {
	if r.Prefix == "" && file.Path != "" {
		return sql.PrefixOf(jsonl.Read(file))
	}
	return PrefixFor(r.Prefix, dir)
}

// tables creates the tables and imports the issues of the file. If an interrupted run left a
// store without issues, it is used as it is, with its prefix; a half-filled store is filled again.
func (r ServerRequest) tables(ctx context.Context, pool *sql.Pool, file, p beads.Place, m *MadeOnServer) error {
	store, err := pool.Open(p)
	if err != nil {
		return err
	}
	version, err := store.Version(ctx)
	absent := errors.Is(err, beads.ErrAbsent)
	switch {
	case err != nil && !absent && !(errors.Is(err, sql.ErrFilling) && file.Path != ""):
		return err
	case version > 0:
		return &fault.Error{Code: fault.Refused, Path: p.Name(), Reason: "there is a store already",
			Hint: fmt.Sprintf(`type mkdir -p %s && echo '{"store": "%s"}' > %s to work with it here`, workspace.Shortest(p.Dir), p.URL, workspace.Shortest(p.Path))}
	case file.Path != "":
		done, err := sql.Transfer{Pool: pool, From: file, To: p, Prefix: m.Prefix, Actor: r.actor, DryRun: r.DryRun, Told: r.Told}.Run(ctx)
		if err == nil {
			m.Issues = done.Issues
		}
		return err
	case !absent:
		wanted := m.Prefix
		if m.Prefix, err = sql.PrefixOf(store.Snapshot()); err == nil && r.Prefix != "" && m.Prefix != wanted {
			err = &fault.Error{Code: fault.Refused, Path: p.Name(), Reason: "there is an empty store already, and its ids begin with " + m.Prefix + "-", Hint: "leave --prefix out, or name another database"}
		}
		return err
	}
	o, _, err := pool.Options(p)
	if err != nil {
		return err
	}
	if r.DryRun {
		return sql.Vacant(ctx, o)
	}
	o.Actor = r.actor
	return sql.Create(ctx, o, m.Prefix)
}
