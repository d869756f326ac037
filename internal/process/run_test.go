//go:build unix

package process_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/process"
	"stig/internal/testkit/ended"
)

// sh runs a script under a deadline that no test should reach.
func sh(t *testing.T, c process.Command, script string) (process.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c.Argv = []string{"sh", "-c", script}
	return process.Run(ctx, c)
}

// begun is a script that waits until its child has written its process id to PID.
const begun = "until [ -s PID ]; do sleep 0.01; done"

// overWhen is over when a program has written its process id to a file, however long that takes
// on a busy machine.
func overWhen(t *testing.T, pid string) context.Context {
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for text := ""; !strings.HasSuffix(text, "\n") && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
			read, _ := os.ReadFile(pid) // not yet there
			text = string(read)
		}
		cancel(context.DeadlineExceeded)
	}()
	return ctx
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name, script, stdin string
		exit                int
		stdout, stderr      string
	}{
		{"success", "echo out; echo err >&2", "", 0, "out\n", "err\n"},
		{"exit code", "exit 7", "", 7, "", ""},
		{"signal", "kill -TERM $$", "", 143, "", ""},
		{"no stdin", "cat; echo end", "", 0, "end\n", ""},
		{"stdin", "tr a-z A-Z", "tide\n", 0, "TIDE\n", ""},
		{"stdin that is not read", "exec <&-; sleep 0.1; exit 3", strings.Repeat("x", 1<<20), 3, "", ""},
		{"output of some size", "head -c 300000 /dev/zero | tr '\\0' x", "", 0, strings.Repeat("x", 300000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			command := process.Command{}
			if c.stdin != "" {
				command.Stdin = []byte(c.stdin)
			}
			got, err := sh(t, command, c.script)
			if err != nil {
				t.Fatal(err)
			}
			if got.Exit != c.exit || string(got.Stdout) != c.stdout || string(got.Stderr) != c.stderr {
				t.Errorf("exit %d, %d bytes, stderr %q", got.Exit, len(got.Stdout), got.Stderr)
			}
		})
	}
}

func TestRunPlaces(t *testing.T) {
	dir := t.TempDir()
	var out, errs bytes.Buffer
	got, err := sh(t, process.Command{Dir: dir, Env: []string{"TIDE=high", "PATH=" + os.Getenv("PATH")}, Stdout: &out, Stderr: &errs},
		"touch here; echo $TIDE $HOME; echo low >&2")
	if err != nil || out.String() != "high\n" || got.Stdout != nil || errs.String() != "low\n" || string(got.Stderr) != "low\n" {
		t.Errorf("%+v %v: stdout %q stderr %q", got, err, out.String(), errs.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "here")); err != nil {
		t.Error(err)
	}
}

func TestRunKeepsTheTailOfErrors(t *testing.T) {
	got, err := sh(t, process.Command{}, "head -c 1000000 /dev/zero >&2; echo last >&2")
	if err != nil || len(got.Stderr) != 64<<10 || !strings.HasSuffix(string(got.Stderr), "last\n") {
		t.Errorf("%d bytes, %v", len(got.Stderr), err)
	}
}

func TestRunFails(t *testing.T) {
	if _, err := process.Run(t.Context(), process.Command{}); err == nil {
		t.Error("no program was run")
	}
	_, err := process.Run(t.Context(), process.Command{Argv: []string{"no-such-program-at-all"}})
	if err == nil || !strings.Contains(err.Error(), "no-such-program-at-all") {
		t.Errorf("got %v", err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := sh(t, process.Command{Dir: missing}, "true"); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("in a directory that is not there: %v", err)
	}
	r, w := io.Pipe()
	r.CloseWithError(errors.New("disk full"))
	if _, err := sh(t, process.Command{Stdout: w}, "head -c 300000 /dev/zero"); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("output that cannot be written gives %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := process.Run(ctx, process.Command{Argv: []string{"true"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended gives %v", err)
	}
}

// A background child of a command must not block stig, although it holds the pipes.
func TestRunEndsWhatIsLeftBehind(t *testing.T) {
	t.Parallel()
	pid := filepath.Join(t.TempDir(), "pid")
	start := time.Now()
	got, err := sh(t, process.Command{}, "sleep 300 & echo $! >"+pid+"; echo done; exit 4")
	if err != nil || got.Exit != 4 || string(got.Stdout) != "done\n" {
		t.Errorf("%+v %v", got, err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	ended.Wait(t, pid)
}

// A timeout ends a command with its children, even one that ignores SIGTERM.
func TestRunTimeout(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"listens":             "sleep 300 & echo $! >PID; wait",
		"ignores SIGTERM":     "trap '' TERM; (trap '' TERM; exec sleep 300) & echo $! >PID; wait; wait",
		"only its child does": `sh -c "trap '' TERM; echo \$\$ >PID; exec sleep 300" & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pid := filepath.Join(t.TempDir(), "pid")
			start := time.Now()
			got, err := process.Run(overWhen(t, pid), process.Command{Argv: []string{"sh", "-c", "echo begun; " + strings.ReplaceAll(script, "PID", pid)}})
			if !errors.Is(err, context.DeadlineExceeded) || string(got.Stdout) != "begun\n" || got.Exit == 0 {
				t.Errorf("%+v %v", got, err)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			ended.Wait(t, pid)
		})
	}
}

// A command gets SIGTERM before SIGKILL, so that it can clean up.
func TestRunTimeoutAsksFirst(t *testing.T) {
	t.Parallel()
	pid := filepath.Join(t.TempDir(), "pid")
	got, err := process.Run(overWhen(t, pid), process.Command{Argv: []string{"sh", "-c", "trap 'echo tidy; exit 9' TERM; echo $$ >" + pid + "; sleep 300 & wait"}})
	if !errors.Is(err, context.DeadlineExceeded) || string(got.Stdout) != "tidy\n" || got.Exit != 9 {
		t.Errorf("%+v %v", got, err)
	}
}

// Both outputs of a program come in the order in which it wrote them.
func TestRunKeepsTheOrderOfOutputs(t *testing.T) {
	var out bytes.Buffer
	got, err := sh(t, process.Command{Stdout: &out, Stderr: &out}, "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done")
	want := ""
	for _, i := range "123456789" {
		want += "o" + string(i) + "\ne" + string(i) + "\n"
	}
	if err != nil || out.String() != want || string(got.Stderr) != want {
		t.Errorf("%v: got %q", err, out.String())
	}
}

// A program that wants to prompt on a terminal finds none, and does not stop.
func TestRunHasNoTerminal(t *testing.T) {
	got, err := sh(t, process.Command{}, "if (: </dev/tty) 2>/dev/null; then echo terminal; else echo none; fi; ps -o sid= -p $$; echo $$")
	fields := strings.Fields(string(got.Stdout))
	if err != nil || len(fields) != 3 || fields[0] != "none" || fields[1] != fields[2] {
		t.Errorf("got %q, %v: want no terminal, and a session of its own", got.Stdout, err)
	}
}
