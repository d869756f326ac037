package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stig/internal/assistant"
)

// TestHooksRun runs every command that setup writes as its host would, in each installed shell.
// Without a store, and without stig, it prints nothing and exits with 0; otherwise it passes on
// stig's exit code.
func TestHooksRun(t *testing.T) {
	program := program(t)
	failing := t.TempDir()
	if err := os.WriteFile(filepath.Join(failing, "stig"), []byte("#!/bin/sh\nexit 7\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"sh", "bash", "dash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			for i, command := range hookCommands(t) {
				if shell != "sh" && i%8 != 0 { // tests how a shell runs such a line, not every line
					continue
				}
				silence := ""
				if strings.HasSuffix(command, string(assistant.Cursor)) {
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
		})
	}
}

// hookCommands returns the commands in the settings of all hosts.
func hookCommands(t *testing.T) (commands []string) {
	for _, settings := range assistant.AllSettings() {
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
	slices.Sort(commands)
	return slices.Compact(commands)
}
