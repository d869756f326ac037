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

// ServerRequest says what store to make on the server that --store names.
type ServerRequest struct {
	Prefix   string // of ids; "" is the name of the directory
	Import   bool   // copy the issues of the file into it
	SyncFile bool   // keep a file as its copy
	TLS, CA  string // see jsonl.Settings; a relative CA counts from the working directory
	DryRun   bool
	Told     func(done, of int) // how many lines were sent; may be nil

	actor string // who makes it
}

// MadeOnServer is a store that was made on a server, or would be.
type MadeOnServer struct {
	Store, Prefix string
	Files         []string // that were made
	Issues        int      // that were copied into it
	Diff          string   // of a dry run
}

// InitOnServer makes the tables of a store in an empty database and the file that names it, last.
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

// settings are those that the file gets.
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

// source is the file whose issues go into the database; the zero Place for none. A
// directory in which there is a store is refused unless that is to be copied.
func (r ServerRequest) source(dir, url string) (beads.Place, error) {
	found, err := jsonl.Discover(jsonl.Where{Dir: dir})
	switch {
	case err != nil && r.Import:
		return found, err
	case err != nil:
		return beads.Place{}, jsonl.Vacant(dir)
	case found.Mode == beads.Server:
		return found, &fault.Error{Code: fault.Refused, Path: workspace.Shortest(found.Path), Reason: "there is a store already: " + found.Name(),
			Hint: "remove the file and repeat the command if that database holds no store, or to have another; stig create TITLE adds an issue to one that is there"}
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

// tables makes the tables, and copies the issues of the file into them. What an
// interrupted run made, a store without an issue, is taken as it is, with its prefix; one that
// it was filling is filled again.
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
