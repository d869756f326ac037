// Package bd is the store where bd keeps the issues in a database of its own. It reads what
// bd exports, has bd's own commands write, and reads again: what bd did not take is an
// error. It opens no database, and starts no server.
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

// Program is the bd of this machine.
type Program struct {
	Env    []string                         // the environment that bd runs in
	OnPath bool                             // whether there is a bd
	Warn   func(format string, args ...any) // told what is no failure
	Limit  time.Duration                    // for each call; 0 means five minutes
	Cache  string                           // the directory that keeps what was read last; "" keeps nothing
	Actor  func() string                    // who writes; nil or "" leaves it to bd

	// Lock keeps other runs of stig on this machine from writing, until unlock is called;
	// nil locks nothing.
	Lock func(ctx context.Context, p beads.Place, wait time.Duration) (unlock func() error, err error)
}

// limit leaves bd time on a store of many issues.
const limit = 5 * time.Minute

// Wrap gives the store as commands are to use it where bd keeps the issues in a database;
// other stores as they are.
func (b Program) Wrap(s beads.Store) beads.Store {
	switch s.Place().Mode {
	case beads.BD:
		return &store{file: s, bd: b, place: s.Place()}
	case beads.Export:
		return export{s}
	}
	return s
}

// Check reports whether bd gives the issues of a store; the error is a fault.Store.
func (b Program) Check(ctx context.Context, p beads.Place) error {
	_, err := b.export(ctx, p)
	return err
}

// Refuse gives the error of an edit of the text of the file where bd keeps the issues in a
// database; nil for other stores.
func Refuse(p beads.Place) error {
	switch p.Mode {
	case beads.BD:
		return &fault.Error{Code: fault.Refused,
			Path: p.Path, Reason: "bd keeps the issues in a database, and this file is an export of it, which nobody reads",
			Hint: "type bd export -o " + p.Path + ", which writes it anew"}
	case beads.Export:
		return &fault.Error{Code: fault.Refused,
			Path: p.Path, Reason: "an export of a Dolt database of bd that is not here; what is written to it is lost",
			Hint: "type bd bootstrap --yes, which makes the database from it, and run the command again; or write with bd update ID where the database is"}
	}
	return nil
}

// export is a file that bd wrote from a database that is not here.
type export struct{ beads.Store }

// Edit refuses, a dry run too.
func (s export) Edit(context.Context, beads.Options, func(*beads.Tx) error) ([]beads.Change, error) {
	return nil, Refuse(s.Place())
}

// dirOf is the directory of a store as messages name it.
func dirOf(p beads.Place) string { return filepath.Dir(p.Path) }

// Run starts bd on this very store, and not by way of its daemon, whose answers may lag. A
// server of bd's that does not run stays so.
func (b Program) Run(ctx context.Context, p beads.Place, argv ...string) (process.Result, error) {
	return b.run(ctx, p, step{argv: argv})
}

// run is Run with a standard input and an actor.
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

// said tells how bd failed, with what it calls the error or else its last words; nothing
// when it did not.
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

// Withdrawn is what is known against a version of bd, as bd version prints it; "" for
// nothing.
func Withdrawn(version string) string {
	if strings.Contains(version, "1.0.5") {
		return "its authors withdrew 1.0.5, for it can damage data: see its releases"
	}
	return ""
}
