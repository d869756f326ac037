package guard_test

import (
	"encoding/json"
	"errors"
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
		if a.Notes {
			words = append(words, "notes")
		}
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

// TestCloses also validates that the table has enough lines that must pass, and enough
// of the others.
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
	t.Logf("%d lines of which %d must pass", len(closingCases), friends)
	if friends < 300 || len(closingCases)-friends < 50 {
		t.Errorf("%d lines of which %d must pass: too few to mean much", len(closingCases), friends)
	}
}

func TestClosesNamesWhatIsTyped(t *testing.T) {
	for command, want := range map[string]string{
		"bd close demo-1":                 "bd close",
		"/opt/br update demo-1 -s closed": "br update --status closed",
		"bd update demo-1 -s $s":          "bd update --status …",
		"bd todo done demo-1":             "bd todo done",
		"bd update demo-1 --notes x":      "bd update --notes",
		"prettier -w .beads/x.jsonl":      "prettier --write",
		"sed -i x .beads/issues.jsonl":    "sed -i",
		"echo >> .beads/issues.jsonl":     ">>",
		"mv x .beads/issues.jsonl":        "mv",
	} {
		if got := guard.Closes(command); len(got) != 1 || got[0].Verb != want {
			t.Errorf("%s: %+v, want %q", command, got, want)
		}
	}
}

// One reason is given for all that a command closes, or none: of several each is for
// one issue, so that none speaks for all. A command has no part in the reason of another.
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
		"bd close demo-1; bd close demo-2 -r built":              "",
		"bd close demo-1 -r built; bd close demo-2 -r no":        "built",
	} {
		if got := guard.Closes(command); len(got) == 0 || got[0].Why != want {
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

// An attempt says where it runs, as far as the line tells.
func TestClosesNamesTheDirectory(t *testing.T) {
	for command, want := range map[string]string{
		"bd close demo-1":                                    "",
		"cd ../other && bd close demo-1":                     "../other",
		"cd ../other; cd sub; bd update demo-1 --notes x":    "../other/sub",
		"pushd /srv/other; bd close demo-1; popd":            "/srv/other",
		"cd ../other && make; cd - && bd close demo-1":       "",
		"pushd ../other; make; popd; bd close demo-1":        "",
		"(cd ../other && make); bd close demo-1":             "",
		"x=$(cd ../other && make); bd close demo-1":          "",
		"f() { cd ../other; }; bd close demo-1":              "",
		"cd $DIR && bd close demo-1":                         "",
		"cd $(git rev-parse --show-toplevel); bd close x":    "",
		"cd ~/other && bd close demo-1":                      "~/other",
		"bd -C ../other close demo-1":                        "../other",
		"bd -C ../other close demo-1; bd close demo-1":       "../other",
		"cd /srv && sh -c 'cd other && bd close demo-1'":     "/srv/other",
		"cd -P -- ../other && bd close demo-1":               "../other",
		"cd ../other && sudo -u ann bd close demo-1 -r done": "../other",
	} {
		if got := guard.Closes(command); len(got) == 0 || got[0].Dir != want {
			t.Errorf("%s: %+v, want %q", command, got, want)
		}
	}
}

// What lies beyond the limits is not taken for harmless.
func TestClosesGivesUpOpenly(t *testing.T) {
	for _, command := range []string{
		strings.Repeat(":;", 5000) + "bd close demo-1",
		"bd close demo-1 # " + strings.Repeat("x", 5<<20),
		strings.Repeat("eval ", 30) + "bd close demo-1",
		strings.Repeat("xargs ", 5000) + "bd close demo-1",
		strings.Repeat("find -exec ", 100) + "bd close demo-1",
	} {
		if got := seen(guard.Closes(command)); !strings.HasPrefix(got, "?") {
			t.Errorf("%.60s…: got %.60q, want it open", command, got)
		}
	}
	ids := strings.Repeat("demo-1 ", 60)
	if got := guard.Closes("bd close " + ids); len(got) != 1 || len(got[0].IDs) != 60 || got[0].Open {
		t.Errorf("60 ids: %+v", got)
	}
	if got := seen(guard.Closes(strings.Repeat("echo;", 5000))); got != "" {
		t.Errorf("a long line without a tracker: %s", got)
	}
}

// Lines that nest must come to an end soon.
func TestClosesEndsSoon(t *testing.T) {
	deep := strings.Repeat("(", 3000) + "bd close x" + strings.Repeat(")", 3000)
	inside := strings.Repeat("echo $(", 200) + "bd show x" + strings.Repeat(" >a)", 200)
	piped := strings.Repeat("echo 'bd show x' | sh | ", 3000) + "sh"
	twice := strings.Repeat("eval ", 12) + "'bd show x (' " + strings.Repeat("x", 1<<20)
	many := strings.Repeat("bd close x-1;", 50000)
	for _, command := range []string{
		deep, inside, piped, twice, many, strings.Repeat("eval ", 500) + "x", strings.Repeat("find -exec ", 500) + "x", strings.Repeat("xargs ", 50000) + "x",
	} {
		start := time.Now()
		guard.Closes(command)
		if took := time.Since(start); took > 5*time.Second { // without bounds it is hours
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
