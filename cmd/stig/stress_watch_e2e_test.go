//go:build e2e

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/service/traces"
)

// The bounds of TestStressWatch, reached at 50 seconds.
const (
	watchers      = 10
	watchChanges  = 2000
	watchInterval = 25 // changes between two points at which all watchers catch up
)

// TestStressWatch runs watchers while stig, a program that replaces the file, an editor that
// writes into it and git checkout change a store, and stops half of them in the middle for a
// while. Each watcher reports each event once.
func TestStressWatch(t *testing.T) {
	t.Parallel()
	changes := min(watchChanges, max(50, int(stressTime.Seconds()*40)))
	r := newWatchRun(t, min(watchers, max(2, changes/100)), changes)
	for i := range r.programs {
		r.start(i)
	}
	r.catchUp()
	for n := range changes {
		switch {
		case n == changes/3:
			for i := range r.programs {
				if i%2 == 0 {
					r.stop(i)
				}
			}
		case n == changes/3+watchInterval:
			for i := range r.programs {
				if i%2 == 0 {
					r.start(i)
				}
			}
			r.catchUp()
		case n%watchInterval == 0:
			r.catchUp()
		}
		r.change(n)
	}
	r.checkout(watchInterval)
	r.checkout(2 * watchInterval)
	r.checkout(60) // a switch
	r.catchUp()
	for i := range r.programs {
		r.stop(i)
		r.judge(i)
	}
	t.Logf("%d changes, %d watchers, %d restarted: %d kinds of events, %d events each", changes, len(r.programs), (len(r.programs)+1)/2, len(r.kinds()), r.total())
}

// watchRun is one run: the expected events, and the watchers.
type watchRun struct {
	t          *testing.T
	dir, store string
	programs   []*exec.Cmd
	away       []bool
	said       []string // the file of each watcher's output

	mu       sync.Mutex
	want     map[string]int // events, named as by watched
	syncs    int
	issues   int // p-0 …
	fresh    int // the next issue that is unchanged so far
	claimed  map[string]bool
	raised   map[string]bool
	replaced bool
}

func newWatchRun(t *testing.T, programs, changes int) *watchRun {
	r := &watchRun{t: t, dir: t.TempDir(), want: map[string]int{}, issues: 100 + 2*changes, claimed: map[string]bool{}, raised: map[string]bool{}}
	r.store = filepath.Join(r.dir, ".beads", "issues.jsonl")
	r.programs, r.away, r.said = make([]*exec.Cmd, programs), make([]bool, programs), make([]string, programs)
	var text strings.Builder
	for n := range r.issues {
		fmt.Fprintf(&text, `{"id":"p-%d","title":"Pile %d","status":"open","priority":2}`+"\n", n, n)
	}
	r.must(os.Mkdir(filepath.Dir(r.store), 0o755))
	r.must(os.WriteFile(r.store, []byte(text.String()), 0o644))
	for i := range r.said {
		r.said[i] = filepath.Join(r.dir, fmt.Sprintf("said-%d", i))
	}
	r.must(os.WriteFile(filepath.Join(r.dir, ".gitignore"), []byte("said-*\nhome\n*.lock\n.stig\n"), 0o644))
	r.git("init", "-q")
	r.fresh = 70 // those before it are shared, and those of checkouts
	return r
}

func (r *watchRun) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *watchRun) git(args ...string) string { return r.gitWith(nil, nil, args...) }

func (r *watchRun) gitWith(in []byte, env []string, args ...string) string {
	r.t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=ann", "-c", "user.email=ann@harbor.example", "-c", "advice.detachedHead=false"}, args...)...)
	c.Dir, c.Stdin, c.Env = r.dir, bytes.NewReader(in), append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *watchRun) start(i int) {
	c := exec.Command(*stressProgram, "watch", "--json", "--as", fmt.Sprint("watcher-", i))
	out, err := os.OpenFile(r.said[i], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	r.must(err)
	defer out.Close()
	c.Dir, c.Stdout, c.Stderr = r.dir, out, out
	c.Env = []string{"HOME=" + r.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GOCOVERDIR=" + r.dir}
	r.must(c.Start())
	r.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() }) // it may have ended
	r.programs[i], r.away[i] = c, false
	if info, err := os.Stat(r.said[i]); err == nil && info.Size() > 0 {
		return
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if text, _ := os.ReadFile(r.said[i]); bytes.Contains(text, []byte("from now on")) {
			return
		}
		if time.Now().After(deadline) {
			r.t.Fatal("a watcher does not begin")
		}
	}
}

func (r *watchRun) stop(i int) {
	r.must(r.programs[i].Process.Signal(os.Interrupt))
	_ = r.programs[i].Wait() // it ends like an interrupted process
	r.away[i] = true
}

// catchUp leaves a trace, and waits until all watchers have reported it.
func (r *watchRun) catchUp() {
	r.syncs++
	sentinel := fmt.Sprintf("all see this %d.", r.syncs)
	r.stig("trace", "add", "p-0", "log", "-m", sentinel)
	r.expect(traces.EventLeft, "p-0", sentinel)
	for i := range r.programs {
		for deadline := time.Now().Add(30 * time.Second); !r.away[i]; time.Sleep(5 * time.Millisecond) {
			if text, _ := os.ReadFile(r.said[i]); bytes.Contains(text, []byte(sentinel)) {
				break
			}
			if time.Now().After(deadline) {
				text, _ := os.ReadFile(r.said[i])
				r.t.Fatalf("watcher %d has not told of %q for 30 s; it said last %q", i, sentinel, text[max(0, len(text)-800):])
			}
		}
	}
}

// stig runs a command in this process with a new actor each time, because an actor can leave at
// most 60 traces a minute.
func (r *watchRun) stig(args ...string) string {
	r.t.Helper()
	var out bytes.Buffer
	a := newApp()
	a.Out, a.Err = &out, &out
	a.Getenv = func(name string) string { return map[string]string{"HOME": r.dir}[name] }
	if !slices.Contains(args, "--actor") {
		args = append(args, "--actor", fmt.Sprint("worker-", r.syncs))
	}
	if code := a.Execute(r.t.Context(), command(a), append([]string{"-C", r.dir}, args...)); code != 0 {
		r.t.Errorf("stig %v: exit %d: %s", args, code, out.Bytes())
	}
	return out.String()
}

func (r *watchRun) expect(event, id, what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.want[strings.TrimSpace(event+" "+id+" "+what)]++
}

// one returns an issue that is unchanged so far.
func (r *watchRun) one() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fresh++
	return fmt.Sprint("p-", r.fresh)
}

// change makes one change that leaves an event distinct from all others.
func (r *watchRun) change(n int) {
	what := fmt.Sprintf("change %d.", n)
	shared := fmt.Sprint("p-", rand.IntN(50))
	switch n % 10 {
	case 0, 1: // three at once
		var busy sync.WaitGroup
		for k := range 3 {
			busy.Go(func() {
				said := fmt.Sprint(what, k)
				r.stig("trace", "add", shared, "log", "-m", said, "--actor", fmt.Sprintf("crew-%d-%d", n, k))
				r.expect(traces.EventLeft, shared, said)
			})
		}
		busy.Wait()
	case 2:
		r.work(n)
	case 3:
		r.stig("edit", shared, "--title", what)
		r.expect(traces.EventEdited, shared, "title")
	case 4:
		out := r.stig("create", "Made by "+what, "-q")
		r.expect(traces.EventCreated, strings.Fields(out)[0], "")
	case 5:
		on := r.one()
		r.stig("dep", "add", r.one(), "--on", on, "--type", "related")
		r.expect(traces.EventDependency, fmt.Sprint("p-", r.fresh), "added")
	case 6, 7: // by another program, or by hand: a comment
		r.rewrite(shared, func(line string) string { return withComment(line, n, what) })
		r.expect(traces.EventLeft, shared, what)
	case 8:
		id := r.one()
		if n%20 == 8 {
			r.rewrite(id, func(string) string { return "" })
			r.expect(traces.EventVanished, id, "issue")
			return
		}
		r.rewrite(id, func(line string) string { return strings.Replace(line, `"open"`, `"closed"`, 1) })
		r.expect(traces.EventClosed, id, "")
	case 9:
		id := fmt.Sprint("q-", n)
		r.rewrite("p-0", func(line string) string {
			return line + "\n" + fmt.Sprintf(`{"id":%q,"title":"by hand","status":"open"}`, id)
		})
		r.expect(traces.EventCreated, id, "")
	}
}

// work takes an issue one step further with stig.
func (r *watchRun) work(n int) {
	id := fmt.Sprint("p-", n%30)
	switch step := n / 30 % 5; {
	case step == 0 && !r.claimed[id]:
		r.stig("claim", id, "--actor", "bo")
		r.claimed[id] = true
		r.expect(traces.EventClaimed, id, "")
	case step == 1 && r.claimed[id]:
		r.stig("release", id, "--actor", "bo")
		delete(r.claimed, id)
		r.expect(traces.EventReleased, id, "")
	case step == 2:
		r.raised[id] = !r.raised[id]
		value := map[bool]string{true: "0.1", false: "0.2"}[r.raised[id]]
		r.stig("signals", "set", id, "surprise="+value)
		r.expect(traces.EventSignal, id, value)
	case step == 3:
		id = r.one()
		r.stig("escalate", id, "-m", "Which crane?", "--option", "red", "--option", "blue")
		r.expect(traces.EventEscalated, id, "")
		r.stig("resolve", id, "--option", "1", "--actor", "tove")
		r.expect(traces.EventAnswered, id, "")
	default:
		id = r.one()
		r.stig("close", id, "--reason", "all of the piles stand now", "--waive", "nobody can test it here")
		r.expect(traces.EventClosed, id, "")
		r.stig("reopen", id, "--reason", "one of them fell")
		r.expect(traces.EventReopened, id, "")
		r.expect(traces.EventEdited, id, "section reopen-context")
	}
}

func withComment(line string, number int, text string) string {
	comment := fmt.Sprintf(`{"id":%d,"author":"tove","text":%q,"created_at":"2026-11-20T09:00:00Z"}`, 1_000_000+number, text)
	if strings.Contains(line, `"comments":[`) {
		return strings.Replace(line, `"comments":[`, `"comments":[`+comment+",", 1)
	}
	return strings.TrimSuffix(line, "}") + `,"comments":[` + comment + "]}"
}

// edited returns the store with the line of an issue changed; "" removes it.
func (r *watchRun) edited(text, id string, change func(line string) string) string {
	at := strings.Index(text, `{"id":"`+id+`",`)
	if at < 0 {
		r.t.Fatalf("%s is not in the store\n%s", id, text)
	}
	end := at + strings.IndexByte(text[at:], '\n')
	line := change(text[at:end])
	if line == "" {
		end++
	}
	return text[:at] + line + text[end:]
}

// rewrite changes the store as other programs do: it replaces the file, or writes into it.
func (r *watchRun) rewrite(id string, change func(line string) string) {
	before, err := os.ReadFile(r.store)
	r.must(err)
	text := []byte(r.edited(string(before), id, change))
	if r.replaced = !r.replaced; !r.replaced {
		r.must(os.WriteFile(r.store, text, 0o644))
		return
	}
	r.must(os.WriteFile(r.store+".other", text, 0o644))
	r.must(os.Rename(r.store+".other", r.store))
}

// checkout checks out a version of the store in which this many issues have one more comment.
func (r *watchRun) checkout(issues int) {
	r.catchUp()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "as it is")
	now, err := os.ReadFile(r.store)
	r.must(err)
	text := string(now)
	for n := range issues {
		id, what := fmt.Sprint("p-", n), fmt.Sprintf("of checkout %d.", issues)
		text = r.edited(text, id, func(line string) string { return withComment(line, 1000*issues+n, what) })
		if issues <= 50 {
			r.expect(traces.EventLeft, id, what)
		}
	}
	if issues > 50 {
		r.expect(traces.EventSwitched, "", fmt.Sprint(issues))
	}
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(r.dir, "home-index")}
	blob := r.gitWith([]byte(text), nil, "hash-object", "-w", "--stdin")
	r.gitWith(nil, index, "read-tree", "HEAD")
	r.gitWith(nil, index, "update-index", "--cacheinfo", "100644,"+blob+",.beads/issues.jsonl")
	commit := r.git("commit-tree", r.gitWith(nil, index, "write-tree"), "-p", "HEAD", "-m", "another")
	r.git("checkout", "-q", "--detach", commit)
	r.catchUp()
}

// judge compares a watcher's reports with what happened. It ignores what depends on when the
// watcher polled: issues that became ready or blocked, and the signal rows of a question.
func (r *watchRun) judge(i int) {
	text, err := os.ReadFile(r.said[i])
	r.must(err)
	got := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "watching as ") || strings.HasPrefix(line, "stig: ") && strings.Contains(line, "interrupt") {
			continue
		}
		var e traces.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			r.t.Errorf("watcher %d said %q: %v", i, line, err)
			continue
		}
		if name := watched(e); name != "" {
			got[name]++
		}
	}
	wrong := 0
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if got[name] > r.want[name] && wrong < 10 {
			wrong++
			r.t.Errorf("watcher %d told %d times of %q, which happened %d times", i, got[name], name, r.want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.want)) {
		if got[name] < r.want[name] && wrong < 20 {
			wrong++
			r.t.Errorf("watcher %d told %d times of %q, which happened %d times", i, got[name], name, r.want[name])
		}
	}
}

// watched returns the name of an event as in expect; "" if it is not counted.
func watched(e traces.Event) string {
	what := ""
	switch e.Event {
	case traces.EventReady, traces.EventBlocked:
		return ""
	case traces.EventSignal:
		if e.Signal != "surprise" {
			return ""
		}
		what = e.Now
	case traces.EventLeft:
		what = e.Summary
	case traces.EventDependency:
		what = e.Now
	case traces.EventVanished:
		what = e.Gone
	case traces.EventEdited:
		what = strings.Join(e.Fields, "+")
	case traces.EventSwitched:
		what = fmt.Sprint(e.Issues)
	}
	return strings.TrimSpace(e.Event + " " + e.ID + " " + what)
}

func (r *watchRun) kinds() map[string]bool {
	kinds := map[string]bool{}
	for name := range r.want {
		kinds[strings.Fields(name)[0]] = true
	}
	return kinds
}

func (r *watchRun) total() (n int) {
	for _, count := range r.want {
		n += count
	}
	return n
}
