// Package bd edits stores beside which bd keeps the issues in a database of its
// own: wrappers of beads.Store that have bd write and take up what an edit needs,
// or refuse the edit. Of a Dolt database it looks at the files and reads the tables
// itself; bd alone writes there.
//
//	store := bd.Program{Env: environ, OnPath: true, Warn: warn}.Wrap(jsonl.Open(place))
package bd

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stig/beads"
	"stig/fault"
	"stig/process"
)

// Program is the bd of this machine.
type Program struct {
	Env    []string                         // the environment that bd runs in
	OnPath bool                             // whether there is a bd
	Warn   func(format string, args ...any) // told what is no failure
	Limit  time.Duration                    // for each call; 0 means 30 s

	// What a store in a Dolt database takes besides.
	Getenv func(name string) string
	Cache  string        // the directory that keeps what was read last; "" keeps nothing
	Actor  func() string // who writes; nil or "" leaves it to bd

	// Lock keeps other runs of stig on this machine from writing, until unlock is called;
	// nil locks nothing.
	Lock func(ctx context.Context, p beads.Place, wait time.Duration) (unlock func() error, err error)
}

func (b Program) kept() cache { return cache{b.Cache} }

const (
	limit = 30 * time.Second
	// longestArgument is what every system takes for one argument, in bytes.
	longestArgument = 16 << 10
)

// Wrap gives the store as commands are to edit it where bd keeps the issues in a
// database of its own; other stores as they are.
func (p Program) Wrap(s beads.Store) beads.Store {
	switch s.Place().Mode {
	case beads.SQLite:
		d := &database{Store: s, bd: p}
		return &told{Store: s, ahead: d.flush, after: d.takeUp}
	case beads.Dolt:
		return p.openDolt(s)
	case beads.Export:
		return export{s}
	}
	return s
}

// Settle gives a place with the mode that it has for this run: without a bd on PATH, or
// with a mode of bd that is not known here, the file beside an embedded database is an
// export and no more. A server can be read without bd.
func (b Program) Settle(p beads.Place) beads.Place {
	if p.Mode != beads.Dolt {
		return p
	}
	d, err := b.locate(p)
	if err == nil && d.topology != topologyServer && (!b.OnPath || d.topology == topologyEmbedded && !isDir(d.Files)) && isFile(p.Path) {
		p.Mode = beads.Export
	}
	return p
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// Refuse gives the error of an edit of the text of the file where bd keeps the issues
// in a Dolt database; nil for other stores.
func Refuse(p beads.Place) error {
	switch {
	case p.Mode == beads.Dolt:
		return &fault.Error{Code: fault.Refused,
			Path: p.Path, Reason: "bd keeps the issues in a Dolt database, and this file is an export of it, which nobody reads",
			Hint: "type bd export -o " + p.Path + ", which writes it anew"}
	case p.Mode == beads.Export && isDir(filepath.Join(p.Dir, "embeddeddolt")):
		return &fault.Error{Code: fault.Refused,
			Path: p.Path, Reason: "an export: bd keeps the issues in a Dolt database and has to write them, and no bd is on PATH",
			Hint: "install bd 1.0 or later, and run the command again; or write with bd update ID where one is"}
	case p.Mode == beads.Export:
		return &fault.Error{Code: fault.Refused,
			Path: p.Path, Reason: "an export of a Dolt database of bd that is not here; what is written to it is lost",
			Hint: "type bd bootstrap --yes, which makes the database from it, and run the command again; or write with bd update ID where the database is"}
	}
	return nil
}

// export is a file that bd wrote from a Dolt database that is not here.
type export struct{ beads.Store }

// Edit refuses, a dry run too.
func (s export) Edit(context.Context, beads.Options, func(*beads.Tx) error) ([]beads.Change, error) {
	return nil, Refuse(s.Place())
}

// told is a store of which another program keeps what its issues are in a place
// of its own.
type told struct {
	beads.Store
	ahead func(context.Context) error                 // its error ends the edit
	after func(context.Context, []beads.Change) error // is given what was written
}

// Edit makes an edit between the two calls. After a beads.ErrLost it is made
// once more, for the program may have put its own content in the place of ours. A
// dry run makes neither call, an edit that changes nothing only the first.
func (s *told) Edit(ctx context.Context, o beads.Options, fn func(*beads.Tx) error) ([]beads.Change, error) {
	if o.DryRun {
		return s.Store.Edit(ctx, o, fn)
	}
	changes, err := s.edit(ctx, o, nil, fn)
	if errors.Is(err, beads.ErrLost) {
		return s.edit(ctx, o, changes, fn)
	}
	return changes, err
}

// edit makes one edit between the two calls. The second is also given the changes
// of the edit before that this one found still there.
func (s *told) edit(ctx context.Context, o beads.Options, earlier []beads.Change, fn func(*beads.Tx) error) ([]beads.Change, error) {
	if err := s.ahead(ctx); err != nil {
		return nil, err
	}
	changes, err := s.Store.Edit(ctx, o, fn)
	if err == nil {
		changes = slices.Concat(changes, slices.DeleteFunc(earlier, func(c beads.Change) bool {
			return slices.ContainsFunc(changes, func(again beads.Change) bool { return again.ID == c.ID })
		}))
	}
	if len(changes) == 0 {
		return changes, err
	}
	if err == nil {
		return changes, s.after(ctx, changes)
	}
	return changes, errors.Join(err, s.after(ctx, changes))
}

// database is a store beside which bd keeps the issues in a SQLite database. bd
// reads the file only when it is told to or is about to write, and then writes
// its database over what it did not take up: what others write has to arrive
// in it.
type database struct {
	beads.Store
	bd    Program
	other bool // the bd on PATH is one that keeps no such database
}

// flush has bd write to the file what only its database holds: an edit of the
// file would undo it. Nothing is written when bd cannot import the file as it
// is, for then it would write over it; the error is a fault.Changed.
func (s *database) flush(ctx context.Context) error {
	if !s.bd.OnPath {
		return nil
	}
	sound, err := readable(s.Store)
	if err != nil || !sound {
		return err // Edit says what is wrong, and refuses
	}
	const unwritten = "nothing was written, for bd does not answer"
	ctx, done := s.bd.limited(ctx)
	defer done()
	status, err := s.bd.Run(ctx, s.Place(), "sync", "--status")
	if err != nil {
		return unanswered(ctx, s.Place(), unwritten, err)
	}
	if s.other = bytes.Contains(status.Stderr, []byte(`unknown command "sync"`)); s.other {
		return nil // bd 1.0 and later
	}
	if status.Exit != 0 {
		return &fault.Error{Code: fault.Changed, Path: s.Place().Path, Reason: unwritten + said(status),
			Hint: "see what bd sync --status says"}
	}
	if !bytes.Contains(status.Stdout, []byte("issues modified since last export")) {
		return nil
	}
	for _, how := range []string{"--import-only", "--flush-only"} {
		result, err := s.bd.Run(ctx, s.Place(), "sync", how)
		if err != nil {
			return unanswered(ctx, s.Place(), unwritten, err)
		}
		if result.Exit != 0 && !tooLongAlone(result) {
			return &fault.Error{Code: fault.Changed, Path: s.Place().Path,
				Reason: "nothing was written: bd cannot bring changes that it holds to the file" + said(result),
				Hint:   "type bd sync " + how + ", fix what it says, and run the command again"}
		}
	}
	return nil
}

// tooLongAlone reports whether bd failed for nothing but the limit of this command
// on the length of a line. Then it took the file up all the same: every command
// of bd begins with that, with a limit of 2 MiB, and says "Auto-import" when it fails.
func tooLongAlone(result process.Result) bool {
	return bytes.Contains(result.Stderr, []byte("token too long")) && !bytes.Contains(result.Stderr, []byte("Auto-import"))
}

// readable reports whether nothing in the file is in the way of a program.
func readable(s beads.Store) (bool, error) {
	file, err := s.Snapshot()
	if err != nil {
		return false, err
	}
	return len(file.Problems()) == 0, file.Close()
}

// takeUp has bd take up what was written, and then asks the file and bd for
// it. The error is a beads.ErrLost when either does not hold it, and a
// fault.Changed when bd does not answer.
func (s *database) takeUp(ctx context.Context, changes []beads.Change) error {
	if !s.bd.OnPath || s.other {
		s.bd.Warn("%s: no bd is on PATH to take this up: type bd sync --import-only where one is", s.Place().Path)
		for _, argv := range lastOfEach(retold(changes)) {
			words := argv[:2]
			if argv[0] == "update" {
				words = argv
			}
			s.bd.Warn("%s: bd takes that from no file: type bd %s there too", s.Place().Path, strings.Join(words, " "))
		}
		return nil
	}
	ctx, done := s.bd.limited(ctx)
	defer done()
	const written = "written, but bd does not say whether it took it up"
	taken, err := s.bd.Run(ctx, s.Place(), "sync", "--import-only")
	if err != nil {
		return unanswered(ctx, s.Place(), written, err)
	}
	for _, argv := range retold(changes) {
		answer, err := s.bd.Run(ctx, s.Place(), argv...)
		if err != nil {
			return unanswered(ctx, s.Place(), written, err)
		}
		if answer.Exit != 0 {
			taken = answer
		}
	}
	lost, err := missingIn(s.Store, changes)
	if err != nil {
		return err
	}
	if lost != "" {
		return lostIn(s.Place(), "bd wrote over what was written: "+lost+said(taken),
			"see what bd show says of it, and run the command again")
	}
	// Whatever the import said: what bd holds counts.
	if lost, err = s.missingInBD(ctx, changes); err != nil {
		return unanswered(ctx, s.Place(), written, err)
	}
	if lost != "" {
		return lostIn(s.Place(), "written, but bd does not take it up and will write over it: "+lost+said(taken),
			"fix what bd sync --import-only says and type it again, or write it with bd update")
	}
	return nil
}

func lostIn(p beads.Place, reason, hint string) error {
	return &fault.Error{Code: fault.Changed, Path: p.Path, Reason: reason, Hint: hint, Err: beads.ErrLost}
}

// retold are the commands that tell bd once more what it does not take from
// the file: why an issue was closed, and that one is open again. Of the latter
// bd may have taken the status and kept the reason, which only its own reopening
// of what is closed takes away.
func retold(changes []beads.Change) (commands [][]string) {
	for _, c := range changes {
		values, err := c.Values()
		if err != nil {
			continue // what was written can be read; takeUp looks for all of it
		}
		var reason, status beads.Value
		if update := updated(c, values); len(c.Before) > 0 && update != nil {
			commands = append(commands, update)
		}
		for _, v := range values {
			switch v.Key {
			case beads.CloseReason:
				reason = v
			case beads.Status:
				status = v
			}
		}
		if reason.After != "" {
			commands = append(commands, []string{"close", c.ID, "--force", "--reason=" + reason.After})
		} else if status.Before == beads.StatusClosed {
			commands = append(commands, []string{"close", c.ID, "--force", "--reason=" + reason.Before}, []string{"reopen", c.ID})
		}
	}
	return commands
}

// updated is the command for the fields that bd takes from no file once it has the
// issue; nil for none.
func updated(c beads.Change, values []beads.Value) []string {
	argv := []string{"update", c.ID}
	for _, v := range values {
		switch {
		case v.Key == beads.DeferUntil:
			argv = append(argv, "--defer="+v.After)
		case v.Key == beads.EstimatedMinutes && v.After != "":
			argv = append(argv, "--estimate="+v.After)
		case v.Key == beads.Labels && v.After == "": // that some are gone it takes
			before, err := beads.ParseRecord(c.Before)
			if err != nil {
				continue
			}
			for _, label := range before.Labels() {
				argv = append(argv, "--remove-label="+label)
			}
		}
	}
	if len(argv) == 2 {
		return nil
	}
	return argv
}

// lastOfEach keeps of the commands about one issue the last.
func lastOfEach(commands [][]string) (last [][]string) {
	for i, argv := range commands {
		if i+1 == len(commands) || commands[i+1][1] != argv[1] {
			last = append(last, argv)
		}
	}
	return last
}

func (b Program) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	most := cmp.Or(b.Limit, limit)
	return context.WithTimeoutCause(ctx, most, fmt.Errorf("bd did not end within %v", most))
}

// patient is limited for what takes its time on a store of many issues.
func (b Program) patient(ctx context.Context) (context.Context, context.CancelFunc) {
	b.Limit = 10 * cmp.Or(b.Limit, limit)
	return b.limited(ctx)
}

// Run starts bd on this very store, and not by way of its daemon, whose
// answers may lag.
func (b Program) Run(ctx context.Context, p beads.Place, argv ...string) (process.Result, error) {
	return b.start(ctx, p, nil, argv...)
}

// start is Run with a standard input. A server of bd's that does not run stays so.
func (b Program) start(ctx context.Context, p beads.Place, stdin []byte, argv ...string) (process.Result, error) {
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return process.Result{}, err
	}
	return process.Run(ctx, process.Command{
		Argv:  append([]string{"bd"}, argv...),
		Dir:   filepath.Dir(dir),
		Env:   append(append([]string(nil), b.Env...), "BEADS_DIR="+dir, "BEADS_NO_DAEMON=1", "BEADS_DOLT_AUTO_START=0"),
		Stdin: stdin,
	})
}

// missingIn names what of the changes the store no longer holds.
func missingIn(s beads.Store, changes []beads.Change) (string, error) {
	file, err := s.Snapshot()
	if err != nil {
		return "", err
	}
	defer file.Close()
	return missing(changes, func(id string) (*beads.Record, error) {
		at, ok := file.Index(id)
		if !ok {
			return nil, nil
		}
		return file.At(at).Record()
	})
}

// missingInBD names what of the changes bd does not hold.
func (s *database) missingInBD(ctx context.Context, changes []beads.Change) (string, error) {
	var ids []string
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	argv := []string{"export"}
	if list := strings.Join(ids, ","); len(list) <= longestArgument {
		argv = append(argv, "--id", list)
	}
	result, err := s.bd.Run(ctx, s.Place(), argv...)
	if err != nil {
		return "", err
	}
	records := map[string]*beads.Record{}
	for line := range bytes.Lines(result.Stdout) {
		if r, err := beads.ParseRecord(bytes.TrimSpace(line)); err == nil {
			records[r.Text(beads.ID)] = r
		}
	}
	return missing(changes, func(id string) (*beads.Record, error) { return records[id], nil })
}

func missing(changes []beads.Change, find func(id string) (*beads.Record, error)) (string, error) {
	var lost []string
	for _, c := range changes {
		now, err := find(c.ID)
		if err != nil {
			return "", err
		}
		keys, err := c.Missing(now, notesHold)
		if err != nil {
			return "", err
		}
		for _, k := range keys {
			lost = append(lost, c.ID+" "+string(k))
		}
	}
	return strings.Join(lost, ", "), nil
}

// unanswered is the error of a bd that could not be asked. That the command
// itself was ended stays what it is.
func unanswered(ctx context.Context, p beads.Place, reason string, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return err
	}
	return &fault.Error{Code: fault.Changed, Path: p.Path, Reason: reason + ": " + err.Error(),
		Hint: "type bd sync --import-only, then run the command again"}
}

// said tells how bd failed, with what it calls the error or else its last
// words; nothing when it did not.
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
