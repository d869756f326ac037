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
		Env: []string{`PATH=/opt/%s:/usr/bin`}, Dream: 90 * time.Minute}
	return map[string]Unit{"user": tide, "odd": odd}
}

// The texts are compared with golden files; if systemd is installed it checks them too, see
// TestSystemdAnalyze.
func TestTexts(t *testing.T) {
	for name, w := range unitWorkers() {
		var b strings.Builder
		for _, f := range slices.Concat(w.Systemd(), w.Launchd()) {
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
		for _, f := range w.Launchd() {
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

// Without dreams the file names are the same but the texts are empty, so that old files are
// removed.
func TestNoDreams(t *testing.T) {
	w := unitWorkers()["user"]
	dreams := slices.Concat(w.Systemd(), w.Launchd())
	w.Dream = 0
	for i, f := range slices.Concat(w.Systemd(), w.Launchd()) {
		if dream := strings.HasPrefix(f.Name, "stig-dream-"); f.Name != dreams[i].Name || dream != (f.Text == "") {
			t.Errorf("%s: %q", f.Name, f.Text)
		}
	}
}

// TestSystemdAnalyze runs systemd-analyze on the units if it is installed. The program must
// exist.
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
		argv := []string{"verify", "--user"}
		for _, f := range w.Systemd() {
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
	seen := map[string]bool{harbor.id(): true}
	for _, w := range others {
		for _, f := range w.Systemd() {
			if len(f.Name) > 255 {
				t.Errorf("%q: %q", w.Actor, f.Name)
			}
		}
		if seen[w.id()] {
			t.Errorf("%q: %q is of another too", w.Actor, w.id())
		}
		seen[w.id()] = true
	}
	for actor, want := range map[string]string{"tide": "tide-a-", "ann/claude-3f2a": "ann_claude-3f2a-a-", ".x y": ".x_y-a-", "x@%": "x__-a-"} {
		if got := (Unit{Actor: actor, Repo: "/a"}).id(); !strings.HasPrefix(got, want) || len(got) != len(want)+8 {
			t.Errorf("%q: %q", actor, got)
		}
	}
}

func TestRefused(t *testing.T) {
	good := unitWorkers()["user"]
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Unit){
		"relative": func(w *Unit) { w.Repo = "harbor" }, "no program": func(w *Unit) { w.Program = "" },
		"line": func(w *Unit) { w.Repo += "\nExecStart=/bin/sh" }, "line of a variable": func(w *Unit) { w.Env = []string{"A=b\nc"} },
		"bytes": func(w *Unit) { w.Actor = "\xff" },
		// systemd warns that these names have special characters
		"quote": func(w *Unit) { w.Program = `/opt/a"b/stig` }, "apostrophe": func(w *Unit) { w.Program = `/opt/a'b/stig` }, "backslash": func(w *Unit) { w.Program = `/opt/a\b/stig` },
	} {
		w := good
		if change(&w); w.Check() == nil {
			t.Errorf("%s: a unit", name)
		}
	}
}
