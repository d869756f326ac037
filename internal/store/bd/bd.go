// Package bd is the store for repositories in which bd keeps the issues in its own database. It
// reads what bd exports, makes bd's own commands write, and reads again: what bd did not store
// is an error. It opens no database and starts no server.
//
//	store := bd.Program{Env: environ, OnPath: true, Warn: warn}.Wrap(jsonl.Open(place))
package bd

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/process"
)

// Program is the bd installed on this machine.
type Program struct {
	Env    []string                         // the environment for bd
	OnPath bool                             // whether there is a bd
	Warn   func(format string, args ...any) // receives warnings
	Limit  time.Duration                    // per call; 0 means five minutes
	Cache  string                           // the directory that caches the last reading; "" caches nothing
	Actor  func() string                    // the writer's name; nil or "" leaves it to bd

	// Lock keeps other stig processes on this machine from writing until unlock is called; nil
	// does not lock.
	Lock func(ctx context.Context, p beads.Place, wait time.Duration) (unlock func() error, err error)
}

// limit is long enough for bd on a store of many issues.
const limit = 5 * time.Minute

// Wrap returns the store that commands should use if bd keeps the issues in a database; it
// returns other stores unchanged.
func (b Program) Wrap(s beads.Store) beads.Store {
	switch s.Place().Mode {
	case beads.BD:
		return &store{file: s, bd: b, place: s.Place()}
	case beads.Export:
		return export{s}
	}
	return s
}

// Check reports whether bd can export a store's issues; the error is a fault.Store.
func (b Program) Check(ctx context.Context, p beads.Place) error {
	_, err := b.export(ctx, p)
	return err
}

// Refuse returns the error for editing the text of a file that is an export of bd's database;
// nil for other stores.
func Refuse(p beads.Place) error {
	switch p.Mode {
	case beads.BD:
		return &fault.Error{Code: fault.Refused,
			Path: p.Path, Reason: "bd keeps the issues in a database; this file is an export, and nothing reads it",
			Hint: "type bd export -o " + p.Path + ", which writes it again"}
	case beads.Export:
		return &fault.Error{Code: fault.Refused,
			Path: p.Path, Reason: "an export of a Dolt database of bd that is not here; a change to it would be lost",
			Hint: "type bd bootstrap --yes to create the database from it, then retry; or write with bd update ID where the database is"}
	}
	return nil
}

// export is a file that bd wrote from a database that is not here.
type export struct{ beads.Store }

// Edit refuses, even a dry run.
func (s export) Edit(context.Context, beads.Options, func(*beads.Tx) error) ([]beads.Change, error) {
	return nil, Refuse(s.Place())
}

// dirOf is the directory of a store as messages name it.
func dirOf(p beads.Place) string { return filepath.Dir(p.Path) }

// Run starts bd on this store directly, without its daemon, whose answers may lag. It does not
// start bd's server.
func (b Program) Run(ctx context.Context, p beads.Place, argv ...string) (process.Result, error) {
	return b.run(ctx, p, step{argv: argv})
}

// run is Run with standard input and an actor.
func (b Program) run(ctx context.Context, p beads.Place, s step) (process.Result, error) {
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return process.Result{}, err
	}
	most := cmp.Or(b.Limit, limit)
	ctx, done := context.WithTimeoutCause(ctx, most, fmt.Errorf("did not end within %v", most))
	defer done()
	argv := []string{"bd"}
	if s.actor != "" {
		argv = append(argv, "--actor="+s.actor)
	}
	return process.Run(ctx, process.Command{
		Argv:  append(argv, s.argv...),
		Dir:   filepath.Dir(dir),
		Env:   append(append([]string(nil), b.Env...), "BEADS_DIR="+dir, "BEADS_NO_DAEMON=1", "BEADS_DOLT_AUTO_START=0"),
		Stdin: s.stdin,
	})
}

// said describes how bd failed, by its own error or its last words; "" if it did not.
func said(result process.Result) string {
	if result.Exit == 0 {
		return ""
	}
	words := strings.TrimSpace(string(result.Stderr))
	if words == "" {
		words = strings.TrimSpace(string(result.Stdout))
	}
	for line := range strings.Lines(words) {
		words = strings.TrimSpace(line)
		if strings.HasPrefix(words, "Error") || strings.HasPrefix(words, "panic:") {
			break
		}
	}
	if words == "" {
		return fmt.Sprintf(" (bd: exit code %d)", result.Exit)
	}
	return fmt.Sprintf(" (bd: exit code %d, %q)", result.Exit, words)
}

// Withdrawn returns a known defect of a bd version, as printed by bd version; "" for none.
func Withdrawn(version string) string {
	if strings.Contains(version, "1.0.5") {
		return "its authors withdrew 1.0.5, which can damage data: see its releases"
	}
	return ""
}
