package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/parser"
	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/lint"
)

const written = "<!-- Written by go test ./cmd/stig -run TestReference -update; do not edit. -->\n"

// TestReference fails if a page of docs/reference differs from the program: its commands, the
// schemas of its configuration and output, its rules. -update writes the pages.
func TestReference(t *testing.T) {
	schema := func(name string) string { return readFile(t, "..", "..", "schemas", "stig", name) }
	for name, page := range map[string]string{
		"commands.md":      commandPage(),
		"configuration.md": configurationPage(t, schema("config.cue")),
		"json.md":          jsonPage(t, schema("output.cue")),
		"rules.md":         rulePage(),
	} {
		path := fromHere("..", "..", "docs", "reference", name)
		if *update {
			if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if kept := readFile(t, path); kept != page {
			t.Errorf("run go test ./cmd/stig -run TestReference -update:\n%s", diff.Diff(name, []byte(kept), "what the program has", []byte(page)))
		}
	}
}

func commandPage() string {
	root := commandTree()
	var page strings.Builder
	page.WriteString("# Commands\n\n" + written + "\nWhat `stig help COMMAND` prints. All commands take these flags too:\n\n```text\n" +
		strings.TrimRight(root.PersistentFlags().FlagUsages(), "\n") + "\n```\n")
	for _, group := range root.Groups() {
		fmt.Fprintf(&page, "\n## %s\n", strings.TrimSuffix(group.Title, ":"))
		for _, cmd := range root.Commands() {
			if cmd.GroupID == group.ID {
				describe(&page, cmd)
			}
		}
	}
	return page.String()
}

// describe writes the help of a command and its subcommands.
func describe(page *strings.Builder, cmd *cobra.Command) {
	if !cmd.IsAvailableCommand() && cmd.Name() != "help" {
		return
	}
	var help bytes.Buffer
	cmd.InitDefaultHelpFlag()
	cmd.SetOut(&help)
	_ = cmd.Help()
	text, _, _ := strings.Cut(help.String(), "\nGlobal Flags:")
	text, _, _ = strings.Cut(text, "\nUse \"stig")
	fmt.Fprintf(page, "\n### %s\n\n%s.\n\n```text\n%s\n```\n", cmd.CommandPath(), capital(cmd.Short), strings.TrimRight(text, "\n"))
	for _, sub := range cmd.Commands() {
		describe(page, sub)
	}
}

func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func rulePage() string {
	var page strings.Builder
	page.WriteString("# Rules\n\n" + written + "\n`stig check` validates the store against these rules; `stig explain RULE` prints one.\n")
	for _, part := range []struct{ heading, command string }{
		{"Lines, sections and signals: `stig vet`", "vet"},
		{"Dependency cycles: `stig cycles`", "cycles"},
		{"Links, trails and criteria: `stig lint`", "lint"},
		{"Merges: `stig check` alone", "check"},
		{"Since a revision: `stig check --against REV`", "against"},
	} {
		fmt.Fprintf(&page, "\n## %s\n", part.heading)
		for _, rule := range lint.Of(part.command) {
			fmt.Fprintf(&page, "\n### %s\n\n%s: %s.\n\n%s\n\n```text\n%s\n```\n\nWhat to do: %s\n",
				rule.ID, capital(string(rule.Severity)), rule.Summary, rule.Why, strings.TrimRight(rule.Example, "\n"), rule.Fix)
		}
	}
	return page.String()
}

// definition is a definition of a schema: its name, its comment, its source.
type definition struct{ name, comment, source string }

func parts(t *testing.T, schema string) (all []definition) {
	t.Helper()
	parsed, err := parser.ParseFile("schema.cue", schema, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range parsed.Decls {
		if field, ok := decl.(*ast.Field); ok {
			name, _, _ := ast.LabelName(field.Label)
			all = append(all, definition{name, comment(field), schema[field.Pos().Offset():field.End().Offset()]})
		}
	}
	return all
}

// comment returns the comment above a field, as one line.
func comment(field *ast.Field) string {
	var words []string
	for _, group := range ast.Comments(field) {
		if group.Doc || group.Line {
			words = append(words, strings.Fields(group.Text())...)
		}
	}
	return strings.Join(words, " ")
}

func jsonPage(t *testing.T, schema string) string {
	var page strings.Builder
	page.WriteString("# JSON\n\n" + written + "\nWith `--json` a command prints one object, an error too. It begins with\n" +
		"`schema_version` and `kind`. More keys may come: read past those that you do not know.\n" +
		"`stig watch` prints an object for each event, one a line; so does `stig work`, whose last\n" +
		"line is its end. What checks print, warnings and hints go to standard error.\n" +
		"`stig schema output` prints all definitions as one CUE schema.\n")
	all := parts(t, schema)
	byName := map[string]definition{}
	for _, d := range all {
		byName[d.name] = d
	}
	parsed, err := parser.ParseFile("schema.cue", schema)
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{"#Kinds"}
	page.WriteString("\n## Kinds\n")
	for _, kind := range kindsOf(parsed) {
		d := byName[kind[1]]
		shown = append(shown, d.name)
		fmt.Fprintf(&page, "\n### %s\n\n", kind[0])
		writeDefinition(&page, d)
	}
	page.WriteString("\n## Parts\n")
	for _, d := range all {
		if !slices.Contains(shown, d.name) {
			fmt.Fprintf(&page, "\n### %s\n\n", strings.TrimPrefix(d.name, "#"))
			writeDefinition(&page, d)
		}
	}
	return page.String()
}

func writeDefinition(page *strings.Builder, d definition) {
	if d.comment != "" {
		page.WriteString(d.comment + "\n\n")
	}
	fmt.Fprintf(page, "```cue\n%s\n```\n", d.source)
}

// kinds returns the kinds of objects, each with its definition.
func kindsOf(schema *ast.File) (all [][2]string) {
	for _, decl := range schema.Decls {
		field, ok := decl.(*ast.Field)
		if !ok {
			continue
		}
		if name, _, _ := ast.LabelName(field.Label); name != "#Kinds" {
			continue
		}
		for _, e := range field.Value.(*ast.StructLit).Elts {
			kind, _, _ := ast.LabelName(e.(*ast.Field).Label)
			all = append(all, [2]string{kind, e.(*ast.Field).Value.(*ast.Ident).Name})
		}
	}
	return all
}

func configurationPage(t *testing.T, schema string) string {
	var page strings.Builder
	page.WriteString("# Configuration\n\n" + written + `
Everything works without configuration. Where there is some, flags count first, then
the environment, then the repository, then the user.

| file | holds |
|---|---|
| ` + "`.stig.cue`" + `, beside ` + "`.beads`" + ` | what the project decided |
| ` + "`stig/config.cue`, in the user's configuration directory (`~/.config`" + ` on Linux) | the same keys, for all projects of a user |
| ` + "`.beads/stig.json`" + ` | the server that has the store; [database.md](../database.md#what-can-be-set) has its keys |
| ` + "`stig/credentials`" + `, beside the user's configuration | passwords of servers |

Both first are CUE, and JSON is CUE too. ` + "`stig schema config`" + ` prints the schema, of which this is the list.

| key | takes | means |
|---|---|---|
`)
	parsed, err := parser.ParseFile("config.cue", schema, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range parsed.Decls {
		if field, ok := decl.(*ast.Field); ok {
			if name, _, _ := ast.LabelName(field.Label); name == "#Config" || name == "#View" {
				prefix := ""
				if name == "#View" {
					prefix = "views.NAME."
				}
				configurationKeys(t, &page, prefix, field.Value.(*ast.StructLit))
			}
		}
	}
	page.WriteString("\n`#Time` is a whole number of `s`, `m`, `h`, `d` or `w`.\n\n## Variables\n\n| variable | means |\n|---|---|\n")
	for _, v := range cli.Variables {
		fmt.Fprintf(&page, "| `%s` | %s |\n", v[0], v[1])
	}
	return page.String()
}

func configurationKeys(t *testing.T, page *strings.Builder, prefix string, in *ast.StructLit) {
	for _, e := range in.Elts {
		field, ok := e.(*ast.Field)
		if !ok {
			continue
		}
		name, _, err := ast.LabelName(field.Label)
		if err != nil { // [string]: of views
			continue
		}
		if below, ok := field.Value.(*ast.StructLit); ok && name != "views" {
			if about := comment(field); about != "" {
				fmt.Fprintf(page, "| `%s` | | %s |\n", prefix+name, about)
			}
			configurationKeys(t, page, prefix+name+".", below)
			continue
		}
		source, err := format.Node(field.Value)
		if err != nil {
			t.Fatal(err)
		}
		takes := strings.Join(strings.Fields(string(source)), " ")
		if name == "views" {
			takes = "a list of #View by name"
		}
		fmt.Fprintf(page, "| `%s` | `%s` | %s |\n", prefix+name, strings.ReplaceAll(takes, "|", `\|`), strings.ReplaceAll(comment(field), "|", `\|`))
	}
}

// commandTree returns the program's command tree.
func commandTree() *cobra.Command { return command(newApp()) }
