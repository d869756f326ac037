package clone_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
)

const bo = `---
name: bo
description: keeps the tide tables
roles: [network, "tide tables"]
---

# Bo

## Seed

Read the tables first.

### How

One a day.

## Values

Lose nothing.

## Evolution

- 2026-11-20: born
`

func parse(t testing.TB, text string) *clone.Profile {
	t.Helper()
	p, err := clone.ParseProfile("bo.md", text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestParse: fields of a file, and defaults for missing ones.
func TestParse(t *testing.T) {
	p := parse(t, "---\nname: bo\n---\n")
	if d := clone.DefaultProfile("bo"); p.Timeout != time.Hour || p.Passes != 3 || p.Traces != 20 || !p.Worktree || p.Dream != 4*time.Hour ||
		p.Kind != clone.Agent || p.Every != 0 || p.PerHour != 0 || d.Timeout != p.Timeout || d.Kind != p.Kind {
		t.Errorf("%+v", p)
	}
	p = parse(t, "\ufeff---\r\nname: ann/claude-3f2a\r\nkind: program\r\nwatch:\r\n- tide-1\r\ncommand: \"run 'a: b'\" # not a comment of the shell\r\n"+
		"timeout: 90m\r\nper_hour: 6\r\npasses: 1\r\ntraces: 5\r\nworktree: false\r\nsetup: npm ci\r\ndream: 2d\r\nevery: 1w\r\n---\r\n\r\nHello.\r\n")
	if p.Name != "ann/claude-3f2a" || p.Kind != clone.Program || !reflect.DeepEqual(p.Watch, []string{"tide-1"}) || p.Command != "run 'a: b'" ||
		p.Timeout != 90*time.Minute || p.PerHour != 6 || p.Passes != 1 || p.Traces != 5 || p.Worktree || p.Setup != "npm ci" ||
		p.Dream != 48*time.Hour || p.Every != 7*24*time.Hour || p.Body() != "Hello." {
		t.Errorf("%+v: %q", p, p.Body())
	}
	if p = parse(t, bo); p.Section("Seed") != "Read the tables first.\n\n### How\n\nOne a day." || p.Section("Learned") != "" || !strings.HasPrefix(p.Body(), "# Bo\n") {
		t.Errorf("%q", p.Body())
	}
}

// TestMistakes: each mistake is reported with its line and column.
func TestMistakes(t *testing.T) {
	const head = "---\nname: bo\n"
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "bo.md:1:1: must start with front matter"},
		{"no front matter", "# Bo\n", `bo.md:1:1: must start with front matter, YAML between two lines of ---; found "# Bo"`},
		{"not closed", head + "kind: agent\n", "bo.md:1:1: the front matter has no closing line of ---"},
		{"only the mark", "---", "no closing line"},
		{"empty", "---\n---\n", "must be keys in braces"},
		{"no name", "---\nkind: agent\n---\n", "bo.md:1:1: name: field is required"},
		{"a number", "---\nname: 7\n---\n", "bo.md:2:7: name: must be a quoted text; found 7"},
		{"a path", "---\nname: ../bo\n---\n", "bo.md:2:7: name: must be 1 to 100 letters"},
		{"unknown key", head + "timout: 1h\n---\n", "bo.md:3:1: timout: is an unknown key; must be one of name, kind,"},
		{"time", head + "timeout: soon\n---\n", `bo.md:3:10: timeout: must be a whole number of s, m, h, d or w, such as 90m; found "soon"`},
		{"kind", head + "kind: robot\n---\n", "bo.md:3:7: kind: must be one of agent, human, program"},
		{"number", head + "passes: 0\n---\n", "bo.md:3:9: passes: must be a whole number from 1 to 20; found 0"},
		{"fraction", head + "passes: 1.5\n---\n", "bo.md:3:9: passes: must be"},
		{"word", head + "roles: [a,\n  7]\n---\n", "bo.md:4:3: roles.1: must be a quoted text; found 7"},
		{"no list", head + "roles: a\n---\n", "bo.md:3:8: roles: must be a list"},
		{"yes", head + "worktree: yes\n---\n", "bo.md:3:11: worktree: must be true or false"},
		{"lines", head + "command: |\n  a\n  b\n---\n", "bo.md:3:10: command: must be one line"},
		{"twice", head + "name: by\n---\n", "bo.md:2:7: name: conflicting values"},
		{"tab", head + "\tkind: agent\n---\n", "bo.md:2:1: found a tab character"},
		{"open bracket", head + "roles: [a\n---\n", "bo.md:2:1: did not find"},
		{"crlf", "---\r\nname: bo\r\nkind: robot\r\n---\r\n", "bo.md:3:7: kind: must be"},
		{"bom", "\ufeff---\nname: bo\nkind: robot\n---\n", "bo.md:3:7: kind: must be"},
		{"two", head + "kind: robot\ndream: 4\n---\n", "dream: must be"},
		{"deep", head + "roles: " + strings.Repeat("[", 2000) + "\n---\n", "bo.md:"},
		{"aliases", "---\na: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n" +
			"e: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f]\n---\n", "bo.md:"},
		{"long", head + "description: " + strings.Repeat("x", 70<<10) + "\n---\n", "bo.md:1:1: is longer than 64 KiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if p, err := clone.ParseProfile("bo.md", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %+v; want %q", err, p, c.want)
			}
		})
	}
}

// TestLoad: a file is named after its actor, in the repository, and regular.
func TestLoad(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := clone.LoadProfile(root, "bo"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if names, err := clone.ProfileNames(root); err != nil || names != nil {
		t.Fatal(names, err)
	}
	put(clone.ProfilePath(root, "bo"), bo)
	put(clone.ProfilePath(root, "ann/claude-3f2a"), "---\nname: ann/claude-3f2a\n---\n")
	put(clone.ProfilePath(root, "cy"), "---\nname:   bo\n---\n")
	put(clone.ProfilePath(root, "huge"), "---\nname: huge\n---\n"+strings.Repeat("x\n", 40<<10))
	put(clone.ProfilePath(root, "åsa"), "---\nname: åsa\n---\n")
	if err := os.Mkdir(clone.ProfilePath(root, "dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"bo": "", "ann/claude-3f2a": "", "åsa": "",
		"cy":   ".stig/actors/cy.md:2:9: name: must be cy, like the file name; found \"bo\"",
		"huge": ".stig/actors/huge.md:1:1: is longer than 64 KiB",
		"dir":  ".stig/actors/dir.md:1:1: is not a regular file",
	} {
		p, err := clone.LoadProfile(root, name)
		if want == "" && (err != nil || p.Name != name || p.Path != clone.ProfilePath(root, name)) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	names, err := clone.ProfileNames(root)
	if want := []string{"ann/claude-3f2a", "bo", "cy", "huge", "åsa"}; err != nil || !reflect.DeepEqual(names, want) {
		t.Errorf("%v, %q", err, names)
	}
	for _, name := range []string{"", ".", "..", "../bo", "a/../b", "a//b", "/a", "a/", ".bo", "-bo", "a b", "a+b", "a\x00", "a\nb", `a\b`, strings.Repeat("a", 101)} {
		if _, err := clone.LoadProfile(root, name); err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "name: must be") {
			t.Errorf("%q: %v", name, err)
		}
		if filepath.Dir(clone.ProfilePath(root, name)) != clone.ProfileDir(root) {
			t.Errorf("%q leads to %s", name, clone.ProfilePath(root, name))
		}
	}
	if runtime.GOOS == "windows" {
		return
	}
	put(filepath.Join(elsewhere, "dee.md"), "---\nname: dee\n---\n")
	if err := errors.Join(os.Symlink(filepath.Join(elsewhere, "dee.md"), clone.ProfilePath(root, "dee")), os.Symlink("bo.md", clone.ProfilePath(root, "by"))); err != nil {
		t.Fatal(err)
	}
	if _, err := clone.LoadProfile(root, "dee"); err == nil || err.Error() != ".stig/actors/dee.md:1:1: a symbolic link leads out of the repository" {
		t.Error(err)
	}
	if _, err := clone.LoadProfile(root, "by"); err == nil || !strings.Contains(err.Error(), "name: must be by") {
		t.Error(err)
	}
	other := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(other, ".stig"), 0o755), os.Symlink(clone.ProfileDir(root), filepath.Join(other, ".stig", "actors"))); err != nil {
		t.Fatal(err)
	}
	if _, err := clone.LoadProfile(other, "bo"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Error("a directory elsewhere is read:", err)
	}
}

// TestWith splices sections.
func TestWith(t *testing.T) {
	for _, c := range []struct{ name, text, title, with, want string }{
		{"replaced", bo, "Values", "\nLose nothing,\nask.\n\n", strings.Replace(bo, "Lose nothing.", "Lose nothing,\nask.", 1)},
		{"present", bo, "Values", " \nLose nothing.\n", bo},
		{"with what is below it", bo, "Seed", "Begin.", strings.Replace(bo, "Read the tables first.\n\n### How\n\nOne a day.", "Begin.", 1)},
		{"in its place", bo, "Learned", "Twice a month.", strings.Replace(bo, "## Evolution", "## Learned\n\nTwice a month.\n\n## Evolution", 1)},
		{"last", "---\nname: bo\n---\n", "Evolution", "- born", "---\nname: bo\n---\n\n## Evolution\n\n- born\n"},
		{"behind no newline", "---\nname: bo\n---\nHello", "Seed", "x", "---\nname: bo\n---\nHello\n\n## Seed\n\nx\n"},
		{"empty before", "---\nname: bo\n---\n## Seed\n## Values\n\ny\n", "Seed", "x", "---\nname: bo\n---\n## Seed\n\nx\n## Values\n\ny\n"},
		{"emptied", "---\nname: bo\n---\n## Seed\n\nx\n\n## Values\n", "Seed", "", "---\nname: bo\n---\n## Seed\n\n\n\n## Values\n"},
		{"crlf", "---\r\nname: bo\r\n---\r\n\r\n## Seed\r\n\r\nx\r\n", "Seed", "a\nb\n", "---\r\nname: bo\r\n---\r\n\r\n## Seed\r\n\r\na\r\nb\r\n"},
		{"bom", "\ufeff---\nname: bo\n---\n## Seed\nx", "Seed", "y", "\ufeff---\nname: bo\n---\n## Seed\ny"},
		{"underlined", "---\nname: bo\n---\nSeed\n----\nx\n", "Seed", "y", "---\nname: bo\n---\nSeed\n----\ny\n"},
		{"of its own", bo, "Tools", "stig", bo + "\n## Tools\n\nstig\n"},
		{"in code", "---\nname: bo\n---\n```\n## Seed\n```\n", "Seed", "y", "---\nname: bo\n---\n```\n## Seed\n```\n\n## Seed\n\ny\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(t, c.text).With(c.title, c.with)
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n%q, want\n%q", err, got, c.want)
			}
		})
	}
	for name, c := range map[string][2]string{
		"heading":    {bo, "x\n\n## Values\n\nnone"},
		"title":      {bo, "# Bo"},
		"underlined": {bo, "x\n---"},
		"open code":  {bo, "```\nx"},
		"comment":    {bo, "<!-- x"},
		"twice":      {bo + "\n## Seed\n\ny\n", "z"},
		"too long":   {bo, strings.Repeat("x\n", 40<<10)},
	} {
		if got, err := parse(t, c[0]).With("Seed", c[1]); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestOpening: what a person wrote opens a prompt, with whatever headings, and what stands
// elsewhere in it does not.
func TestOpening(t *testing.T) {
	for body, want := range map[string]string{
		"":                                  "",
		"Be kind.\n\n## Learned\n\nlater\n": "Be kind.",
		"## Seed\n\nx\n\n## Values\n\n## Rules\n\nr\n\n## Heartbeat\n\nh\n\n## Evolution\n\n- born\n": "## Seed\n\nx\n\n## Rules\n\nr",
		"# Bo\n\n## Learned\n\n### Much\n\nm\n\n## Values\n\nv\n":                                     "# Bo\n\n## Values\n\nv",
	} {
		if got := parse(t, "---\nname: bo\n---\n"+body).Opening(); got != want {
			t.Errorf("%q opens with %q, want %q", body, got, want)
		}
	}
	if got := clone.DefaultProfile("bo").Opening(); got != "" {
		t.Errorf("without a file: %q", got)
	}
}

// TestSet replaces a key by its lines, and nothing else.
func TestSet(t *testing.T) {
	const text = "---\nname: bo\n# what it serves\nroles:\n- a\n- b\n\nwatch: [\n  tide-1 ]\ncommand: x # y\n---\n\n## Seed\n\nx\n"
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"name", "by", strings.Replace(text, "name: bo", "name: by", 1)},
		{"name", "bo-2", strings.Replace(text, "name: bo", `name: "bo-2"`, 1)},
		{"roles", []string{"c", "d e", "7", "true"}, strings.Replace(text, "roles:\n- a\n- b\n", `roles: [c, d e, "7", "true"]`+"\n", 1)},
		{"roles", []string(nil), strings.Replace(text, "roles:\n- a\n- b\n", "", 1)},
		{"watch", []string{"tide-2"}, strings.Replace(text, "watch: [\n  tide-1 ]", `watch: ["tide-2"]`, 1)},
		{"description", `says "hi": <b> & # co`, strings.Replace(text, "# y\n", `# y`+"\n"+`description: "says \"hi\": <b> & # co"`+"\n", 1)},
		{"description", "", text},
		{"command", "z", strings.Replace(text, "command: x # y", "command: z # y", 1)},
	} {
		got, err := parse(t, text).Set(c.key, c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s %v: %v\n%s", c.key, c.value, err, got)
		}
	}
	for _, c := range [][3]string{
		{text, "name", "../x"}, {text, "name", ""}, {text, "kind", "robot"}, {text, "description", "a\nb"},
		{"---\n{name: bo, description: x}\n---\n", "description", "y"}, {"---\nname: bo\ncommand: |-\n  a\n\n---\n", "unknown", "y"},
	} {
		if got, err := parse(t, c[0]).Set(c[1], c[2]); err == nil {
			t.Errorf("%s %q: %s", c[1], c[2], got)
		}
	}
	text2, err := parse(t, "---\nname: bo\ndescription: \"a # b\"\n---\n").Set("description", "c")
	if err != nil || string(text2) != "---\nname: bo\ndescription: c\n---\n" {
		t.Errorf("%v %q", err, text2)
	}
	crlf, err := parse(t, "---\r\nname: bo\r\n---\r\n").Set("description", "new")
	if err != nil || string(crlf) != "---\r\nname: bo\r\ndescription: new\r\n---\r\n" {
		t.Errorf("%v %q", err, crlf)
	}
}

// TestEvolved adds a line, and keeps the last hundred.
func TestEvolved(t *testing.T) {
	p := parse(t, bo)
	for i := range 120 {
		text, err := p.Evolved(fmt.Sprintf("2026-11-21: dream\n%d", i))
		if err != nil {
			t.Fatal(err)
		}
		p = parse(t, string(text))
	}
	lines := strings.Split(p.Section(clone.Evolution), "\n")
	if len(lines) != 100 || lines[0] != "- 2026-11-21: dream 20" || lines[99] != "- 2026-11-21: dream 119" || !strings.HasPrefix(p.Text(), bo[:strings.Index(bo, "- 2026")]) {
		t.Errorf("%d lines, %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
}

// FuzzWith holds the laws of an edit: what is set is read, everything else keeps its
// bytes, and setting what is there changes nothing.
func FuzzWith(f *testing.F) {
	for _, body := range []string{"", bo[len("---\nname: bo\n"):], "## Seed\n## Seed\n", "Seed\n---\nx", "> ## Seed\n", "```\n## Learned\n", "\r\n## Learned\r\nx\r\n", "## Learned #\n\tx", "\x00\xff\v"} {
		f.Add(body, "Learned", "x")
		f.Add(body, "Seed", "a\r\n\r\n### b\n")
		f.Add(body, "Values", "<!-- x")
	}
	f.Fuzz(func(t *testing.T, body, title, text string) {
		if title != clone.Seed && title != clone.Values && title != clone.Learned && title != clone.Evolution {
			title = clone.Learned
		}
		whole := "---\nname: bo\n---\n" + body
		p := parse(t, whole)
		if p.Text() != whole {
			t.Fatal("not the text that was parsed")
		}
		same, err := p.With(title, p.Section(title))
		if err != nil || string(same) != whole {
			t.Fatalf("setting the present text: %v, %q", err, same)
		}
		got, err := p.With(title, text)
		if err != nil {
			return
		}
		q := parse(t, string(got))
		if again, err := q.With(title, text); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("set again: %v\n%q\n%q", err, again, got)
		}
		// The text outside of the section stays before and after it.
		before, after := longestPrefix(whole, string(got)), longestPrefix(reversed(whole), reversed(string(got)))
		if lost := len(whole) - before - after; lost > len(p.Section(title)) {
			t.Fatalf("%d bytes changed of %q\n%q", lost, whole, got)
		}
	})
}

func longestPrefix(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func reversed(text string) string {
	b := []byte(text)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}
