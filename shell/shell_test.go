package shell_test

import (
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"stig/shell"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		`git push`:                        "git|push",
		`a\ b 'c d' "e f" g\\h`:           `a b|c d|e f|g\h`,
		`echo $X "$X/y" ${X}z`:            "echo|$X|$X/y|$Xz",
		`echo ${X:-y} $(ls) ${#X} $((1))`: "echo|$()|$()|$()|$()",
	} {
		file, err := shell.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := strings.Join(shell.Words(file.Stmts[0].Cmd.(*syntax.CallExpr).Args), "|"); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// What stands before a mistake runs, so it is given.
func TestStatementsBeforeAMistake(t *testing.T) {
	stmts, err := shell.Statements("ls\npwd\n)", syntax.LangBash)
	if len(stmts) != 2 || err == nil {
		t.Errorf("got %d statements, %v", len(stmts), err)
	}
}

func TestIsIncomplete(t *testing.T) {
	for text, want := range map[string]bool{
		"ls": false, "ls \\": true, `ls \\`: false, "if true": true, "cat <<END\nx": true, "ls )": false, "ls |": true,
	} {
		if got := shell.IsIncomplete(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestPrograms(t *testing.T) {
	for _, program := range []string{"sudo", "nohup", "env"} {
		if _, found := shell.RunnerOf(program); !found {
			t.Errorf("%s: is no runner", program)
		}
	}
	if r, _ := shell.RunnerOf("sudo"); !slices.Contains(strings.Fields(r.Valued), "user") {
		t.Errorf("sudo: options with a value: %q", r.Valued)
	}
	if _, found := shell.RunnerOf("git"); found || shell.IsShell("git") || shell.IsInterpreter("git") {
		t.Error("git: runs no command that is given to it")
	}
	if !shell.IsShell("bash") || !shell.IsInterpreter("python3.12") || !shell.IsInterpreter("node") {
		t.Error("bash is a shell, python3.12 and node are interpreters")
	}
}

// FuzzParse: no text makes the parser end the program.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"ls | wc -l", "cat <<E\nx\nE\n", "f() { :; }; f", "${x", "$((", "a=(b c)", "[[ -f x ]]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if file, err := shell.Parse(text); file == nil && err == nil {
			t.Errorf("%q: neither a file nor an error", text)
		}
		for _, language := range []syntax.LangVariant{syntax.LangBash, syntax.LangZsh} {
			stmts, _ := shell.Statements(text, language)
			for _, s := range stmts {
				if call, ok := s.Cmd.(*syntax.CallExpr); ok {
					shell.Words(call.Args)
				}
			}
		}
	})
}

// TestQuoted: what is quoted is one word of a shell, and a plain word stays as it is.
func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{
		"harbor-4ke.4": "harbor-4ke.4", "/tmp/a,b": "/tmp/a,b", "": "''", "two words": "'two words'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "~": "'~'", "é": "'é'",
	} {
		if got := shell.Quoted(word); got != want {
			t.Errorf("%q: got %s, want %s", word, got, want)
		}
	}
}
