package actors

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

func unitWorkers() map[string]Unit {
	tide := Unit{Actor: "tide", Repo: "/home/ann/harbor", Program: "/usr/bin/stig", Env: []string{"PATH=/home/ann/bin:/usr/bin"}, Dream: 4 * time.Hour}
	odd := Unit{Actor: "ann/tide 100%", Repo: `/home/ann/the $harbor "of" 50%\n`, Store: "/srv/a b/issues.jsonl", Program: "/opt/my tools$/stig",
		Env: []string{`PATH=/opt/%s:/usr/bin`}, EnvFile: "/home/ann/100%/worker.env", Dream: 90 * time.Minute}
	machine := tide
	machine.User, machine.Dream, machine.Writes = "stig-worker", 0, []string{"/home/stig worker", "/srv/harbor.git"}
	return map[string]Unit{"user": tide, "odd": odd, "machine": machine}
}

// The texts are compared with files that people read; systemd judges them too where it
// is there, see TestSystemdAnalyze.
func TestTexts(t *testing.T) {
	for name, w := range unitWorkers() {
		units, err := w.Systemd()
		agents, err2 := w.Launchd()
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		var b strings.Builder
		for _, f := range slices.Concat(units, agents) {
			b.WriteString("-- " + f.Name + " --\n" + f.Text)
		}
		golden := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || string(want) != b.String() {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
		for _, f := range units {
			if !slices.Contains(w.Names(), f.Name) {
				t.Errorf("%s: %s would not be removed", name, f.Name)
			}
		}
		for _, f := range agents {
			if !slices.Contains(w.LaunchdNames(), f.Name) {
				t.Errorf("%s: %s would not be removed", name, f.Name)
			}
			for d := xml.NewDecoder(strings.NewReader(f.Text)); ; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", f.Name, err)
				}
			}
		}
	}
}

// TestSystemdAnalyze has systemd read the units where it is installed. It wants the
// program to be there.
func TestSystemdAnalyze(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not on PATH: TestTexts compares what it accepted")
		return
	}
	for name, w := range unitWorkers() {
		dir := filepath.Join(t.TempDir(), "a $b ä; 5%x")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		w.Program = filepath.Join(dir, "stig")
		if err := os.WriteFile(w.Program, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		files, err := w.Systemd()
		if err != nil {
			t.Fatal(err)
		}
		argv := []string{"verify"}
		if w.User == "" {
			argv = append(argv, "--user")
		}
		for _, f := range files {
			path := filepath.Join(dir, f.Name)
			if err := os.WriteFile(path, []byte(f.Text), 0o644); err != nil {
				t.Fatal(err)
			}
			argv = append(argv, path)
		}
		cmd := exec.Command(analyze, argv...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "stig-") {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestNames(t *testing.T) {
	harbor := Unit{Actor: "tide", Repo: "/home/ann/harbor"}
	others := []Unit{{Actor: "tide", Repo: "/srv/harbor"}, {Actor: "tide-harbor", Repo: "/home/ann"}, {Actor: "tide", Repo: "/home/ann/harbor", Store: "/home/ann/b.jsonl"},
		{Actor: strings.Repeat("ä", 300), Repo: "/" + strings.Repeat("ß", 300)}, {Actor: strings.Repeat("ä", 301), Repo: "/" + strings.Repeat("ß", 300)}}
	seen := map[string]bool{harbor.Service(): true}
	for _, w := range others {
		if name := w.Service(); seen[name] || len(name) > 255 || len(w.Dreams()) > 255 {
			t.Errorf("%q: %q", w.Actor, name)
		}
		seen[w.Service()] = true
	}
	for text, want := range map[string]string{"tide": "tide", "ann/claude-3f2a": "ann-claude-3f2a", ".x y": `\x2ex\x20y`, "ä@%": `\xc3\xa4\x40\x25`, "": ""} {
		if got := EscapeUnit(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestRefused(t *testing.T) {
	good := unitWorkers()["user"]
	for name, change := range map[string]func(*Unit){
		"relative": func(w *Unit) { w.Repo = "harbor" }, "no program": func(w *Unit) { w.Program = "" },
		"line": func(w *Unit) { w.Repo += "\nExecStart=/bin/sh" }, "line of a variable": func(w *Unit) { w.Env = []string{"A=b\nc"} },
		"bytes": func(w *Unit) { w.Actor = "\xff" }, "relative write": func(w *Unit) { w.Writes = []string{"x"} },
	} {
		w := good
		change(&w)
		if _, err := w.Systemd(); err == nil {
			t.Errorf("%s: a unit", name)
		}
		if _, err := w.Launchd(); err == nil {
			t.Errorf("%s: a property list", name)
		}
	}
}

// systemd says of such a program that its name has special characters.
func TestProgramThatSystemdRefuses(t *testing.T) {
	for _, program := range []string{`/opt/a"b/stig`, `/opt/a'b/stig`, `/opt/a\b/stig`} {
		w := unitWorkers()["user"]
		w.Program = program
		if _, err := w.Systemd(); err == nil {
			t.Errorf("%s: a unit", program)
		}
		if _, err := w.Launchd(); err != nil {
			t.Error(err)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{4 * time.Hour: "4h", 90 * time.Minute: "90min", 30 * time.Second: "30s", time.Millisecond: "1s", 0: "0h"} {
		if got := span(d); got != want {
			t.Errorf("%v: %q", d, got)
		}
	}
}
