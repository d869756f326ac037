//go:build e2e && unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"stig/internal/clone"
	"stig/internal/process"
	"stig/internal/testkit/overnight"
	"stig/internal/workspace"
)

// work runs the loops, the killer and the person until nothing more can be done.
func (n *night) work() {
	var busy, helpers sync.WaitGroup
	for _, l := range n.loops {
		busy.Go(l.keep)
	}
	stop := make(chan struct{})
	for _, do := range []func(){n.kill, n.answer} {
		helpers.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(50 * time.Millisecond):
					do()
				}
			}
		})
	}
	n.watch()
	close(stop)
	helpers.Wait()
	n.mu.Lock()
	n.quiet = true
	n.mu.Unlock()
	for _, l := range n.loops {
		l.signal(syscall.SIGTERM)
	}
	late := time.AfterFunc(30*time.Second, func() {
		for _, l := range n.loops {
			l.signal(syscall.SIGKILL)
		}
		n.fault("a loop did not end within 30 s of SIGTERM")
	})
	busy.Wait()
	late.Stop()
}

// watch waits for the end. While all loops rest it moves the clock forward, further each time,
// until nothing happens any more, and triggers the events that happen once.
func (n *night) watch() {
	step, waited := time.Minute, time.Duration(0)
	all := n.project.Epics * n.project.Each
	for seen := -1; waited < 6*time.Hour; {
		time.Sleep(time.Second)
		closed := n.closed(n.clone)
		n.once("filled", closed*4 >= all, n.fill)
		n.once("stepped", closed*2 >= all, func() { n.forward(2 * time.Hour) })
		n.once("merged", closed*5 >= all*3, n.bringTogether)
		starts, err := readStarts(n.dir)
		if err != nil {
			n.fault("%v", err)
			return
		}
		if time.Since(n.began) > nightMost {
			n.fault("the night was over after %s of the machine's time", nightMost)
			return
		}
		resting := n.resting() // on every poll, since it compares with the previous one
		if len(starts) != seen || n.busy(starts) || !resting {
			if len(starts) != seen {
				step, waited = time.Minute, 0
			}
			seen = len(starts)
			continue
		}
		if !n.did["merged"] { // nothing else is left to do
			n.once("merged", true, n.bringTogether)
			n.rests = 0
			continue
		}
		if n.finished(n.withFailed(starts)) {
			return
		}
		n.forward(step)
		waited, step = waited+step, min(2*step, time.Hour)
		for _, l := range n.loops { // wakes loops that wait for a time of the machine's clock
			l.signal([]os.Signal{syscall.SIGTERM, syscall.SIGKILL}[rand.IntN(2)])
		}
	}
}

// once does something at most once, when its time has come.
func (n *night) once(what string, now bool, do func()) {
	if !now || n.did[what] {
		return
	}
	n.did[what] = true
	do()
}

// closed counts the closed tasks in a store.
func (n *night) closed(dir string) (count int) {
	for _, i := range n.issues(dir) {
		if i.Status == "closed" && i.Type != "epic" {
			count++
		}
	}
	return count
}

func (n *night) issues(dir string) []overnight.Issue {
	var issues []overnight.Issue
	var err error
	if n.server != nil {
		text, err := n.server.text()
		if err == nil {
			issues, err = overnight.ParseStore(text)
		}
		if err != nil {
			n.fault("the store: %v", err)
		}
		return issues
	}
	for range 100 { // git removes it for a moment, and writes it in place
		var text []byte
		if text, err = os.ReadFile(filepath.Join(dir, ".beads", "issues.jsonl")); err == nil {
			if issues, err = overnight.ParseStore(string(text)); err == nil {
				return issues
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	n.fault("the store: %v", err)
	return nil
}

// finished reports whether each issue is closed, waits for an answer that will never come, or
// waits for such an issue, and no worker must be woken.
func (n *night) finished(starts []overnight.Start) bool {
	over, closed := map[string]bool{}, map[string]bool{}
	for _, i := range n.issues(n.clone) {
		closed[i.ID] = i.Status == "closed"
		over[i.ID] = i.Type == "epic" || closed[i.ID] || overnight.Asked(i.Notes) && overnight.Ignored(n.project.Seed, i.ID) && n.holdsAll(i.Notes)
		for _, blocker := range i.Blockers() { // which precede it in the store
			over[i.ID] = over[i.ID] || over[blocker] && !closed[blocker]
		}
		if !over[i.ID] || i.Awaited(starts) {
			return false
		}
	}
	return len(over) > 0
}

// withFailed marks the runs that failed without an issue as ended: they are not repeated.
func (n *night) withFailed(starts []overnight.Start) []overnight.Start {
	var m overnight.Night
	if err := n.liveState(&m); err != nil {
		n.fault("%v", err)
	}
	for at, s := range starts {
		is := func(r clone.Run) bool { return r.ID == s.Run && clone.Outcome(r.Outcome).IsFailure() }
		if s.Issue == "" && slices.ContainsFunc(m.Runs, is) {
			starts[at].End = true
		}
	}
	return starts
}

// holdsAll reports whether questions keep all loops from an issue.
func (n *night) holdsAll(notes string) bool {
	return !slices.ContainsFunc(n.loops, func(l *nightLoop) bool { return !overnight.HeldBack(notes, l.name) })
}

// busy reports whether a worker is running, or the loops changed something a moment ago.
func (n *night) busy(starts []overnight.Start) bool {
	for _, s := range starts {
		if s.Begins() && isNightWorker(s.Pid, n.dir) {
			return true
		}
	}
	if n.server != nil && n.server.moved() {
		return true
	}
	for _, path := range []string{filepath.Join(n.clone, ".beads", "issues.jsonl"), filepath.Join(n.clone, ".git", "refs", "heads", "stig")} {
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) < 2*time.Second {
			return true
		}
	}
	return false
}

// resting reports whether all loops are running and have nothing to do: for three polls they
// used almost no processor time. Without this check a night would end while they start, which
// takes seconds on a busy machine, since each step of the clock ends and restarts them.
func (n *night) resting() bool {
	n.rests++
	for _, l := range n.loops {
		if !l.rests() {
			n.rests = 0
		}
	}
	return n.rests >= 3
}

// rests reports whether the loop is the same process as at the last poll and used almost no
// processor time since. It returns true if the system does not show this.
func (l *nightLoop) rests() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == nil {
		return false
	}
	was, wasPid := l.used, l.usedBy
	l.usedBy = l.running.Process.Pid
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", l.usedBy))
	if _, wrong := os.Stat("/proc/self/stat"); wrong != nil {
		return true
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if err != nil || len(fields) < 15 || fields[0] == "Z" {
		return false // it ended
	}
	l.used = 0
	for _, ticks := range fields[11:15] { // its own, and its children's
		n, _ := strconv.Atoi(ticks)
		l.used += n
	}
	return l.usedBy == wasPid && l.used-was <= 2 // hundredths of a second
}

// isNightWorker reports whether a process is a worker of this night. Its id may have been
// reused by a loop, whose command line ends like a worker's.
func isNightWorker(pid int, dir string) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && strings.HasPrefix(string(line), "night-worker\x00"+dir+"\x00")
}

// forward moves stig's clock forward.
func (n *night) forward(by time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.steps++
	if err := n.setAhead(n.ahead + by); err != nil {
		n.faults = append(n.faults, err.Error())
	}
}

// kill throws the dice for each run that started, and kills its loop, its worker or both within
// two seconds: while it works, while its work is merged and verified, or later.
func (n *night) kill() {
	starts, err := readStarts(n.dir)
	if err != nil {
		return
	}
	for _, s := range starts[min(n.rolled, len(starts)):] {
		n.rolled++
		if !s.Begins() || rand.IntN(100) >= nightKills {
			continue
		}
		what := []string{"loop", "worker", "both"}[rand.IntN(3)]
		time.AfterFunc(rand.N(2*time.Second), func() { n.hit(what, s) })
	}
}

func (n *night) hit(what string, s overnight.Start) {
	hit := false
	if what != "loop" && isNightWorker(s.Pid, n.dir) {
		hit = syscall.Kill(s.Pid, syscall.SIGKILL) == nil
	}
	for _, l := range n.loops {
		if what != "worker" && l.name == s.Actor {
			l.signal(syscall.SIGKILL)
			hit = true
		}
	}
	if hit {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.killed[what]++
	}
}

// answer is the person: it reads the unanswered questions and answers all but a few.
func (n *night) answer() {
	for _, dir := range slices.Compact([]string{n.clone, n.late}) {
		for _, i := range n.issues(dir) {
			if !overnight.Asked(i.Notes) || overnight.Ignored(n.project.Seed, i.ID) {
				continue
			}
			out, code, err := n.says(dir, "stig", "resolve", i.ID, "-m", "The grey stone for "+i.ID+"; try again.")
			switch {
			case err == nil && code == 0:
				n.mu.Lock()
				n.answered++
				n.mu.Unlock()
			case err != nil || code != workspace.ExitConflict && !n.isFull():
				n.fault("stig resolve %s: exit %d, %v: %s", i.ID, code, err, out)
			}
		}
	}
}

// fill fills the disk for some seconds.
func (n *night) fill() {
	n.full.Store(true)
	if n.mounted {
		path := filepath.Join(n.disk, "filler")
		for end := time.Now().Add(4 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
			if err != nil {
				continue
			}
			for err == nil {
				_, err = f.Write(make([]byte, 1<<16))
			}
			_ = f.Close()
		}
		_ = os.Remove(path)
		n.filled++
	}
	n.full.Store(false)
}

func (n *night) isFull() bool { return n.full.Load() }

// bringTogether merges the old copy of the store into the other as its user would: the loops
// are paused, both stores are committed, and git merges them with stig. From then on the last
// loop works on the same store as the others.
func (n *night) bringTogether() {
	if n.server != nil { // there is only one store
		n.merged = true
		return
	}
	last := n.loops[len(n.loops)-1]
	last.mu.Lock()
	last.nightMachine.dir = n.clone
	last.mu.Unlock()
	last.signal(syscall.SIGKILL)
	n.held.Store(true)
	defer n.held.Store(false)
	n.each("pause", "--why", "a merge")
	for end := time.Now().Add(time.Minute); n.inHand() && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond)
	}
	var err error
	for _, dir := range []string{n.late, n.clone} {
		if out, code, e := n.says(dir, "git", "commit", "-qam", "The night so far"); e != nil || code > 1 {
			err = errors.Join(err, fmt.Errorf("git commit: exit %d, %w: %s", code, e, out))
		}
	}
	if err = errors.Join(err, n.mergeLate()); err != nil {
		n.fault("the old copy of the store: %v", err)
	}
	n.merged = err == nil
	n.each("resume")
}

// mergeLate merges the branch of the old copy. An issue that a killed worker had in progress
// there, and another worker has here, is a conflict; the user keeps this side.
func (n *night) mergeLate() error {
	out, code, err := n.says(n.clone, "git", "merge", "-q", "--no-edit", "late")
	if err != nil || code == 0 {
		return err
	}
	text, _, err := n.says(n.clone, "stig", "merge", "--resolve", "--json", "--quiet")
	var open struct {
		Conflicts []struct {
			ID        string
			Questions []struct{ Key string }
		}
	}
	if err = errors.Join(err, json.Unmarshal([]byte(text), &open)); err != nil || len(open.Conflicts) == 0 {
		return fmt.Errorf("git merge: exit %d: %s%s%w", code, out, text, err)
	}
	for _, c := range open.Conflicts {
		if len(c.Questions) != 1 || c.Questions[0].Key != "assignee" {
			return fmt.Errorf("git merge: exit %d: %s", code, out)
		}
		if err := n.must(n.clone, "stig", "merge", "--resolve", c.ID, "assignee=ours"); err != nil {
			return err
		}
	}
	return errors.Join(n.must(n.clone, "git", "add", ".beads"), n.must(n.clone, "git", "commit", "-q", "--no-edit"))
}

// each runs a stig worker command for each loop.
func (n *night) each(args ...string) {
	for _, l := range n.loops {
		if err := n.must(n.clone, append([]string{"stig", "worker", args[0], l.name}, args[1:]...)...); err != nil {
			n.fault("%v", err)
		}
	}
}

// inHand reports whether a running loop is working on an issue.
func (n *night) inHand() bool {
	place, err := clone.At(filepath.Join(n.clone, ".beads", "issues.jsonl"))
	if err != nil {
		return true
	}
	all, _ := place.Presences()
	return slices.ContainsFunc(all, func(p clone.Presence) bool {
		runs, _ := process.Running(p.Process)
		return runs && p.Issue != ""
	})
}

// end stops what the night started and still runs.
func (n *night) end() {
	for _, l := range n.loops {
		l.signal(syscall.SIGKILL)
	}
	starts, _ := readStarts(n.dir)
	for _, s := range starts {
		if isNightWorker(s.Pid, n.dir) {
			_ = syscall.Kill(s.Pid, syscall.SIGKILL)
		}
		if line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", s.Child)); s.Child > 0 && err == nil && strings.HasPrefix(string(line), "sleep\x001800") {
			_ = syscall.Kill(s.Child, syscall.SIGKILL)
		}
	}
}
