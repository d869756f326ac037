package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// useBD puts a bd on PATH for the rest of a script: use-bd BEHAVIOUR, where "none" removes
// every bd. The stand-in appends its calls to bd-calls.
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

// standIn implements as much of bd 1.0 as stig calls: it keeps the issues' lines in beads.db,
// and in no file. STANDIN selects a fault: it "fails" to write, "forgets" what it reported as
// written, or is "old" and has no export.
func standIn(args []string) error {
	how, db := os.Getenv("STANDIN"), filepath.Join(os.Getenv("BEADS_DIR"), "beads.db")
	calls, err := os.OpenFile(os.Getenv("STANDIN_CALLS"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer calls.Close()
	fmt.Fprintln(calls, "bd", strings.Join(args, " "))
	actor, named := strings.CutPrefix(args[0], "--actor=")
	if named {
		args = args[1:]
	}
	text, err := os.ReadFile(db)
	switch {
	case args[0] == "version":
		fmt.Println("bd version 1.0.4 (stand-in)")
		return nil
	case err != nil:
		return err
	case args[0] == "export" && how == "old":
		return errors.New(`unknown command "export" for "bd"`)
	case args[0] == "export":
		_, err := os.Stdout.Write(text)
		return err
	case how == "fails":
		return errors.New("bd is unwell\nsee its log")
	case how == "forgets":
		return nil
	case args[0] == "import":
		lines, err := io.ReadAll(os.Stdin)
		return errors.Join(err, os.WriteFile(db, append(text, lines...), 0o644))
	}
	return changeLine(db, text, actor, args)
}

// changeLine applies a command to the line of its issue.
func changeLine(db string, text []byte, actor string, args []string) error {
	id := args[1]
	if args[0] == "dep" {
		id = args[2]
	} else if args[0] == "comments" { // comments add --author=NAME -- ID TEXT
		id = args[4]
	}
	var lines bytes.Buffer
	for line := range bytes.Lines(text) {
		var issue map[string]any
		if err := json.Unmarshal(line, &issue); err != nil {
			return err
		}
		if issue["id"] == id {
			if args[0] == "delete" {
				continue
			}
			if err := apply(issue, actor, args); err != nil {
				return err
			}
		}
		if err := json.NewEncoder(&lines).Encode(issue); err != nil {
			return err
		}
	}
	return os.WriteFile(db, lines.Bytes(), 0o644)
}

// apply applies a command to an issue.
func apply(issue map[string]any, actor string, args []string) error {
	list := func(key string) []any { l, _ := issue[key].([]any); return l }
	switch args[0] {
	case "close":
		issue["status"], issue["close_reason"], issue["closed_at"] = "closed", strings.TrimPrefix(args[3], "--reason="), "2026-11-20T09:00:09Z"
	case "comments":
		issue["comments"] = append(list("comments"), map[string]any{"author": strings.TrimPrefix(args[2], "--author="), "text": args[5], "created_at": "2026-11-20T09:00:09Z"})
	case "dep":
		kept := slices.DeleteFunc(list("dependencies"), func(d any) bool { return d.(map[string]any)["depends_on_id"] == args[3] })
		if args[1] == "add" {
			kept = append(kept, map[string]any{"issue_id": args[2], "depends_on_id": args[3], "type": strings.TrimPrefix(args[4], "--type=")})
		}
		issue["dependencies"] = kept
	case "update":
		for _, flag := range args[2:] {
			name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
			switch name {
			case "claim":
				issue["status"], issue["assignee"] = "in_progress", actor
			case "acceptance":
				issue["acceptance_criteria"] = value
			case "priority":
				issue[name] = json.Number(value)
			default:
				issue[name] = value
			}
		}
		if issue["status"] != "closed" {
			delete(issue, "closed_at")
			delete(issue, "close_reason")
		}
	default:
		return fmt.Errorf("no stand-in for bd %v", args)
	}
	return nil
}
