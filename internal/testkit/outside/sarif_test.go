package outside

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/xeipuuv/gojsonschema"
)

// awkward is text that a log must escape: any part of it may come from users.
const awkward = `{"id":"odd-1","title":"t","notes":"<!-- stigmergic-signals -->\n| Signal | Value | Updated |\n|---|---|---|\n| surprise | <b>&\"'%,:\u001b]]> é \ud83d\ude00 | 2026-11-01 |\n| mood\u0000 | ` + "\u0085" + ` | soon |\n<!-- /stigmergic-signals -->"}
{"id":"odd-2","title":"t","status":"closed","close_reason":"::error::\r"}
{"id":"odd-3","title":"t","status":"open","dependencies":[{"issue_id":"odd-3","depends_on_id":"odd-3","type":"blocks"},{"issue_id":"odd-3","depends_on_id":"a b\n]]>","type":"blocks"}]}
<<<<<<< ` + "\xff" + `
{"cut`

// TestSARIF validates logs against the published JSON schema of SARIF 2.1.0.
func TestSARIF(t *testing.T) {
	schema := publishedSchema(t)
	harbor, err := os.ReadFile(filepath.Join(root, "examples", "harbor", ".beads", "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var log string
	for name, lines := range map[string]string{"awkward": awkward, "empty": "", "harbor": string(harbor), "one": `{"id":"a-1","title":"t","status":"open","dependencies":[{"issue_id":"a-1","depends_on_id":"a-1","type":"blocks"}]}` + "\n"} {
		out, err := newStore(t, lines).command("mara", morning, "check", "--format", "sarif").Output()
		var ended *exec.ExitError
		if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != 1) {
			t.Fatalf("%s: %v", name, err)
		}
		if err := valid(schema, string(out)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "one" {
			log = string(out)
		}
	}
	for _, broken := range [][2]string{
		{`"2.1.0"`, `"2.2.0"`}, {`"level": "error"`, `"level": "bad"`}, {`"startLine": 1`, `"startLine": 0`},
		{`"startLine": 1`, `"start": 1`}, {`"name": "stig"`, `"title": "stig"`},
	} {
		if text := strings.Replace(log, broken[0], broken[1], 1); text == log || valid(schema, text) == nil {
			t.Errorf("taken for valid with %s:\n%s", broken[1], text)
		}
	}
}

func valid(schema *gojsonschema.Schema, text string) error {
	result, err := schema.Validate(gojsonschema.NewStringLoader(text))
	if err != nil || result.Valid() {
		return err
	}
	return fmt.Errorf("%v", result.Errors())
}

// publishedSchema is the schema that OASIS publishes, from the sources of the sarif package.
// What that package exports validates only its own structs, not text.
func publishedSchema(t *testing.T) *gojsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", reflect.TypeFor[sarif.Report]().PkgPath()).Output()
	if err != nil {
		t.Fatal(err)
	}
	source, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var text string
	ast.Inspect(source, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err = strconv.Unquote(literal.Value)
		}
		return true
	})
	if err != nil || !strings.Contains(text, `"$schema": "http://json-schema.org/draft-04/schema#"`) {
		t.Fatalf("no schema of SARIF 2.1.0 in the sources of the sarif package: %v", err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewStringLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	return schema
}
