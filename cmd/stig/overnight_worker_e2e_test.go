//go:build e2e && unix

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"stig/internal/testkit/overnight"
)

// startsFile is the workers' own record. Only the test writes to the night's directory beside
// the clone, so kills and a full disk do not affect it.
const startsFile = "starts"

func init() { programs["night-worker"] = nightWorker }

// nightWorker is the program that the loops of TestOvernight start for an issue: night-worker
// DIR SEED TEMPER. It behaves as its temper says, records its start and end, and takes a lock
// that no other worker on the issue may have.
func nightWorker() {
	briefing, err := io.ReadAll(os.Stdin)
	seed, wrong := strconv.ParseUint(os.Args[2], 10, 64)
	w := nightWork{dir: os.Args[1], seed: seed, issue: os.Getenv("STIG_ISSUE"), actor: os.Getenv("STIG_ACTOR")}
	if err == nil && wrong == nil {
		err = w.run(string(briefing))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "night-worker:", err)
		os.Exit(1)
	}
	os.Exit(w.exit)
}

type nightWork struct {
	dir          string // the night's directory
	seed         uint64
	issue, actor string
	n            int // earlier runs for the issue
	exit         int
	held         *os.File // while locked
	note         overnight.Start
}

func (w *nightWork) run(briefing string) error {
	alone, err := w.lock()
	if err != nil {
		return err
	}
	starts, err := readStarts(w.dir)
	if err != nil {
		return err
	}
	for _, s := range starts {
		if s.Issue == w.issue && s.Begins() {
			w.n++
		}
	}
	known, wrong := w.look(briefing)
	w.note = overnight.Start{
		Issue: w.issue, Actor: w.actor, Run: os.Getenv("STIG_RUN"), Pid: os.Getpid(), At: time.Now(),
		Temper: overnight.NewTemper(w.seed, w.issue, w.n), Wrong: wrong, Beside: !alone,
	}
	if always := overnight.Temper(os.Args[3]); always != "" {
		w.note.Temper = always
	}
	if w.note.Temper == overnight.Asks && overnight.Answered(known.Notes) {
		w.note.Temper = overnight.Right
	}
	if err := w.write(); err != nil {
		return err
	}
	time.Sleep(rand.N(time.Second)) // time to be killed in
	err = w.act()
	if err != nil && w.note.Temper != overnight.Replies { // which is woken once, even if the disk is full then
		return err
	}
	w.note.End, w.note.At = true, time.Now()
	return errors.Join(err, w.write())
}

// lock takes the lock of the issue, or of the worker if it has no issue, until this process
// ends. It reports whether nobody else has the lock.
func (w *nightWork) lock() (alone bool, err error) {
	f, err := os.OpenFile(filepath.Join(w.dir, "lock-"+cmp.Or(w.issue, w.actor)), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return false, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	w.held = f // closing it would release the lock
	return err == nil, err
}

func readStarts(dir string) ([]overnight.Start, error) {
	text, err := os.ReadFile(filepath.Join(dir, startsFile))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return overnight.ParseStarts(string(text))
}

// write appends the note in a single write, so that notes do not interleave.
func (w *nightWork) write() error {
	line, err := json.Marshal(w.note)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(w.dir, startsFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// look reads the store as a worker can, and returns why the worker should not have been started
// now.
func (w *nightWork) look(briefing string) (known overnight.Issue, wrong string) {
	text, err := nightText(os.Getenv("BEADS_DIR"))
	if err != nil {
		return known, "the store is not where BEADS_DIR says: " + err.Error()
	}
	issues, err := overnight.ParseStore(text)
	if err != nil {
		return known, err.Error()
	}
	if at := slices.IndexFunc(issues, func(i overnight.Issue) bool { return i.ID == w.issue }); at >= 0 {
		known = issues[at]
	}
	inFile, err := os.ReadFile(os.Getenv("STIG_BRIEFING"))
	switch {
	case w.issue == "" && !strings.Contains(briefing, "Waiting for you"):
		return known, "nothing waits for it"
	case w.issue == "":
		return known, ""
	case err != nil || string(inFile) != briefing:
		return known, fmt.Sprintf("STIG_BRIEFING is not what came on standard input: %v", err)
	case !strings.Contains(briefing, w.issue):
		return known, "not in its briefing"
	case os.Getenv("STIG_TRUST") != "":
		return known, "it was given STIG_TRUST"
	case os.Getenv("STIG_RUN") == "" || os.Getenv("STIG_ATTEMPT") == "":
		return known, "it was not given STIG_RUN and STIG_ATTEMPT"
	}
	return known, overnight.NotReady(issues, w.issue, w.actor)
}

// act does what the temper of the run says, in the work tree in which it was started.
func (w *nightWork) act() error {
	number := func(what string) int { return overnight.Number(w.seed, w.issue, w.n, what) }
	fmt.Printf("the %s worker is at %s\nstig: cost=0.01 USD\n", w.note.Temper, w.issue)
	switch w.note.Temper {
	case overnight.Half:
		return errors.Join(w.put("", "stone of nobody\n"), w.sh("stig", "checkpoint", w.issue, "--progress", "implementing", "--done", "half of it", "--remains", "the other half"))
	case overnight.Breaks:
		return errors.Join(w.put("", "stone of "+w.issue+"\n"), w.put("-heap", overnight.Broken))
	case overnight.Asks:
		return w.sh("stig", "escalate", w.issue, "-m", overnight.Question(w.issue))
	case overnight.Hangs:
		return w.hang(number("deaf")%8 == 0)
	case overnight.Silent, overnight.Idle:
		return nil
	case overnight.Crashes:
		return w.crash()
	case overnight.Wrong:
		return w.put("", "stone of nobody\n")
	case overnight.Replies:
		return w.reply()
	case overnight.Pops:
		_ = exec.Command("git", "stash", "pop", "-q").Run() // another one may be popped before it
	case overnight.Signs:
		if err := errors.Join(w.sh("git", "config", "user.name", "Robot"), w.sh("git", "config", "user.email", "robot@harbor.example")); err != nil {
			return err
		}
	case overnight.Requests:
		if err := w.sh("stig", "trace", "add", w.issue, "request", "--to", overnight.Other(w.actor), "-m", overnight.Request(w.issue)); err != nil {
			return err
		}
	case overnight.Limit:
		fmt.Println("You have hit your limit")
		return errors.Join(os.MkdirAll(".agent", 0o755), os.WriteFile(".agent/settings.json", []byte("{}\n"), 0o644), os.WriteFile("notes.txt", []byte(w.issue+"\n"), 0o644))
	case overnight.Fails:
		w.exit = 1 + number("exit")%255
		return nil
	}
	if err := os.Remove("src/" + w.issue + "-heap.txt"); err != nil && !os.IsNotExist(err) {
		return err
	}
	err := w.put("", "stone of "+w.issue+"\n")
	if number("commit")%2 == 0 {
		err = errors.Join(err, w.sh("git", "add", "-A"), w.sh("git", "commit", "-q", "--allow-empty", "-m", "Lay "+w.issue))
	}
	if number("checkpoint")%2 == 0 {
		err = errors.Join(err, w.sh("stig", "checkpoint", w.issue, "--progress", "verifying", "--done", "the stone lies", "--surprise", "0.1"))
	}
	return err
}

// crash leaves half of the work, debris that names its owner, a merge without its commit, and
// no end record.
func (w *nightWork) crash() error {
	run := os.Getenv("STIG_RUN")
	err := errors.Join(w.put("", "stone of nobody\n"), os.WriteFile(overnight.Debris(run), []byte(w.actor+"\n"), 0o644))
	_ = exec.Command("git", "merge", "-q", "--no-commit", "--no-ff", "HEAD~1").Run() // there may be nothing to merge
	if err == nil {
		err = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return err
}

// reply answers everything that waits for the worker.
func (w *nightWork) reply() error {
	out, err := exec.Command("stig", "inbox", "--json").Output()
	if err != nil {
		return fmt.Errorf("stig inbox: %w: %s", err, out)
	}
	var inbox struct {
		Items []struct{ ID, Issue, Type string }
	}
	if err := json.Unmarshal(out, &inbox); err != nil {
		return err
	}
	for _, i := range inbox.Items {
		if i.Type != "request" {
			continue
		}
		if err := w.sh("stig", "trace", "add", i.Issue, "result", "--re", i.ID, "-m", "The grey one."); err != nil {
			return err
		}
	}
	return nil
}

func (w *nightWork) put(suffix, text string) error {
	return os.WriteFile("src/"+w.issue+suffix+".txt", []byte(text), 0o644)
}

func (w *nightWork) sh(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// hang starts a child that keeps running, and waits to be killed; a deaf worker ignores TERM.
func (w *nightWork) hang(deaf bool) error {
	if deaf {
		signal.Ignore(syscall.SIGTERM)
	}
	child := exec.Command("sleep", "1800")
	if err := child.Start(); err != nil {
		return err
	}
	w.note.Child = child.Process.Pid
	if err := w.write(); err != nil {
		return err
	}
	time.Sleep(30 * time.Minute)
	return nil
}
