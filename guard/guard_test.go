package guard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/guard"
)

const (
	workDir   = "/repo"
	storePath = "/repo/.beads/issues.jsonl"
)

// seen puts attempts the way the table does.
func seen(attempts []guard.Attempt) string {
	var words []string
	for _, a := range attempts {
		words = append(words, a.IDs...)
		if a.Open {
			words = append(words, "?")
		}
		if a.Overwrites(workDir, storePath) {
			words = append(words, "store")
		}
	}
	slices.Sort(words)
	return strings.Join(slices.Compact(words), " ")
}

// TestCloses also holds the table to have as many lines that must pass as an
// assistant needs to work undisturbed, and enough of the others.
func TestCloses(t *testing.T) {
	friends := 0
	for _, c := range closingCases {
		if got := seen(guard.Closes(c.command)); got != c.want {
			t.Errorf("%s\n got %q, want %q: %+v", c.command, got, c.want, guard.Closes(c.command))
		}
		if c.want == "" {
			friends++
		}
	}
	if friends < 50 || len(closingCases)-friends < 50 {
		t.Errorf("%d lines of which %d must pass: too few to mean much", len(closingCases), friends)
	}
}

func TestClosesNamesWhatIsTyped(t *testing.T) {
	for command, want := range map[string]string{
		"bd close demo-1":                 "bd close",
		"/opt/br update demo-1 -s closed": "br update --status closed",
		"bd update demo-1 -s $s":          "bd update --status …",
		"bd todo done demo-1":             "bd todo done",
		"sed -i x .beads/issues.jsonl":    "sed -i",
		"echo >> .beads/issues.jsonl":     ">>",
		"mv x .beads/issues.jsonl":        "mv",
	} {
		if got := guard.Closes(command); len(got) != 1 || got[0].Verb != want {
			t.Errorf("%s: %+v, want %q", command, got, want)
		}
	}
}

// One reason is given for all that a verb closes, or none: of several each is for
// one issue, so that none speaks for all, nor do parts of two make one.
func TestClosesGivesTheReason(t *testing.T) {
	for command, want := range map[string]string{
		"bd close demo-1":                                        "",
		"bd close demo-1 --reason 'it works'":                    "it works",
		"bd close demo-1 demo-2 -r 'it works'":                   "it works",
		"bd close demo-1 -m 'it works'":                          "it works",
		"bd close demo-1 --comment='it works'":                   "it works",
		"bd done demo-1 'it works'":                              "it works",
		"bd close demo-1 demo-2 --reason 'it works' --reason it": "",
		"bd close demo-1 demo-2 -r it --reason works":            "",
		"bd close demo-1 -r built; bd close demo-2":              "",
		"bd close demo-1 -r built; bd close demo-2 -r no":        "",
		"bd close demo-1 -r it; bd close demo-2 -r it":           "it",
	} {
		if got := guard.Closes(command); len(got) != 1 || got[0].Why != want {
			t.Errorf("%s: %+v, want %q", command, got, want)
		}
	}
}

// A directory may have a name that reads like a pattern.
func TestOverwritesInAnyDirectory(t *testing.T) {
	for _, dir := range []string{"/home/[ann]/repo", "/home/a[/repo"} {
		if a := (guard.Attempt{Files: []string{".beads/issues.jsonl"}}); !a.Overwrites(dir, dir+"/.beads/issues.jsonl") {
			t.Errorf("the store in %s is not seen", dir)
		}
	}
}

// A link to the store is the store.
func TestOverwritesFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	store, link := dir+"/issues.jsonl", dir+"/link.jsonl"
	if err := errors.Join(os.WriteFile(store, []byte("{}\n"), 0o644), os.Symlink(store, link)); err != nil {
		t.Fatal(err)
	}
	a := guard.Attempt{Files: []string{"link.jsonl"}}
	if !a.Overwrites(dir, store) {
		t.Error("a link to the store is not seen")
	}
	if a = (guard.Attempt{Files: []string{"other.jsonl"}}); a.Overwrites(dir, store) {
		t.Error("a file that is not there is taken for the store")
	}
}

// What lies beyond the limits is not taken for harmless.
func TestClosesGivesUpOpenly(t *testing.T) {
	var ids []string
	for i := range 60 {
		ids = append(ids, fmt.Sprintf("demo-%d", i))
	}
	all := strings.Join(ids, " ")
	for _, command := range []string{
		"for i in " + all + "; do bd close $i; done",
		"printf '%s\\n' " + all + " | while read i; do bd close $i; done",
		strings.Repeat(":;", 5000) + "bd close demo-1",
		"bd close demo-1 # " + strings.Repeat("x", 2<<20),
		strings.Repeat("eval ", 30) + "bd close demo-1",
	} {
		if got := seen(guard.Closes(command)); !strings.HasPrefix(got, "?") {
			t.Errorf("%.60s…: got %.60q, want it open", command, got)
		}
	}
	if got := seen(guard.Closes("bd close " + all)); len(strings.Fields(got)) != 60 || strings.Contains(got, "?") {
		t.Errorf("60 ids: %s", got)
	}
	if got := seen(guard.Closes(strings.Repeat("echo;", 5000))); got != "" {
		t.Errorf("a long line without a tracker: %s", got)
	}
}

// Lines that grow when they are read must come to an end soon.
func TestClosesEndsSoon(t *testing.T) {
	twice := "f() { g \"$@\"; g \"$@\"; }; g() { f \"$@\"; f \"$@\"; }; f x"
	grows := "a=xxxxxxxxxx;" + strings.Repeat("a=$a$a$a$a;", 40) + "eval $a"
	many := strings.Repeat("for i in a b c d e f; do ", 12) + "bd show $i" + strings.Repeat("; done", 12)
	deep := strings.Repeat("(", 3000) + "bd close x" + strings.Repeat(")", 3000)
	file := "echo '# bd' >a;" + strings.Repeat("cat a >>a;", 40) + strings.Repeat("sh a;", 400)
	nested := strings.Repeat("{ ", 200) + "bd show x" + strings.Repeat("; } >a", 200)
	inside := strings.Repeat("echo $(", 200) + "bd show x" + strings.Repeat(" >a)", 200)
	for _, command := range []string{twice, grows, many, deep, file, nested, inside, strings.Repeat("{a,b,c}", 60), strings.Repeat("eval ", 500) + "x"} {
		start := time.Now()
		guard.Closes(command)
		if took := time.Since(start); took > 10*time.Second { // without bounds it is hours
			t.Errorf("%.60s…: took %v", command, took)
		}
	}
}

func FuzzCloses(f *testing.F) {
	for _, c := range closingCases {
		f.Add(c.command)
	}
	f.Fuzz(func(t *testing.T, command string) {
		start := time.Now()
		attempts := guard.Closes(command)
		for _, a := range attempts {
			a.Overwrites(workDir, storePath)
			if a.Verb == "" || !a.Open && len(a.IDs) == 0 && len(a.Files) == 0 {
				t.Errorf("%q: %+v says nothing", command, a)
			}
		}
		if _, err := json.Marshal(attempts); err != nil {
			t.Errorf("%q: %v", command, err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%q: took %v", command, took)
		}
	})
}

func BenchmarkCloses(b *testing.B) {
	for b.Loop() {
		guard.Closes(`cd sub && go test ./... 2>&1 | tail -5 && git commit -am "bd close demo-1"`)
	}
}
