//go:build e2e && unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestManyComments: with ten times the comments on one issue, commands that read them take
// about ten times as long. The limit is twenty-five times; a quadratic algorithm takes a
// hundred.
func TestManyComments(t *testing.T) {
	t.Parallel()
	number := 250
	few, many := manyComments(t, number), manyComments(t, 10*number)
	for _, args := range [][]string{
		{"trace", "list", "pier-1"}, {"trace", "list", "--json"}, {"show", "pier-1"}, {"orient", "pier-1", "--depth", "deep"}, {"digest", "pier-1"},
		{"check"}, {"diff", "--files", ".beads/issues.jsonl", "other.jsonl"}, {"merge", "base.jsonl", ".beads/issues.jsonl", "other.jsonl", "-o", "-"},
		{"trace", "add", "pier-1", "log", "-m", "one more", "--dry-run", "--actor", "ann"},
	} {
		cost := func(dir string) time.Duration {
			before := processorTime(t)
			inProcess(t, dir, args...)
			return processorTime(t) - before
		}
		cost(few) // one-time work
		one, ten := cost(few), cost(many)
		if ten > 25*max(one, 10*time.Millisecond) {
			one, ten = max(one, cost(few)), min(ten, cost(many)) // something else may have run in between
		}
		t.Logf("stig %s: %s, %s", strings.Join(args, " "), one.Round(time.Millisecond), ten.Round(time.Millisecond))
		if ten > 25*max(one, 10*time.Millisecond) {
			t.Errorf("stig %s takes %s with %d comments and %s with ten times as many", strings.Join(args, " "), one, number, ten)
		}
	}
}

// manyComments creates a store with this many comments on one issue, one in ten a trace, and
// beside it its base and another version, for merge and diff.
func manyComments(t *testing.T, count int) (dir string) {
	dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".beads"), 0o755); err != nil {
		t.Fatal(err)
	}
	store := func(number int, said string) string {
		var b strings.Builder
		b.WriteString(`{"id":"pier-1","title":"Drive the piles","status":"open","comments":[`)
		for n := range number {
			if n > 0 {
				b.WriteByte(',')
			}
			words := said
			if n < count/2 {
				words = "all saw"
			}
			text := fmt.Sprintf("%s pile %d", words, n)
			if n%10 == 0 {
				text = fmt.Sprintf(`log: %s pile %d\n\nlevel: info\nstig: log/1`, words, n)
			}
			fmt.Fprintf(&b, `{"id":%d,"issue_id":"pier-1","author":"ann","text":"%s","created_at":"2026-11-20T09:00:00Z"}`, n+1, text)
		}
		return b.String() + "]}\n"
	}
	for name, text := range map[string]string{
		"base.jsonl": store(count/2, ""), ".beads/issues.jsonl": store(count, "ann saw"), "other.jsonl": store(count, "bo saw"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// processorTime returns the processor time of this process so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
