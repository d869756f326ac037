package gate_test

import (
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"stig/internal/gate"
	"stig/internal/process"
	"stig/internal/visible"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		`git push`:                        "git|push",
		`a\ b 'c d' "e f" g\\h`:           `a b|c d|e f|g\h`,
		`echo $X "$X/y" ${X}z`:            "echo|$X|$X/y|$Xz",
		`echo ${X:-y} $(ls) ${#X} $((1))`: "echo|$()|$()|$()|$()",
	} {
		file, err := gate.ParseShell(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := strings.Join(gate.ShellWords(file.Stmts[0].Cmd.(*syntax.CallExpr).Args), "|"); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// TestCommands: every simple command, anywhere, up to the first syntax error.
func TestCommands(t *testing.T) {
	for text, want := range map[string]string{
		"ls\npwd\n)":                                                   "ls; pwd",
		"a && b || c | d & { e; }; (f)":                                "a; b; c; d; e; f",
		"if a; then b; else c; fi; while d; do e; done":                "a; b; c; d; e",
		`x=$(a) b "$(c)" <(d); f() { e; }`:                             "b $() $(); a; c; d; e",
		`cd a; bash -lc "cd b; c"; sh -c 'd' x; sh e -c f`:             "cd a; a: bash -lc cd b; c; a: cd b; a/b: c; a: sh -c d x; a: d; a: sh e -c f",
		"a > x 2>&1 >> y < z; > w":                                     "a >x >1 >y; >w",
		"cat <<E\n$(a)\nE":                                             "cat; a",
		"cd a; b; cd c && d; cd /e; f; cd -; g":                        "cd a; a: b; a: cd c; a/c: d; a/c: cd /e; /e: f; /e: cd -; g",
		"(cd a; b); c $(cd a); f() { cd a; }; d; cd $X; e; pushd a; g": "cd a; a: b; c $(); cd a; cd a; d; cd $X; e; pushd a; g",
	} {
		var got []string
		for _, c := range gate.Commands(text) {
			words := c.Words
			if c.Dir != "" {
				words = append([]string{c.Dir + ":"}, words...)
			}
			for _, file := range c.Writes {
				words = append(words, ">"+file)
			}
			got = append(got, strings.Join(words, " "))
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

// TestBounds: the parser recurses, and unbounded nesting would end the program.
func TestBounds(t *testing.T) {
	for _, text := range []string{"(", "$(", "{ ", "if ", "$[", "coproc ", "f()", "<<E $("} {
		for _, n := range []int{1 << 10, 1 << 16, 1 << 22} {
			start := time.Now()
			if _, err := gate.ParseShell(strings.Repeat(text, n/len(text))); err == nil && text != "f()" {
				t.Errorf("%d bytes of %s: no error", n, text)
			}
			if took := time.Since(start); took > 5*time.Second { // half a second; without bounds the stack overflows
				t.Errorf("%d bytes of %s: took %v", n, text, took)
			}
		}
	}
	if _, err := gate.ParseShell(strings.Repeat("echo {(a)} [b];", 4000)); err == nil {
		t.Error("a mistake is not seen")
	}
	if _, err := gate.ParseShell(strings.Repeat("(a); [ b ];", 4000)); err != nil {
		t.Error("what closes its brackets does not nest:", err)
	}
}

func TestIsIncomplete(t *testing.T) {
	for text, want := range map[string]bool{
		"ls": false, "ls \\": true, `ls \\`: false, "if true": true, "cat <<END\nx": true, "ls )": false, "ls |": true,
	} {
		if got := gate.IsIncomplete(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestShellPrograms(t *testing.T) {
	if !gate.IsRunner("sudo") || !gate.IsRunner("env") {
		t.Error("sudo and env run what is given to them")
	}
	if gate.IsRunner("git") || process.IsShell("git") {
		t.Error("git: runs no command that is given to it")
	}
	if !process.IsShell("bash") {
		t.Error("bash is a shell")
	}
}

// FuzzParse: no text crashes the parser.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"ls | wc -l", "cat <<E\nx\nE\n", "f() { :; }; f", "${x", "$((", "a=(b c)", "[[ -f x ]]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if file, err := gate.ParseShell(text); file == nil && err == nil {
			t.Errorf("%q: neither a file nor an error", text)
		}
		gate.Commands(text)
	})
}

// TestQuoted: quoting gives one shell word, and a plain word stays as it is.
func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"harbor-4ke.4": "harbor-4ke.4", "/tmp/a,b": "/tmp/a,b", "": "''", "two words": "'two words'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "~": "'~'", "é": "'é'",
	} {
		if got := visible.Quoted(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}
