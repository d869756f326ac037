//go:build e2e && unix

package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"stig/internal/testkit/sample"
	"stig/internal/workspace"
)

var (
	speedSizes  = flag.String("speed", "", "the stores that TestSpeed measures: their numbers of issues, with commas")
	speedRounds = flag.Int("speed-rounds", 5, "how often TestSpeed runs each command")
	speedBeside = flag.String("beside", "", "NAME=COMMAND: one more command for sh that TestSpeed measures")
)

// TestSpeed measures commands on generated stores, and grep, jq and cp in the same rounds, and
// prints a table for docs/measurements.md: just bench runs it. It does not check times. Without
// -speed it runs each command once on a small store, to keep it working.
func TestSpeed(t *testing.T) {
	sizes, rounds := strings.Split(*speedSizes, ","), *speedRounds
	if *speedSizes == "" {
		sizes, rounds = []string{"160"}, 1
	}
	t.Log("\n" + machine())
	for _, size := range sizes {
		issues, err := strconv.Atoi(size)
		if err != nil {
			t.Fatal(err)
		}
		b := newSpeedBench(t, issues)
		for range rounds {
			for k := range b.rows {
				b.rows[k].run(t, b.dir)
			}
		}
		b.least = b.rows[0].memory // the first command needs hardly any
		t.Log("\n" + b.table(issues))
	}
}

// speedBench is one store and the measurements on it.
type speedBench struct {
	dir  string
	size int64 // of the store, in bytes
	rows []speedRow

	least int64 // memory below this cannot be measured; see mostMemory
}

// speedRow is a command and its figures.
type speedRow struct {
	name, script string
	exits        []int           // accepted exit codes besides 0
	walls        []time.Duration // by round
	cpu          time.Duration   // minimum
	memory       int64           // maximum, in bytes
}

func newSpeedBench(t *testing.T, issues int) *speedBench {
	dir, path := sample.Store(t, issues)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	b := &speedBench{dir: dir, size: info.Size()}
	id := middleID(issues)
	b.beside("grep -c", fmt.Sprintf(`grep -c '"id":"%s"' .beads/issues.jsonl`, id))
	b.beside("jq select", fmt.Sprintf(`jq -c 'select(.id=="%s")' .beads/issues.jsonl`, id))
	b.beside("cp and sync", "cp .beads/issues.jsonl copy && sync copy")
	if *speedSizes != "" {
		b.add("an empty Go program", emptyProgram(t))
	}
	if name, script, ok := strings.Cut(*speedBeside, "="); ok {
		b.add(name, script)
	}
	b.stig("version")
	b.stig("signals get " + id)
	b.stig("show " + id)
	b.stig("orient " + id)
	b.stig("orient")
	b.stig("ready")
	b.stig("list")
	b.stig("cycles", workspace.ExitFound)
	b.stig("check", workspace.ExitFound)
	b.stig(fmt.Sprintf(`checkpoint %s --surprise 0.$(($$ %% 90 + 10)) --done "run $$" --remains nothing`, id))
	return b
}

func (b *speedBench) add(name, script string, exits ...int) {
	b.rows = append(b.rows, speedRow{name: name, script: script, exits: exits})
}

// beside adds a program that may not be installed.
func (b *speedBench) beside(name, script string) {
	if _, err := exec.LookPath(strings.Fields(name)[0]); err == nil {
		b.add(name, script)
	}
}

func (b *speedBench) stig(args string, exits ...int) {
	b.add("stig "+strings.Fields(args)[0]+shownID(args), *stressProgram+" "+args, exits...)
}

// shownID replaces the arguments of a command in the table.
func shownID(args string) string {
	switch {
	case strings.HasPrefix(args, "signals"):
		return " get ID"
	case strings.Contains(args, " "):
		return " ID"
	}
	return ""
}

// run runs the command once. The output goes to a file, since grep stops early if nobody reads
// it.
func (r *speedRow) run(t *testing.T, dir string) {
	out, err := os.Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var said bytes.Buffer
	c := exec.Command("sh", "-c", last(r.script))
	c.Dir, c.Stdout, c.Stderr = dir, out, &said
	c.Env = append(os.Environ(), "HOME="+dir, "STIG_ACTOR=mara", "STIG_NOW=")
	start := time.Now()
	err = c.Run()
	wall := time.Since(start)
	code := c.ProcessState.ExitCode()
	if err != nil && !slices.Contains(r.exits, code) {
		t.Fatalf("%s: %v\n%s", r.script, err, said.Bytes())
	}
	cpu := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	r.walls = append(r.walls, wall)
	if r.cpu == 0 || cpu < r.cpu {
		r.cpu = cpu
	}
	r.memory = max(r.memory, mostMemory(c.ProcessState))
}

// last makes the shell exec its last command, so that the shell is not counted.
func last(script string) string {
	if before, after, ok := strings.Cut(script, "&& "); ok {
		return before + "&& exec " + after
	}
	return "exec " + script
}

// mostMemory returns the maximum memory of the process, in bytes. It is at least the maximum of
// this test, because a process starts as a copy of its parent.
func mostMemory(p *os.ProcessState) int64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}

func emptyProgram(t *testing.T) string {
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "empty")
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// table returns Markdown: the minimum wall time and cpu of all rounds, the maximum memory, and
// the median of the ratios within each round, in which both ran on an equally busy machine.
func (b *speedBench) table(issues int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d issues, %.1f MB\n\n", issues, float64(b.size)/1e6)
	w := tabwriter.NewWriter(&text, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| command\t| wall ms\t| cpu ms\t| memory MB\t| ÷ grep -c\t| ÷ jq\t| ÷ cp\t| ÷ empty\t|")
	fmt.Fprintln(w, "|---\t|---:\t|---:\t|---:\t|---:\t|---:\t|---:\t|---:\t|")
	for _, r := range b.rows {
		fmt.Fprintf(w, "| %s\t| %.1f\t| %.1f\t| %s\t| %s\t| %s\t| %s\t| %s\t|\n", r.name, ms(slices.Min(r.walls)), ms(r.cpu), b.memory(r),
			b.ratio(r, "grep -c"), b.ratio(r, "jq select"), b.ratio(r, "cp and sync"), b.ratio(r, "an empty Go program"))
	}
	w.Flush()
	return text.String()
}

func (b *speedBench) memory(r speedRow) string {
	if r.memory <= b.least {
		return fmt.Sprintf("< %.0f", float64(b.least)/1e6)
	}
	return fmt.Sprintf("%.0f", float64(r.memory)/1e6)
}

func (b *speedBench) ratio(r speedRow, to string) string {
	for _, other := range b.rows {
		if other.name != to {
			continue
		}
		ratios := make([]float64, len(r.walls))
		for round, wall := range r.walls {
			ratios[round] = float64(wall) / float64(other.walls[round])
		}
		slices.Sort(ratios)
		return fmt.Sprintf("%.2f", ratios[len(ratios)/2])
	}
	return ""
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// machine names the machine of the figures.
func machine() string {
	model := "unknown processor"
	if file, err := os.Open("/proc/cpuinfo"); err == nil {
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if key, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(key) == "model name" {
				model = strings.TrimSpace(value)
			}
		}
	}
	kernel, _ := exec.Command("uname", "-sr").Output()
	load, _ := os.ReadFile("/proc/loadavg")
	return fmt.Sprintf("%s, %d cores, %s, %s, load before %s", model, runtime.NumCPU(), strings.TrimSpace(string(kernel)),
		runtime.Version(), strings.Join(strings.Fields(string(load) + " ? ? ?")[:3], " "))
}
