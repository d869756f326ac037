package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/app"
	"stig/beads"
)

// testStore is the variable that names what keeps the issues when the scripts run:
// "mariadb" or "dolt" for a server, else the JSONL file.
const testStore = "STIG_TEST_STORE"

// clockFile is the variable that names a file with how far the clock of stig is ahead.
const clockFile = "STIG_TEST_CLOCK"

// stigOnTestStore is main on the store that the variable names.
func stigOnTestStore() {
	a := newApp()
	onTestStore(a.App)
	if path := os.Getenv(clockFile); path != "" {
		a.Now = nightClock(path)
	}
	run(a)
}

// nightClock is the machine's clock, put forward by what stands in the file.
func nightClock(path string) func() time.Time {
	return func() time.Time {
		text, err := os.ReadFile(path)
		ahead, wrong := time.ParseDuration(string(text))
		if err != nil || wrong != nil {
			panic(fmt.Sprint(err, wrong))
		}
		return time.Now().Round(0).Add(ahead)
	}
}

// onTestStore has a run open the stores that the variable names; files, if it names none.
func onTestStore(a *app.App) {
	switch a.Getenv(testStore) {
	case "":
	default:
		a.OpenStore = func(p beads.Place) beads.Store { return onServer(a, p, a.Getenv(testServer)) }
	}
}

// fewest is how many scripts must run on any store.
const fewest = 45

// scriptsForAnyStore are the scripts that are not about the JSONL file: none of
// their commands names one, they work with no bd, and aboutFile does not list them.
func scriptsForAnyStore(t *testing.T, dir string) (files []string) {
	all, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		if _, not := notOnServers[name]; not {
			continue
		}
		if !isAboutFile(name, string(text)) {
			files = append(files, path)
		}
	}
	if len(files) < fewest {
		t.Fatalf("%d scripts run on any store, want %d at least", len(files), fewest)
	}
	t.Logf("%d of %d scripts", len(files), len(all))
	return files
}

// aboutFile are the scripts that are about the file although no command names it:
// git or a script of its own puts another file there, or lines are reported by place.
var aboutFile = []string{"claim_done_mark", "claim_worktrees", "close_changes", "digest_merged", "hook_lost", "inbox_ack", "merge_answers", "merge_reopened", "recover_table", "setup_plugin", "story_escalation", "swarm_nodb", "trace_follow", "vet_store", "watch_deferred", "work_hand"}

func isAboutFile(name, script string) bool {
	commands, _, _ := strings.Cut(script, "\n-- ")
	named := regexp.MustCompile(`(?m)^[^#\n]*(\.jsonl|use-bd)`).MatchString(commands)
	return named || slices.Contains(aboutFile, name)
}
