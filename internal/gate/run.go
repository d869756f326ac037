package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"stig/internal/git"
	"stig/internal/process"
	"stig/internal/visible"
)

// RanNoTest reports whether the check passed although every test suite in its output ran no
// test: a name without matches usually means a test that was never written.
func (o Outcome) RanNoTest() bool {
	if !o.Passed() || strings.Count(o.Tail, "\n")+1 >= tailLines {
		return false // the first lines of a longer output are missing
	}
	none := false
	for line := range strings.Lines(o.Tail) {
		ran, tells := ranTests(strings.TrimRight(line, " \r\n"))
		if ran {
			return false
		}
		none = none || tells
	}
	return none
}

// ranTests reads from a summary line whether tests ran: of go test, cargo test, unittest,
// mocha, rspec and node.
func ranTests(line string) (ran, tells bool) {
	if strings.HasPrefix(line, "ok  \t") {
		return !strings.HasSuffix(line, "[no tests to run]"), true
	}
	count := testCount().FindStringSubmatch(line)
	if count == nil {
		return false, false
	}
	return strings.Trim(strings.Join(count[1:], ""), "0") != "", true
}

var testCount = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:running (\d+) tests?$|Ran (\d+) tests? in |\s+(\d+) passing\b|(\d+) examples?, |(?:#|ℹ) tests (\d+)$)`)
})

// Job is the input of Run.
type Job struct {
	Issue    string   // its id: names logs and the verdict, and is STIG_ISSUE for the checks
	Criteria string   // the text from which Checks come
	Checks   []Check  // the result of Plan for Criteria
	Root     string   // the directory to run in: the root of the repository
	Top      string   // of Root's work tree, if known; see git.Client
	Without  []string // files whose change keeps a verdict fresh, such as the store; see git.Client.Tree

	Env  []string // the environment to inherit from, as NAME=value
	Pass []string // names of credentials to inherit anyway
	// Sandbox is a program and arguments that run each check: the shell and its arguments
	// follow. If empty the shell runs directly.
	Sandbox []string

	Timeout, Deadline time.Duration // for one check and for all; 0 is defaultTimeout and defaultDeadline
	KeepGoing         bool          // go on after a failure
	AllowDestructive  bool          // allow destructive commands in fences marked verify

	bare     bool // the state of the tree does not matter; see RunBefore
	Actor    string
	Out      io.Writer        // receives commands and output as they come; nil discards them
	Terminal bool             // Out is a terminal: it also gets a line with the elapsed time
	Logs     string           // the directory for whole outputs; "" for none
	Time     time.Time        // when it runs, for the verdict and the names of logs
	Now      func() time.Time // the clock that measures durations
}

// Limits for a Job without its own.
const (
	defaultTimeout  = 10 * time.Minute
	defaultDeadline = 30 * time.Minute
)

// Why a check was ended.
var (
	errTimeout  = errors.New("the check timed out")
	errDeadline = errors.New("all checks together timed out")
)

// Run runs the checks of a job in order, up to the first that fails, each as transformed by
// StrictScript under `bash -euo pipefail`. Standard input is empty. The environment is
// inherited without credentials (judged by name), without variables that change the behaviour
// of shell, loader or git, and without STIG_NOW; STIG_ISSUE is the id.
//
// A failing check is a verdict that did not pass, not an error. A check that cannot or must not
// run has failed: a program is missing, it is destructive and that is not allowed, or it does
// not parse. What Plan skipped does not count.
//
// Errors: there is no bash, the directory or disk prevents starting a shell or storing its
// output, the checks of this issue are already running around this run, or ctx has ended; then
// the verdict says how far it came.
func Run(ctx context.Context, j Job) (*Verdict, error) {
	if j.within() {
		return nil, fmt.Errorf("%s: its criteria would verify it again", j.Issue)
	}
	r, err := newRunner(j)
	if err != nil {
		return nil, err
	}
	here := git.Client{Dir: j.Root, Env: j.Env, Top: j.Top, Trusted: true}
	var tree git.Tree
	tracked := ""
	if !j.bare {
		if tree, tracked, err = here.TreeAndTracked(ctx, j.Without...); err != nil {
			return nil, err
		}
	}
	if err := r.tryOut(ctx); err != nil {
		return nil, err
	}
	v := &Verdict{issue: j.Issue, hash: Hash(j.Criteria), tree: tree, actor: j.Actor, time: j.Time}
	if tree.State != "" {
		if v.ignored, err = j.ignored(ctx, here); err != nil {
			return nil, err
		}
	}
	limited, cancel := context.WithTimeoutCause(ctx, r.Deadline, errDeadline)
	defer cancel()
	stopped := ""
	for _, check := range j.Checks {
		if !check.Asked() {
			continue
		}
		o := Outcome{Check: check, Exit: ExitNotRun}
		if o.Reason = stopped; stopped == "" {
			if o, err = r.run(limited, check, len(v.outcomes)+1); err != nil {
				return nil, err
			}
		}
		v.outcomes = append(v.outcomes, o)
		stopped = r.stops(limited, v.Passed())
	}
	v.notRun = NotRun(j.Checks)
	if err := context.Cause(ctx); err != nil {
		return v, fmt.Errorf("%s: %w", j.Issue, err)
	}
	if j.bare {
		return v, nil
	}
	after, err := here.Tracked(ctx, j.Without...)
	v.changed = after != tracked
	return v, err
}

// mostIgnored limits how many git-ignored files a verdict names.
const mostIgnored = 8

// ignored names existing files that git ignores.
func (j Job) ignored(ctx context.Context, here git.Client) (names []string, err error) {
	if here.Top == "" {
		place, err := here.Place(ctx)
		if err != nil || place.Root == "" {
			return nil, err
		}
		here.Top = place.Root
	}
	without := slices.Clone(j.Without)
	for _, file := range j.Without { // and stig's own files beside a store
		without = append(without, filepath.Dir(file))
	}
	if names, err = here.Ignored(ctx, without...); len(names) > mostIgnored {
		names = append(names[:mostIgnored], fmt.Sprintf("and %d more", len(names)-mostIgnored))
	}
	return names, err
}

// shell runs the script that follows.
var shell = []string{"bash", "-Eeuo", "pipefail", "-c"}

// runner is a job in progress.
type runner struct {
	Job
	env      []string
	withheld []string
	screen   *screen
	began    time.Time
}

func newRunner(j Job) (*runner, error) {
	j.Timeout = cmp.Or(j.Timeout, defaultTimeout)
	j.Deadline = cmp.Or(j.Deadline, defaultDeadline)
	if j.Out == nil {
		j.Out = io.Discard
	}
	r := &runner{Job: j, screen: &screen{out: j.Out}, began: j.Now()}
	r.env, r.withheld = j.environ()
	if info, err := os.Stat(j.Root); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%s: is not a directory, so the checks of %s cannot run in it", j.Root, j.Issue)
	}
	if len(j.Sandbox) > 0 {
		if _, err := process.Find(j.Sandbox[0]); err != nil {
			return nil, fmt.Errorf("gate.sandbox: %w", err)
		}
	}
	if err := j.prepareLogs(); err != nil {
		return nil, fmt.Errorf("logs: %w", err)
	}
	if _, err := process.Find(shell[0]); err != nil {
		return nil, fmt.Errorf("bash: not found; the checks of %s run with %s", j.Issue, strings.Join(shell[:len(shell)-1], " "))
	}
	return r, nil
}

// tryOut checks that the sandbox passes the exit code on: in one that runs nothing or loses the
// code every check would pass.
func (r *runner) tryOut(ctx context.Context) error {
	const probe = 41
	if len(r.Sandbox) == 0 {
		return nil
	}
	result, err := process.Run(ctx, process.Command{
		Argv: slices.Concat(r.Sandbox, shell, []string{fmt.Sprintf("exit %d", probe)}),
		Dir:  r.Root, Env: r.env, Limit: r.Timeout,
	})
	if err == nil && result.Exit != probe {
		err = fmt.Errorf("%s ends with %d although what it runs ends with %d", quotedText(strings.Join(r.Sandbox, " ")), result.Exit, probe)
	}
	if err != nil {
		return fmt.Errorf("gate.sandbox: %w", err)
	}
	return nil
}

// say writes stig's own lines between the outputs of checks.
func (r *runner) say(lines string) error {
	_, err := io.WriteString(r.screen, lines+"\n")
	return err
}

// stops returns why no more checks run, "" while they do.
func (r *runner) stops(ctx context.Context, passing bool) string {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errDeadline):
		return fmt.Sprintf("not run: all checks together had %v", r.Deadline)
	case cause != nil:
		return "not run: interrupted"
	case !passing && !r.KeepGoing:
		return "not run: the previous check failed"
	}
	return ""
}

// run runs one check, or returns why it must not.
func (r *runner) run(ctx context.Context, check Check, number int) (Outcome, error) {
	o := Outcome{Check: check}
	switch {
	case check.Broken:
		o.Exit = ExitBroken
	case check.Class == Runnable:
		return r.start(ctx, check, number)
	case check.Verify && r.AllowDestructive:
		return r.start(ctx, check, number)
	case check.Verify:
		o.Exit, o.Reason = ExitRefused, check.Reason+"; not run without --allow-destructive"
	default:
		o.Exit, o.Reason = ExitRefused, check.Reason+"; runs only in a fence marked verify, with --allow-destructive"
	}
	return o, r.say(echo(check.Text) + "\n" + visible.Text(o.Reason))
}

// start runs the script of a check to its end or timeout.
func (r *runner) start(ctx context.Context, check Check, number int) (Outcome, error) {
	o := Outcome{Check: check}
	o.Reason = ""
	if err := r.say(echo(check.Text)); err != nil {
		return o, err
	}
	file, err := r.openLog(number)
	if err != nil {
		return o, fmt.Errorf("logs: %w", err)
	}
	output := &tee{screen: r.screen, file: file, keep: check.Expect.How != ""}
	limited, cancel := context.WithTimeoutCause(ctx, r.Timeout, errTimeout)
	defer cancel()
	began := r.Now()
	stop := r.timing(began)
	script := StrictScript(check.Text)
	notes, forget, err := traced()
	if err != nil {
		return o, err
	}
	defer forget()
	result, err := process.Run(limited, process.Command{
		Argv: slices.Concat(r.Sandbox, shell, []string{notes.before() + script}),
		Dir:  r.Root, Env: r.env, Stdout: output, Stderr: output, Limit: r.left(began),
	})
	stop()
	o.Seconds = r.Now().Sub(began).Seconds()
	o.Exit, o.Tail = result.Exit, lastLines(result.Stderr)
	if errors.Is(err, process.ErrLimit) { // while the process was stopped, so that nobody else could
		o.Exit, o.Reason = r.ended(errTimeout)
		err = nil
	} else if cause := context.Cause(limited); cause != nil && errors.Is(err, cause) {
		o.Exit, o.Reason = r.ended(cause)
		err = nil
	} else if check.Expect.Ends(o.Exit) && check.Expect.Exit != "" {
		o.Exit = 0
	} else if check.Expect.Exit != "" && o.Exit != ExitMissing {
		o.Exit, o.Reason = max(o.Exit, ExitDiffers), fmt.Sprintf("exit code %d; the criteria say %s", o.Exit, check.Expect.Exit)
	} else if o.Exit != 0 {
		o.Failed = failedAt(check.Text, notes.read(), o.Exit)
		if o.Reason = r.missed(o); o.Reason == "" && o.Failed != nil && o.Failed.strict {
			o.Reason = "a part of `a && b` or `! a` that fails ends the script here; write a condition as an if"
		}
	}
	if o.Exit == 0 && err == nil && !o.Expect.Met(string(output.kept)) {
		o.Exit, o.Reason = ExitDiffers, "the output differs from the criteria; want "+visible.Text(o.Expect.String())
	}
	if file != nil {
		o.Log = file.Name()
		err = errors.Join(err, file.Close())
	}
	if err = errors.Join(err, r.screen.finish()); err != nil {
		return o, fmt.Errorf("%s: %s: %w", r.Issue, quotedText(visible.Text(o.Text)), err)
	}
	return o, nil
}

// left returns how long a check that begins now may take.
func (r *runner) left(now time.Time) time.Duration {
	return max(min(r.Timeout, r.Deadline-now.Sub(r.began)), time.Nanosecond)
}

// timing shows on a terminal how long a check has taken, until it is stopped.
func (r *runner) timing(began time.Time) (stop func()) {
	if !r.Terminal {
		return func() {}
	}
	return r.screen.timing(func() string {
		return fmt.Sprintf("%v of %v", r.Now().Sub(began).Round(time.Second), r.Timeout)
	})
}

// ended returns exit code and reason of a check that was ended. Exit code 0 is then not a
// success.
func (r *runner) ended(cause error) (exit int, reason string) {
	switch {
	case errors.Is(cause, errTimeout):
		return ExitTimeout, fmt.Sprintf("timed out after %v", r.Timeout)
	case errors.Is(cause, errDeadline):
		return ExitTimeout, fmt.Sprintf("timed out: all checks together had %v", r.Deadline)
	}
	return ExitInterrupt, "interrupted"
}

// missed names the program that a failed check did not find, or the credential that it mentions
// and did not get.
func (r *runner) missed(o Outcome) string {
	if o.Exit == ExitMissing && o.Failed != nil {
		if program := o.Failed.absent(r.Root); program != "" {
			return visible.Text(program) + ": not found"
		}
	}
	for _, name := range r.withheld {
		if strings.Contains(o.Text, name) || strings.Contains(o.Tail, name) {
			return name + " looks like a credential, which checks do not get; gate.env in the configuration names exceptions"
		}
	}
	return ""
}

// tee shows an output and logs it if there is a log. With keep it stores the beginning, to
// compare it with the expectation.
type tee struct {
	screen *screen
	file   *logFile
	keep   bool
	kept   []byte
}

// keptOutput limits how much of an output is compared, in bytes.
const keptOutput = 1 << 20

func (t *tee) Write(b []byte) (int, error) {
	if t.keep {
		t.kept = append(t.kept, b[:min(len(b), keptOutput-len(t.kept))]...)
	}
	if t.file != nil {
		if n, err := t.file.Write(b); err != nil {
			return n, err
		}
	}
	return t.screen.Write(b)
}
