package checkpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"stig/beads"
	"stig/process"
)

// BD is the bd that keeps the issues of a workspace in a SQLite database. It
// reads the file only when it is told to or is about to write, and then writes
// its database over what it did not take up: what others write has to arrive
// in it. For stores without such a database the methods do nothing.
//
// Its methods are made for beads.Options.
type BD struct {
	Env    []string                         // the environment that bd runs in
	OnPath bool                             // whether there is a bd
	Warn   func(format string, args ...any) // told what is no failure
	Limit  time.Duration                    // for each call; 0 means 30 s

	other bool // the bd on PATH is one that keeps no such database
}

const (
	bdLimit = 30 * time.Second
	// longestArgument is what every system takes for one argument, in bytes.
	longestArgument = 16 << 10
)

// Flush has bd write to the file what only its database holds: an edit of the
// file would undo it. Nothing is written when bd cannot take up the file as it
// is, for then it would write over it; the error is a *beads.ConflictError.
func (b *BD) Flush(ctx context.Context, s beads.Store) error {
	if s.Mode != beads.SQLite || !b.OnPath {
		return nil
	}
	sound, err := readable(s)
	if err != nil || !sound {
		return err // beads.Edit says what is wrong, and refuses
	}
	const unwritten = "nothing was written, for bd does not answer"
	ctx, done := b.limited(ctx)
	defer done()
	status, err := b.run(ctx, s, "sync", "--status")
	if err != nil {
		return unanswered(ctx, s, unwritten, err)
	}
	if b.other = bytes.Contains(status.Stderr, []byte(`unknown command "sync"`)); b.other {
		return nil // bd 1.0 and later
	}
	if status.Exit != 0 {
		return &beads.ConflictError{Path: s.Path, Reason: unwritten + said(status),
			Hint: "see what bd sync --status says"}
	}
	if !bytes.Contains(status.Stdout, []byte("issues modified since last export")) {
		return nil
	}
	for _, how := range []string{"--import-only", "--flush-only"} {
		result, err := b.run(ctx, s, "sync", how)
		if err != nil {
			return unanswered(ctx, s, unwritten, err)
		}
		if result.Exit != 0 && !tooLongAlone(result) {
			return &beads.ConflictError{Path: s.Path,
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
	file, err := beads.Read(s)
	if err != nil {
		return false, err
	}
	return len(file.Problems()) == 0, file.Close()
}

// TakeUp has bd take up what was written, and then asks the file and bd for
// it. The error is a *beads.LostError when either does not hold it, and a
// *beads.ConflictError when bd does not answer.
func (b *BD) TakeUp(ctx context.Context, s beads.Store, changes []beads.Change) error {
	if s.Mode != beads.SQLite {
		return nil
	}
	if !b.OnPath || b.other {
		b.Warn("%s: no bd is on PATH to take this up: type bd sync --import-only where one is", s.Path)
		for _, argv := range lastOfEach(retold(changes)) {
			b.Warn("%s: bd takes that from no file: type bd %s there too", s.Path, strings.Join(argv[:2], " "))
		}
		return nil
	}
	ctx, done := b.limited(ctx)
	defer done()
	const written = "written, but bd does not say whether it took it up"
	taken, err := b.run(ctx, s, "sync", "--import-only")
	if err != nil {
		return unanswered(ctx, s, written, err)
	}
	for _, argv := range retold(changes) {
		answer, err := b.run(ctx, s, argv...)
		if err != nil {
			return unanswered(ctx, s, written, err)
		}
		if answer.Exit != 0 {
			taken = answer
		}
	}
	lost, err := missingInFile(s, changes)
	if err != nil {
		return err
	}
	if lost != "" {
		return lostIn(s, "bd wrote over what was written: "+lost+said(taken),
			"see what bd show says of it, and run the command again")
	}
	// Whatever the import said: what bd holds counts.
	if lost, err = b.missingInBD(ctx, s, changes); err != nil {
		return unanswered(ctx, s, written, err)
	}
	if lost != "" {
		return lostIn(s, "written, but bd does not take it up and will write over it: "+lost+said(taken),
			"fix what bd sync --import-only says and type it again, or write it with bd update")
	}
	return nil
}

func lostIn(s beads.Store, reason, hint string) error {
	return &beads.LostError{ConflictError: beads.ConflictError{Path: s.Path, Reason: reason, Hint: hint}}
}

// retold are the commands that tell bd once more what it does not take from
// the file: why an issue was closed, and that one is open again. Of the latter
// bd may have taken the status and kept the reason, which only its own reopening
// of what is closed takes away.
func retold(changes []beads.Change) (commands [][]string) {
	for _, c := range changes {
		values, err := c.Values()
		if err != nil {
			continue // what was written can be read; TakeUp looks for all of it
		}
		var reason, status beads.Value
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
		} else if status.Before == statusClosed {
			commands = append(commands, []string{"close", c.ID, "--force", "--reason=" + reason.Before}, []string{"reopen", c.ID})
		}
	}
	return commands
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

func (b *BD) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := b.Limit
	if limit == 0 {
		limit = bdLimit
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("bd did not end within %v", limit))
}

// run starts bd on this very store, and not by way of its daemon, whose
// answers may lag.
func (b *BD) run(ctx context.Context, s beads.Store, argv ...string) (process.Result, error) {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return process.Result{}, err
	}
	return process.Run(ctx, process.Command{
		Argv: append([]string{"bd"}, argv...),
		Dir:  filepath.Dir(dir),
		Env:  append(append([]string(nil), b.Env...), "BEADS_DIR="+dir, "BEADS_NO_DAEMON=1"),
	})
}

// missingInFile names what of the changes the file no longer holds.
func missingInFile(s beads.Store, changes []beads.Change) (string, error) {
	file, err := beads.Read(s)
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
func (b *BD) missingInBD(ctx context.Context, s beads.Store, changes []beads.Change) (string, error) {
	var ids []string
	for _, c := range changes {
		ids = append(ids, c.ID)
	}
	argv := []string{"export"}
	if list := strings.Join(ids, ","); len(list) <= longestArgument {
		argv = append(argv, "--id", list)
	}
	result, err := b.run(ctx, s, argv...)
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
func unanswered(ctx context.Context, s beads.Store, reason string, err error) error {
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return err
	}
	return &beads.ConflictError{Path: s.Path, Reason: reason + ": " + err.Error(),
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
		if strings.HasPrefix(words, "Error") {
			break
		}
	}
	if words == "" {
		return fmt.Sprintf(" (bd: exit code %d)", result.Exit)
	}
	return fmt.Sprintf(" (bd: exit code %d, %q)", result.Exit, words)
}
