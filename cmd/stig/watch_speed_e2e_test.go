//go:build e2e && linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stig/internal/service/traces"
	"stig/internal/testkit/sample"
)

var watchRounds = flag.Int("watch-rounds", 0, "how many writes TestWatchSpeed times; none are timed without")

// TestWatchSpeed measures how long a watcher takes to report a write at 10,000 issues, what it
// costs while idle, and its memory after many events: go test ./cmd/stig -run TestWatchSpeed -v
// -watch-rounds 200 -stig PATH. It does not check times. Without -watch-rounds it does three
// rounds on a small store.
func TestWatchSpeed(t *testing.T) {
	t.Parallel()
	issues, rounds, idle := 10_000, *watchRounds, 60*time.Second
	if rounds == 0 {
		issues, rounds, idle = 300, 3, 100*time.Millisecond
	}
	dir, path := sample.Store(t, issues)
	ids := openIssues(t, path)
	w := beginWatch(t, dir)
	began := w.memory(t)
	var own, foreign []time.Duration
	for n := range rounds {
		id := ids[n%len(ids)]
		said := fmt.Sprintf("stands %d.", n)
		inHere(t, dir, "trace", "add", id, "log", "-m", said, "--actor", fmt.Sprint("worker-", n))
		wrote := time.Now()
		if info, err := os.Stat(path); err == nil {
			wrote = info.ModTime()
		}
		own = append(own, w.until(t, said).Sub(wrote))
		said = fmt.Sprintf("seen %d.", n)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(text, []byte(`{"id":"`+id+`",`))
		end := at + bytes.IndexByte(text[at:], '\n')
		line := withComment(string(text[at:end]), 5_000_000+n, said)
		text = slices.Concat(text[:at], []byte(line), text[end:])
		if err := os.WriteFile(path+".other", text, 0o644); err != nil {
			t.Fatal(err)
		}
		wrote = time.Now()
		if err := os.Rename(path+".other", path); err != nil {
			t.Fatal(err)
		}
		foreign = append(foreign, w.until(t, said).Sub(wrote))
	}
	t.Logf("of stig: %s", spread(own))
	t.Logf("of others: %s", spread(foreign))
	time.Sleep(idle / 20)
	cpu := w.cpu(t)
	time.Sleep(idle)
	t.Logf("idle: %s of processor time in %s", w.cpu(t)-cpu, idle)
	settled := w.memory(t)
	t.Logf("memory: %.1f MB at first, %.1f MB after %d events", began, settled, w.events)
	events := w.events
	for n := 0; w.events < events+10*rounds*5; n++ { // in edits of fifty traces
		var lines strings.Builder
		last := ""
		for k := range 50 {
			last = fmt.Sprintf("many %d-%d.", n, k)
			fmt.Fprintf(&lines, `{"issue":%q,"type":"log","content":{"message":%q}}`+"\n", ids[(50*n+k)%len(ids)], last)
		}
		from := filepath.Join(dir, "many")
		if err := os.WriteFile(from, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		inHere(t, dir, "trace", "add", "--from", from, "--actor", fmt.Sprint("crew-", n))
		w.until(t, last)
	}
	time.Sleep(2 * time.Second) // an idle watcher frees the memory used for reading
	t.Logf("memory: %.1f MB after %d events more", w.memory(t), w.events-events)
}

// openIssues lists the ids of issues that accept traces.
func openIssues(t *testing.T, path string) (ids []string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if id, _, ok := strings.Cut(strings.TrimPrefix(line, `{"id":"`), `"`); ok && strings.Contains(line, `"status":"open"`) {
			ids = append(ids, id)
		}
	}
	return ids
}

// inHere runs stig in this process by the machine's clock.
func inHere(t *testing.T, dir string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	a := newApp()
	a.Out, a.Err = &out, &out
	if code := a.Execute(t.Context(), command(a), append([]string{"-C", dir}, args...)); code != 0 {
		t.Fatalf("stig %v: exit %d: %s", args, code, out.Bytes())
	}
}

func spread(list []time.Duration) string {
	slices.Sort(list)
	ms := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds()*1000, 'f', 0, 64) + " ms" }
	return fmt.Sprintf("median %s, p99 %s, most %s of %d", ms(list[len(list)/2]), ms(list[len(list)*99/100]), ms(list[len(list)-1]), len(list))
}

// oneWatcher is a process that watches, with the times of its output.
type oneWatcher struct {
	c      *exec.Cmd
	said   chan traces.Event
	at     chan time.Time
	events int
}

func beginWatch(t *testing.T, dir string) *oneWatcher {
	w := &oneWatcher{c: exec.Command(*stressProgram, "watch", "--json", "--event", "trace", "--as", "post"), said: make(chan traces.Event, 100), at: make(chan time.Time, 100)}
	w.c.Dir, w.c.Env = dir, append(os.Environ(), "HOME="+dir, "STIG_NOW=")
	out, err := w.c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	notes, err := w.c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.c.Process.Kill(); _ = w.c.Wait() }) // it may have ended
	began := bufio.NewScanner(notes)
	if !began.Scan() {
		t.Fatal("the watcher does not begin")
	}
	go func() {
		defer close(w.said)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e traces.Event
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				w.said <- e
				w.at <- time.Now()
			}
		}
	}()
	time.Sleep(300 * time.Millisecond) // printed before it listens
	return w
}

// until waits for the trace with this text, and returns when it came.
func (w *oneWatcher) until(t *testing.T, said string) time.Time {
	t.Helper()
	for limit := time.After(30 * time.Second); ; {
		select {
		case e, ok := <-w.said:
			if !ok {
				t.Fatal("the watcher ended")
			}
			w.events++
			if at := <-w.at; e.Summary == said {
				return at
			}
		case <-limit:
			t.Fatalf("not told of %q", said)
		}
	}
}

// memory returns the memory of the process, in MB.
func (w *oneWatcher) memory(t *testing.T) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return float64(kb) / 1024
}

// cpu returns the processor time of the process so far.
func (w *oneWatcher) cpu(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		t.Fatal(err)
	}
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
