package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"stig/app"
	"stig/host"
	"stig/setup"
)

// TestHooksRun runs every command that setup writes as its host would, in each
// shell that is here: with stig on PATH, where there is no store, it asks
// nothing and ends with 0, and so it does without stig; an exit code of stig
// comes through.
func TestHooksRun(t *testing.T) {
	program := build(t)
	failing := t.TempDir()
	if err := os.WriteFile(filepath.Join(failing, "stig"), []byte("#!/bin/sh\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"sh", "bash", "dash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		for _, command := range hookCommands(t) {
			silence := ""
			if strings.HasSuffix(command, string(host.Cursor)) {
				silence = "{}\n"
			}
			for _, test := range []struct {
				path string
				exit int
				out  string
			}{{filepath.Dir(program), 0, silence}, {t.TempDir(), 0, silence}, {failing, 7, ""}} {
				cmd := exec.Command(path, "-c", command)
				cmd.Dir = t.TempDir()
				cmd.Env = []string{"PATH=" + test.path, "HOME=" + cmd.Dir}
				cmd.Stdin = strings.NewReader(`{"cwd":"` + cmd.Dir + `"}`)
				out, err := cmd.CombinedOutput()
				var ended *exec.ExitError
				if err != nil && !errors.As(err, &ended) {
					t.Fatal(err)
				}
				if got := cmd.ProcessState.ExitCode(); got != test.exit || string(out) != test.out {
					t.Errorf("%s -c %q with PATH=%s: exit %d with %q, want %d with %q", shell, command, test.path, got, out, test.exit, test.out)
				}
			}
		}
	}
}

// TestSettingsOfAnother: what another program wrote to settings since they were
// read stays as it is, whether they are to be made, changed or removed.
func TestSettingsOfAnother(t *testing.T) {
	const theirs = `{"model":"big"}`
	for name, before := range map[string]string{"made": "", "changed": "{}", "removed": host.AllSettings()[0].Whole()} {
		dir := t.TempDir()
		file := app.HostFile{Path: filepath.Join(dir, "settings.json"), Root: dir}
		if before != "" {
			if err := os.WriteFile(file.Path, []byte(before), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		settings := setup.NewHookSettings(host.AllSettings()[0], file)
		plan := settings.Install
		if name == "removed" {
			plan = settings.Remove
		}
		steps, err := plan(t.Context())
		if err != nil || len(steps) != 1 {
			t.Fatalf("%s: %d steps: %v", name, len(steps), err)
		}
		if out, err := exec.Command("sh", "-c", "printf %s '"+theirs+"' >"+file.Path).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := steps[0].Do(); err == nil || app.Classify(err).Code != app.ExitConflict {
			t.Errorf("%s: %v", name, err)
		}
		entries, err := os.ReadDir(dir)
		if text, _ := file.Read(); string(text) != theirs || len(entries) != 1 || err != nil {
			t.Errorf("%s: %d files, and in it %s: %v", name, len(entries), text, err)
		}
	}
}

// hookCommands are the commands in the settings of all hosts.
func hookCommands(t *testing.T) (commands []string) {
	for _, settings := range host.AllSettings() {
		for _, found := range regexp.MustCompile(`"command": (".*")`).FindAllStringSubmatch(settings.Whole(), -1) {
			command, err := strconv.Unquote(found[1])
			if err != nil {
				t.Fatal(err)
			}
			commands = append(commands, command)
		}
	}
	if len(commands) < 16 {
		t.Fatalf("found %q", commands)
	}
	return commands
}
