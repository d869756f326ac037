package assistant_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/assistant"
)

// cases are command lines typed in a repository whose store is .beads/issues.jsonl, each with
// the expected attempts: the issues to be closed, "?" for a close that names none, "store" for
// a write to the store, "" for nothing. They are the seeds of the fuzz target.
var cases = []struct{ want, command string }{
	// Closes.
	{"demo-1", `bd close demo-1`},
	{"demo-1", `br done demo-1`},
	{"demo-1 demo-2", `bd close demo-1 demo-2 --reason "all done, see demo-9" -f`},
	{"demo-1", `bd close --message done demo-1`},
	{"demo-1", `bd done demo-1 "all done"`},
	{"demo-1", `bd close -fr done demo-1`},
	{"demo-1", `bd --json --actor ann -C sub --db=x.db close -q -- demo-1`},
	{"?", `bd close`},
	{"?", `bd close "$ID"`},
	{"?", `for i in demo-1 demo-2; do bd close "$i"; done`},
	{"demo-1", `bd close demo-1 $(bd list)`},
	{"demo-1", `bd update demo-1 --status=CLOSED`},
	{"demo-1", `br update -p1 -sclosed demo-1`},
	{"demo-1", `bd update demo-1 -s closed --notes "see --help"`},
	{"demo-1", `bd update demo-1 --append-notes '- the pump leaks' --status closed`},

	// In any position.
	{"demo-1", `go test ./... && bd close demo-1 | tail -1`},
	{"demo-1", `(cd sub && BD_ACTOR=ann bd close demo-1)`},
	{"demo-1", `echo "$(bd close demo-1)"`},
	{"demo-1", `if go build; then bd close demo-1; fi &`},
	{"demo-1", "cat <<EOF\n$(bd close demo-1)\nEOF"},
	{"demo-1", "~/go/bin/bd.exe close demo-1\nif ("},
	{"demo-1", "\\bd \\\n cl'os'e demo-1"},
	{"demo-1", `bash -lc 'cd sub; bd close demo-1'`},
	{"?", `f() { bd close "$1"; }; f demo-1`},

	// Writes.
	{"store", `sed -i 's/open/closed/' .beads/issues.jsonl`},
	{"store", `sed -ni.bak -e p ./.beads/issues.jsonl`},
	{"store", `sed -E --in-place=.bak s/a/b/ .beads/*.jsonl`},
	{"store", `jq -c . x > /tmp/x && mv -f /tmp/x .beads/issues.jsonl`},
	{"store", `cp /tmp/issues.jsonl .beads/`},
	{"store", `cd .beads; cp ../issues.jsonl .`},
	{"store", `echo '{}' | tee -a .beads/issues.jsonl`},
	{"store", `echo '{}' >> .beads/issues.jsonl`},
	{"store", `: >| ".beads/issues.jsonl"`},
	{"store", `{ cat x; } &> .beads/issues.jsonl`},
	{"store", `cd sub; > ../.beads/issues.jsonl`},
	{"store", `echo > link.jsonl`},
	{"store", `(cd /srv; ls); echo > .beads/issues.jsonl`},

	// Neither.
	{"", `stig close demo-1 --reason "it works"`},
	{"", `bd list --status closed`},
	{"", `bd update demo-1 --status in_progress -d "--status closed"`},
	{"", `bd update demo-1 --status closed --help`},
	{"", `bd comments add demo-1 "bd close demo-1"`},
	{"", `bd close -h`},
	{"", `bd; bd help close; bd search close`},
	{"", `echo bd close demo-1; git commit -m "bd close demo-1"; grep -rn 'bd close' docs`},
	{"", "cat > notes.md <<'EOF'\nbd close demo-1\nEOF"},
	{"", `mybd close demo-1; gh issue close 12 # && bd close demo-1`},
	{"", `sed -n 1,5p .beads/issues.jsonl; sed -es/i/o/ .beads/issues.jsonl`},
	{"", `cp .beads/issues.jsonl /tmp/backup.jsonl; cp -r .beads /tmp/copy`},
	{"", `jq . .beads/issues.jsonl > copy.jsonl 2>&1; tee log.txt < .beads/issues.jsonl`},
	{"", `echo '{}' > other/.beads/issues.jsonl; sed -i s/a/b/ */*.jsonl`},
	{"", `cd /srv/other && echo '{}' > .beads/issues.jsonl`},
	{"", `d=$(mktemp -d); echo '{}' > $d/.beads/issues.jsonl`},
	{"", `)`},
	{"", "0&0\xa2"}, // makes the parser panic

	// Found only after they ran.
	{"", `sudo -u ann bd close demo-1`},
	{"", `echo 'bd close demo-1' | sh`},
	{"", `echo demo-1 | xargs bd close`},
	{"", `$BD close demo-1`},
	{"", `bd update demo-1 --status "$S"`},
	{"", `bd update demo-1 --notes x`},
	{"", `python3 -c "open('.beads/issues.jsonl','w')"`},
	{"", `rm -rf .beads`},
}

// repository creates a directory with a store and a link to it. Its name looks like a pattern.
func repository(t testing.TB) (dir, store string) {
	dir = filepath.Join(t.TempDir(), "[ann]")
	store = filepath.Join(dir, ".beads", "issues.jsonl")
	if err := os.MkdirAll(filepath.Dir(store), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(store, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(store, filepath.Join(dir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	return dir, store
}

// seen formats attempts as the table does.
func seen(attempts []assistant.Attempt, dir, store string) string {
	var words []string
	for _, a := range attempts {
		ids := slices.DeleteFunc(slices.Clone(a.Words), func(w string) bool { return !strings.HasPrefix(w, "demo-") })
		if words = append(words, ids...); a.Words != nil && len(ids) == 0 {
			words = append(words, "?")
		}
		if a.Overwrites(dir, store) {
			words = append(words, "store")
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

func TestAttempts(t *testing.T) {
	dir, store := repository(t)
	for _, c := range cases {
		if got := seen(assistant.Attempts(c.command), dir, store); got != c.want {
			t.Errorf("%s\n got %q, want %q: %+v", c.command, got, c.want, assistant.Attempts(c.command))
		}
	}
	if got := seen(assistant.Attempts("echo > "+store), dir, store); got != "store" {
		t.Errorf("an absolute path: got %q", got)
	}
}

// TestAttemptsSayMore checks the verb, the arguments and the directory of attempts, as far as
// the line tells.
func TestAttemptsSayMore(t *testing.T) {
	for command, want := range map[string]assistant.Attempt{
		"/opt/bd close demo-1":                 {Verb: "bd close", Words: []string{"demo-1"}},
		"br update demo-1 -s closed":           {Verb: "br update --status closed", Words: []string{"demo-1", "-s", "closed"}},
		"sed -ni x a":                          {Verb: "sed -i"},
		"echo >> a":                            {Verb: ">"},
		"mv a b":                               {Verb: "mv"},
		"bd close demo-1 demo-2 -r 'it works'": {Verb: "bd close", Words: []string{"demo-1", "demo-2", "-r", "it works"}},
		"cd ../other && cd sub && bd close demo-1 -r done": {Verb: "bd close", Words: []string{"demo-1", "-r", "done"}, Dir: "../other/sub"},
		"cd a; bd -C b close demo-1":                       {Verb: "bd close", Words: []string{"demo-1"}, Dir: "a/b"},
		"bd --directory /b close demo-1":                   {Verb: "bd close", Words: []string{"demo-1"}, Dir: "/b"},
		"cd $DIR && bd close demo-1":                       {Verb: "bd close", Words: []string{"demo-1"}},
		"cd ~/other && bd close demo-1":                    {Verb: "bd close", Words: []string{"demo-1"}, Dir: "~/other"},
	} {
		if got := assistant.Attempts(command); len(got) == 0 || got[0].Verb != want.Verb || !slices.Equal(got[0].Words, want.Words) || got[0].Dir != want.Dir {
			t.Errorf("%s: %+v, want %+v", command, got, want)
		}
	}
}

// TestAttemptsEndSoon: parsing ends soon, because the assistant waits for the hook. What a line
// too long to parse does is found after it ran.
func TestAttemptsEndSoon(t *testing.T) {
	for _, part := range []string{"(", "echo $(", "bd close x-1;", "cd a;", "> a ", "-r ", "a=$("} {
		for _, n := range []int{100, 5000, 1 << 20} {
			start := time.Now()
			assistant.Attempts("bd close " + strings.Repeat(part, n))
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%d times %s: took %v", n, part, took)
			}
		}
	}
}

func FuzzAttempts(f *testing.F) {
	for _, c := range cases {
		f.Add(c.command)
	}
	dir, store := repository(f)
	f.Fuzz(func(t *testing.T, command string) {
		start := time.Now()
		for _, a := range assistant.Attempts(command) {
			a.Overwrites(dir, store)
			if a.Verb == "" || a.Words == nil && len(a.Files) == 0 {
				t.Errorf("%q: %+v says nothing", command, a)
			}
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%q: took %v", command, took)
		}
	})
}
