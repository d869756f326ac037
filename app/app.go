// Package app holds the services of stig: functions that take a request and give
// a result. Commands, the MCP server and the hooks of assistants call them, and so
// will a board and a worker loop.
//
// An App is one run: where the store is, who acts, the clock, the environment, and
// the function that is told warnings and hints. Package app knows no flag, no
// stream and no text layout; it reads no environment variable and no clock but
// those that it is given.
//
//	file, err := a.Open()
//	rows, err := a.ReadyRows(file, actor)
package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stig/beads"
	"stig/checkpoint"
	"stig/cue"
	"stig/git"
	"stig/process"
	"stig/signals"
)

// ActorName is who acts: the flag, else the environment, else git's user.name;
// "" when no name is set.
func (a *App) ActorName(ctx context.Context) (string, error) {
	if name := cmp.Or(a.Actor, a.Getenv("STIG_ACTOR"), a.Getenv("BD_ACTOR")); name != "" {
		return name, nil
	}
	if !process.Finder(a.Dir, a.Getenv)("git") {
		return "", nil
	}
	result, err := a.GitIn(a.Dir).Run(ctx, "config", "user.name")
	if err != nil || result.Exit != 0 {
		return "", err
	}
	return strings.TrimSpace(string(result.Stdout)), nil
}

// MustActor is actorName where somebody has to be named.
func (a *App) MustActor(ctx context.Context) (string, error) {
	name, err := a.ActorName(ctx)
	if err == nil && name == "" {
		err = Usage("no actor set", "give --actor NAME, or set STIG_ACTOR")
	}
	return name, err
}

// App is what every front end shares: where the store is, who acts, the clock, the
// configuration, and whom to tell what no result says.
type App struct {
	Getenv             func(string) string
	Env                func() []string
	HomeDir, ConfigDir func() (string, error) // the user's
	Now                func() time.Time       // the machine's clock; what is told and written has clock
	Schema             *signals.Schema
	Config             Config
	own                Notifications       // what the user's file says of them, whatever the repository does
	Say                func(Level, string) // what no result says
	Progress           io.Writer           // where checks print while they run
	Terminal           bool                // progress goes to a terminal

	Ctx     context.Context // of the command that runs
	Running string          // its name
	Journal *journal        // of its edits; nil before the first

	misconfigured bool // and the user was told

	Dir   string // -C
	Store string // --store
	Actor string // --actor
}

// Fresh is another run of the same front end, on the same store and by the same actor:
// one command, which reads the configuration and keeps a journal for itself. A server
// makes one for each call that it answers.
func (a *App) Fresh(ctx context.Context, command string) *App {
	return &App{
		Getenv: a.Getenv, Env: a.Env, HomeDir: a.HomeDir, ConfigDir: a.ConfigDir, Now: a.Now, Schema: cue.Embedded(),
		Say: a.Say, Progress: a.Progress, Terminal: a.Terminal,
		Ctx: ctx, Running: command,
		Dir: a.Dir, Store: a.Store, Actor: a.Actor,
	}
}

// Clock is the time of this run in UTC: fixed by STIG_NOW, for tests and demos that
// print the same thing every day.
func (a *App) Clock() (time.Time, error) {
	fixed := a.Getenv("STIG_NOW")
	if fixed == "" {
		return a.Now().UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, fixed)
	if err != nil {
		return time.Time{}, Usage(fmt.Sprintf("STIG_NOW: must be a time such as 2026-11-20T09:00:00Z; found %q", fixed), "type unset STIG_NOW, and the time is that of the machine")
	}
	return t.UTC(), nil
}

// Environ is the environment that other programs are started in.
func (a *App) Environ() []string { return a.Env() }

// GitIn runs git in a directory.
func (a *App) GitIn(dir string) git.Client { return git.Client{Dir: dir, Env: a.Environ()} }

// Where says what of this run decides on the store.
func (a *App) Where() beads.Where {
	return beads.Where{Dir: cmp.Or(a.Dir, "."), File: a.Store, BeadsDir: a.Getenv("BEADS_DIR")}
}

// Discover finds the store of this run, and the configuration that goes with it.
func (a *App) Discover() (beads.Store, error) {
	store, err := beads.Discover(a.Where())
	if err != nil {
		return store, err
	}
	store.Path = Shortest(store.Path)
	return store, a.Configure(store)
}

// discoverToRead is Discover for what writes nothing and runs nothing.
func (a *App) discoverToRead() (beads.Store, error) {
	store, err := a.Discover()
	if wrong, ok := errors.AsType[*configError](err); ok {
		if !a.misconfigured {
			a.Warn("%s; its settings are left out, and stig writes nothing until it is fixed", wrong.message)
			a.Hint(wrong.hint)
		}
		a.misconfigured, err = true, nil
	}
	return store, err
}

// Shortest names a file below the working directory as one would type it.
func Shortest(path string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	below, err := filepath.Rel(here, path)
	if err != nil || !filepath.IsLocal(below) {
		return path
	}
	return below
}

// Open reads the store and says on the error stream what of it is unreadable. A
// mistake in the configuration is a warning: reading goes on with the defaults.
func (a *App) Open() (*beads.File, error) {
	store, err := a.discoverToRead()
	if err != nil {
		return nil, err
	}
	file, err := beads.Read(store)
	if err != nil {
		return nil, err
	}
	a.warnOfStore(file)
	return file, nil
}

// Weakness says what a file system lacks that cannot exchange two files.
func Weakness(s beads.Store) string {
	return "the file system of " + Shortest(filepath.Dir(s.Path)) + " cannot exchange two files: " +
		"stig's writes are guarded and read back, those of other programs may overwrite them"
}

// Options are those of every edit of the store: the time of this run, and bd
// told of it where bd keeps the issues in a database too.
func (a *App) Options(dryRun bool) (beads.Options, error) {
	now, err := a.Clock()
	if err != nil {
		return beads.Options{}, err
	}
	bd := &checkpoint.BD{Env: a.Environ(), OnPath: process.Finder("", a.Getenv)("bd"), Warn: a.Warn}
	if a.Journal == nil {
		a.Journal = &journal{app: a, ctx: a.Ctx}
	}
	a.Journal.now = now
	return beads.Options{Now: now, DryRun: dryRun, Journal: a.Journal.write, Weak: a.warnOfWeak, Before: bd.Flush, After: bd.TakeUp}, nil
}

// ToWrite gives the store of a command that writes, and the options of its edit.
// It refuses a store in which an unfinished merge left changes out.
func (a *App) ToWrite(ctx context.Context, dryRun bool) (beads.Store, beads.Options, error) {
	options, err := a.Options(dryRun)
	if err != nil {
		return beads.Store{}, options, err
	}
	store, err := a.Discover()
	if err == nil {
		err = a.RefuseUnfinished(ctx, store)
	}
	return store, options, err
}

// SetupStep is one thing that setup does.
type SetupStep struct {
	What []string // what it changes, as it is reported
	Diff string   // the same as a dry run shows it
	Do   func() error
}

// warnOfWeak says, at the first write to a store, what its file system lacks.
func (a *App) warnOfWeak(s beads.Store) {
	if mark := a.weakMark(s); mark != "" {
		if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
			return
		}
		if os.MkdirAll(filepath.Dir(mark), 0o700) == nil {
			_ = os.WriteFile(mark, nil, 0o600) // without it the next write says it again
		}
	}
	a.Warn("%s", Weakness(s))
}

// weakMark is the file that records that the user was told of a store; "" where
// nothing is kept for the user.
func (a *App) weakMark(s beads.Store) string {
	dir, err := realPath(s.Dir)
	if err != nil || a.StateDir() == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(a.StateDir(), "weak", hex.EncodeToString(sum[:8]))
}
