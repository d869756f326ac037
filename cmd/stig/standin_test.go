package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/beads"
)

// useBD has the rest of a script find a bd on PATH: use-bd BEHAVIOUR, where
// "none" takes every bd away. The stand-in appends its calls to bd-calls.
func useBD(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: use-bd behaviour")
	}
	bin := ts.MkAbs("bin")
	ts.Check(os.MkdirAll(bin, 0o755))
	link := filepath.Join(bin, "bd")
	if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Check(err)
	}
	path := []string{bin}
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := exec.LookPath(filepath.Join(dir, "bd")); err != nil && dir != bin {
			path = append(path, dir)
		}
	}
	ts.Setenv("PATH", strings.Join(path, string(filepath.ListSeparator)))
	ts.Setenv("STANDIN", args[0])
	ts.Setenv("STANDIN_CALLS", ts.MkAbs("bd-calls"))
	if args[0] == "none" {
		return
	}
	self, err := os.Executable()
	ts.Check(err)
	ts.Check(os.Symlink(self, link))
}

// standIn is as much of bd 0.49 as stig speaks to: it keeps the lines of the
// issues in beads.db, takes up those with a newer updated_at, and writes its
// own over the file. STANDIN says how it goes wrong.
func standIn(args []string) error {
	if args[0] == "version" {
		fmt.Println("bd version 0.49.1 (stand-in)")
		return nil
	}
	how, dir := os.Getenv("STANDIN"), os.Getenv("BEADS_DIR")
	calls, err := os.OpenFile(os.Getenv("STANDIN_CALLS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer calls.Close()
	fmt.Fprintln(calls, "bd", strings.Join(args, " "))
	db, file, waiting := filepath.Join(dir, "beads.db"), filepath.Join(dir, "issues.jsonl"), filepath.Join(dir, "unwritten")
	if how == "of-1.0" {
		return errors.New(`unknown command "sync" for "bd"`)
	}
	switch strings.Join(args[:2], " ") {
	case "sync --status":
		if _, err := os.Stat(waiting); err == nil {
			fmt.Println("Pending changes: 1 issues modified since last export")
		}
		return nil
	case "sync --flush-only":
		if err := os.Remove(waiting); err != nil {
			return err
		}
		return copyFile(db, file)
	case "sync --import-only":
		if how == "fails" || how == "ignores" {
			return errors.New("importing: bd is unwell\nsee its log")
		}
		if overwrites(how, calls.Name()) {
			return copyFile(db, file)
		}
		return takeUp(db, file)
	case "close " + args[1]:
		if forgets(how, calls.Name()) {
			return nil
		}
		return change(db, file, args[1], beads.Set{Key: beads.Status, Text: "closed"}, beads.Set{Key: beads.ClosedAt, Text: "2026-11-20T09:00:09Z"},
			beads.Set{Key: beads.CloseReason, Text: strings.TrimPrefix(args[3], "--reason=")})
	case "reopen " + args[1]:
		return change(db, file, args[1], beads.Set{Key: beads.Status, Text: "open"}, beads.Set{Key: beads.ClosedAt}, beads.Set{Key: beads.CloseReason})
	case "export --id":
		lines, err := linesOf(db)
		for id := range strings.SplitSeq(args[2], ",") {
			if at := slices.IndexFunc(lines, has(id)); at >= 0 && how != "ignores" {
				fmt.Printf("%s\n", lines[at].Bytes())
			}
		}
		return err
	}
	return fmt.Errorf("no stand-in for bd %v", args)
}

// overwrites reports whether this import loses to an export: always, or the
// first time alone.
func overwrites(how, calls string) bool {
	said, err := os.ReadFile(calls)
	return how == "overwrites" || how == "overwrites-once" && err == nil && bytes.Count(said, []byte("--import-only")) == 1
}

// forgets reports whether this close does not stay: always, or the first time
// alone.
func forgets(how, calls string) bool {
	said, err := os.ReadFile(calls)
	return how == "forgets" || how == "forgets-once" && err == nil && bytes.Count(said, []byte("bd close")) == 1
}

// takeUp puts what of the file is newer into the database.
func takeUp(db, file string) error {
	kept, err := linesOf(db)
	if err != nil {
		return err
	}
	offered, err := linesOf(file)
	if err != nil {
		return err
	}
	for _, line := range offered {
		at := slices.IndexFunc(kept, has(line.Text(beads.ID)))
		if at < 0 {
			kept = append(kept, line)
			continue
		}
		was, _ := kept[at].Time(beads.UpdatedAt)
		if is, _ := line.Time(beads.UpdatedAt); is.After(was) {
			// Of an issue that it knows bd takes no close reason, and does not
			// open again what it closed itself.
			sets := []beads.Set{{Key: beads.CloseReason, Text: kept[at].Text(beads.CloseReason)}}
			if kept[at].Text(beads.Status) == "closed" {
				sets = append(sets, beads.Set{Key: beads.Status, Text: "closed"}, beads.Set{Key: beads.ClosedAt, Text: kept[at].Text(beads.ClosedAt)})
			}
			if line, err = line.With(is.Add(-time.Second), sets...); err != nil {
				return err
			}
			kept[at] = line
		}
	}
	var text bytes.Buffer
	for _, line := range kept {
		text.Write(append(line.Bytes(), '\n'))
	}
	return os.WriteFile(db, text.Bytes(), 0o644)
}

// change sets keys of an issue in the database, and writes the file.
func change(db, file, id string, sets ...beads.Set) error {
	lines, err := linesOf(db)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for _, line := range lines {
		if has(id)(line) {
			if line, err = line.With(time.Time{}, sets...); err != nil {
				return err
			}
		}
		text.Write(append(line.Bytes(), '\n'))
	}
	if err := os.WriteFile(db, text.Bytes(), 0o644); err != nil {
		return err
	}
	return copyFile(db, file)
}

func has(id string) func(*beads.Record) bool {
	return func(r *beads.Record) bool { return r.Text(beads.ID) == id }
}

func linesOf(path string) (records []*beads.Record, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		r, err := beads.ParseRecord(bytes.TrimSpace(line))
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
