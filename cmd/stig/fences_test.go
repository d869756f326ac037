package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// ranBy maps a document, and the info string of its blocks, to the test that runs them.
var ranBy = map[string]string{
	"README.md sh":                "TestSetUp",
	"docs/ci.md sh":               "TestPipelineDocument",
	"docs/database.md sh":         "TestFromOneMachineToATeam",
	"examples/swarm/README.md sh": "TestSwarmExample",
}

// mostUnrun is how many blocks in all documents may be marked as unrun.
const mostUnrun = 7

// TestNoBlockEscapes fails for a block of commands that no test runs. A block that cannot be
// run says why in its info string, as in "sh unrun: needs a model".
func TestNoBlockEscapes(t *testing.T) {
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, name := range tests {
		sources.WriteString(readFile(t, name))
	}
	for _, test := range ranBy {
		if !strings.Contains(sources.String(), "func "+test+"(t *testing.T)") {
			t.Errorf("no %s", test)
		}
	}
	var unrun []string
	for _, name := range documents(t) {
		for _, b := range codeBlocks(readFile(t, "..", "..", filepath.FromSlash(name))) {
			if _, why, ok := strings.Cut(b.info, "unrun: "); ok && why != "" {
				unrun = append(unrun, name+": "+b.info)
			} else if problem := escapes(name, b); problem != "" {
				t.Errorf("%s: %s: %s\n%s", name, b.info, problem, b.text)
			}
		}
	}
	if len(unrun) > mostUnrun {
		t.Errorf("%d blocks are not run, at most %d may be:\n%s", len(unrun), mostUnrun, strings.Join(unrun, "\n"))
	}
}

// TestSamplesAreRaw fails if a sample for newcomers sets the clock, trust or a name, or
// truncates the output of stig, or if README is longer than two screens of 60 lines.
func TestSamplesAreRaw(t *testing.T) {
	plumbing := regexp.MustCompile(`(?m)^\$ .*(STIG_\w+=|\| *(sed|cut|head|tail|grep)\b|2>).*`)
	for _, name := range asMara {
		text := readFile(t, "..", "..", filepath.FromSlash(name))
		for _, b := range codeBlocks(text) {
			if found := plumbing.FindString(b.text); found != "" {
				t.Errorf("%s: %s", name, found)
			}
		}
		if lines := strings.Count(text, "\n"); name == "README.md" && lines > 120 {
			t.Errorf("%s: %d lines", name, lines)
		}
	}
}

// TestEscapes breaks the rule on purpose.
func TestEscapes(t *testing.T) {
	for source, escaped := range map[string]bool{
		"```console\n$ stig ready\n```\n":                      false,
		"```console empty\n$ stig init\n```\n":                 false,
		"```console later\n$ stig ready\n```\n":                true,
		"- in a list\n\n  ```console\n  $ stig ready\n  ```\n": true, // the test does not find it there
		"```sh\nmake\n```\n":                                   true,
		"```\nstig ready\n```\n":                               true,
		"```text\n$ ls\n```\n":                                 true,
		"text\n\n    stig ready\n":                             true,
		"text\n\n    go test ./...\n":                          false,
		"```json\n{}\n```\n":                                   false,
	} {
		blocks := codeBlocks(source)
		if len(blocks) != 1 || (escapes("docs/x.md", blocks[0]) != "") != escaped {
			t.Errorf("%q: escapes %t", source, !escaped)
		}
	}
}

// codeBlock is a code block of a document, fenced or indented.
type codeBlock struct {
	info, text string
	top        bool // in no list or quotation
}

func codeBlocks(source string) (blocks []codeBlock) {
	raw := []byte(source)
	walk(raw, func(n ast.Node) {
		b := codeBlock{top: n.Parent() != nil && n.Parent().Kind() == ast.KindDocument}
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			if n.Info != nil {
				b.info = string(n.Info.Value(raw))
			}
		case *ast.CodeBlock:
		default:
			return
		}
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			b.text += string(line.Value(raw))
		}
		blocks = append(blocks, b)
	})
	return blocks
}

func walk(source []byte, visit func(ast.Node)) {
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			visit(n)
		}
		return ast.WalkContinue, nil
	})
}

// escapes returns why no test runs a block; "" if one does, or if the block contains no
// commands.
func escapes(document string, b codeBlock) string {
	language, _, _ := strings.Cut(b.info, " ")
	switch {
	case strings.HasPrefix(document, "docs/reference/"): // TestReference writes all of it
		return ""
	case language == "console" && b.top && slices.Contains([]string{"console", "console empty", "console continued"}, b.info):
		return ""
	case language == "console":
		return "TestDocuments runs console, console empty and console continued, at the margin"
	case slices.Contains([]string{"sh", "bash", "zsh", "shell"}, language):
		if ranBy[document+" "+b.info] == "" {
			return "no test runs it: make it a console block, or name the test in ranBy"
		}
	case holdsCommands.MatchString(b.text):
		return "it holds commands: make it a console block"
	}
	return ""
}

var holdsCommands = regexp.MustCompile(`(?m)^(\$ |stig [^ ])`)

// TestInlineCommands validates each `stig …` in the text of the documents: the command and its
// flags must exist.
func TestInlineCommands(t *testing.T) {
	root := commandTree()
	for _, name := range documents(t) {
		source := []byte(readFile(t, "..", "..", filepath.FromSlash(name)))
		walk(source, func(n ast.Node) {
			span, ok := n.(*ast.CodeSpan)
			if !ok {
				return
			}
			if line := spanText(span, source); strings.HasPrefix(line, "stig ") {
				if problem := unknown(root, line); problem != "" {
					t.Errorf("%s: `%s`: %s", name, line, problem)
				}
			}
		})
	}
}

// unknown returns the part of a command line that stig does not have.
func unknown(root *cobra.Command, line string) string {
	line, _, _ = strings.Cut(line+" ", " -- ")
	words := strings.Fields(line)[1:]
	if i := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w, "|;&<>") }); i >= 0 {
		words = words[:i]
	}
	cmd := root
	for i, word := range words {
		switch name, _, _ := strings.Cut(strings.TrimPrefix(word, "["), "="); {
		case strings.HasPrefix(name, "--"):
			name = strings.Trim(name, "-],")
			cmd.InitDefaultHelpFlag()
			if cmd.Flag(name) == nil && cmd.InheritedFlags().Lookup(name) == nil {
				return "no flag --" + name
			}
		case strings.HasPrefix(word, "-"):
		case i > 0 && strings.HasPrefix(words[i-1], "-"): // the flag's value
		default:
			if sub, _, err := cmd.Find([]string{word}); err == nil && sub != cmd {
				cmd = sub
			} else if cmd.HasSubCommands() && !cmd.Runnable() || cmd == root {
				return "no command " + word
			}
		}
	}
	return ""
}

func spanText(span *ast.CodeSpan, source []byte) string {
	var typed strings.Builder
	for c := span.FirstChild(); c != nil; c = c.NextSibling() {
		if part, ok := c.(*ast.Text); ok {
			typed.Write(part.Segment.Value(source))
		}
	}
	return typed.String()
}
