// Package stig_test checks the rules of the module that no compiler knows: which package may
// import which, what may use the process, and what may run before main. CONTRIBUTING.md gives
// the reasons.
package stig_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const modulePath = "stig"

// bands, from the bottom. A package imports packages of lower bands only; within a band a room
// imports the rooms inside it, groups of commands import cli, and main imports both.
var bands = [][]string{
	{"internal/fault", "internal/visible", "schemas"},
	{"internal/file", "internal/process", "internal/beads", "notes", "cue"},
	{"internal/forge", "internal/git", "internal/trace", "signals", "dag", "internal/store/mysql"},
	{"internal/store/jsonl", "internal/clone", "internal/gate", "internal/draw", "internal/swarm"},
	{"internal/store/sql", "internal/store/bd", "internal/merge", "internal/assistant", "orient", "checkpoint"},
	{"internal/journal", "internal/lint", "internal/project"},
	{"internal/workspace"},
	{"internal/service", "internal/service/traces"},
	{"internal/service/night"},
	{"internal/service/hooks", "internal/doctor", "internal/loop", "internal/loop/actors"},
	{"internal/board"},
	append([]string{command, cli}, groups...),
}

// groups are the packages of commands, one for each noun.
var groups = []string{"cmd/stig/issue", "cmd/stig/decide", "cmd/stig/check", "cmd/stig/graph", "cmd/stig/store", "cmd/stig/connect", "cmd/stig/traces", "cmd/stig/workers"}

const (
	command = "cmd/stig"
	// cli is shared by all commands.
	cli = "cmd/stig/cli"
	// testkit is shared by tests, which alone import it.
	testkit = "internal/testkit"
)

// top are the folders at the top level, beside those that other programs require.
var top = []string{"checkpoint", "cmd", "cue", "dag", "docs", "examples", "internal", "notes", "orient", "schemas", "signals"}

const (
	maxRooms    = 25 // folders directly under internal
	maxPackages = 47 // packages with production code
	maxFiles    = 28 // files in a folder, without tests: the most that an outline shows
)

// dependencies lists, for each library (or part of the standard one), the packages that may
// import it. "x" stands for x and everything below.
var dependencies = map[string][]string{
	"cuelang.org/go":                         {"cue"},
	"github.com/dominikbraun/graph":          {"dag", "internal/draw"},
	"github.com/fsnotify/fsnotify":           {"internal/store/jsonl"},
	"github.com/go-sql-driver/mysql":         {"internal/store/mysql"},
	"github.com/mdp/qrterminal":              {"cmd/stig/connect"},
	"github.com/modelcontextprotocol/go-sdk": {"cmd/stig/connect"},
	"github.com/pelletier/go-toml":           {"internal/assistant"},
	"github.com/rogpeppe/go-internal":        {"internal/workspace"},
	"github.com/spf13/cobra":                 commands,
	"github.com/spf13/pflag":                 commands,
	"github.com/tailscale/hujson":            {"internal/assistant"},
	"github.com/yuin/goldmark":               {"notes", "internal/board"},
	"golang.org/x/term":                      {cli},
	"mvdan.cc/sh":                            {"internal/gate"},
	"net/http":                               {"internal/service", "internal/board", "internal/forge"},
	"os/exec":                                {"internal/process"},
}

// commands are the packages that bind flags.
var commands = append([]string{command, cli}, groups...)

// optional libraries may be unused: cobra brings pflag, whether or not cmd/stig names its
// types.
var optional = []string{"github.com/spf13/pflag"}

// process lists what reaches beyond a function's arguments: command line, streams, environment,
// clock, exit code.
var process = map[string][]string{
	"os": {"Args", "Stdin", "Stdout", "Stderr", "Exit",
		"Getenv", "LookupEnv", "Environ", "ExpandEnv", "Setenv", "Unsetenv", "Clearenv",
		"UserHomeDir", "UserConfigDir", "UserCacheDir"},
	"time": {"Now", "Since", "Until"},
	"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
	"log":  {"*"},
	"flag": {"*"},
}

// lazy lists the calls allowed in the initialization of a package variable: they create a value
// and do no work.
var lazy = []string{"errors.New", "sync.OnceValue", "sync.OnceValues", "sync.OnceFunc"}

// errorTypes are the exported error types, each with what it carries besides place, reason and
// hint, for which there is fault.Error.
var errorTypes = map[string]string{
	"fault.Error":           "a code",
	"workspace.Ended":       "an exit code, after all is said",
	"signals.InvalidError":  "findings",
	"notes.Error":           "a line and a column of notes",
	"checkpoint.IssueError": "whose notes the error inside is about",
	"checkpoint.BatchError": "which of several drafts",
	"git.RejectedError":     "what git and hooks printed",
}

// pkg is one package of the module, without its test files.
type pkg struct {
	name  string // import path within the module: "cmd/stig"
	doc   bool   // has a package comment
	files []file
}

type file struct {
	path string
	ast  *ast.File
	fset *token.FileSet
}

// TestEveryPackageHasABand also fails for a band with a missing package.
func TestEveryPackageHasABand(t *testing.T) {
	known := slices.Concat(bands...)
	var found []string
	for _, p := range module(t) {
		found = append(found, p.name)
		if !slices.Contains(known, p.name) {
			t.Errorf("%s: package without a band: give it one in house_test.go, and a place in the picture of CONTRIBUTING.md", p.name)
		}
	}
	for _, name := range known {
		if !slices.Contains(found, name) {
			t.Errorf("%s: in the bands, but there is no such package", name)
		}
	}
}

// TestTopLevel also counts the rooms under internal, and all packages.
func TestTopLevel(t *testing.T) {
	if got := foldersIn(t, "."); !slices.Equal(got, top) {
		t.Errorf("the folders of the top level are %q, want %q: what serves them is under internal", got, top)
	}
	if got := foldersIn(t, "internal"); len(got) > maxRooms {
		t.Errorf("%d folders under internal, at most %d", len(got), maxRooms)
	}
	if got := module(t); len(got) > maxPackages {
		t.Errorf("%d packages, at most %d", len(got), maxPackages)
	}
}

// foldersIn lists the folders with files of the repository, without hidden ones.
func foldersIn(t *testing.T, dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestImportsPointDown(t *testing.T)                { hold(t, importsPointDown) }
func TestOnlyTheCommandTouchesTheProcess(t *testing.T) { hold(t, touchesProcess) }
func TestNothingRunsBeforeMain(t *testing.T)           { hold(t, runsBeforeMain) }
func TestFoldersAreSmall(t *testing.T)                 { hold(t, foldersAreSmall) }
func TestErrorTypesAreFew(t *testing.T)                { hold(t, ownErrors) }
func TestPackagesAreDescribed(t *testing.T)            { hold(t, undescribed) }

// TestDependenciesHaveNamedImporters fails for a library imported by a package that may not,
// for one not imported by a package that may, and for one without a line.
func TestDependenciesHaveNamedImporters(t *testing.T) {
	imported := map[string]bool{} // library and importer
	for _, p := range module(t) {
		for _, problem := range wrongImporter(p) {
			t.Error(problem)
		}
		for _, f := range p.files {
			for _, spec := range f.ast.Imports {
				imported[dependency(importPath(spec))+" "+p.name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dependencies)) {
		for _, owner := range dependencies[name] {
			if !imported[name+" "+owner] && !slices.Contains(optional, name) {
				t.Errorf("%s: %s does not import it: drop the dependency or use it", name, owner)
			}
		}
	}
}

// TestRulesCatch breaks each rule on purpose.
func TestRulesCatch(t *testing.T) {
	tests := []struct {
		pkg, src string
		rule     func(pkg) []string
		want     string // "" if the source is fine
	}{
		{"notes", `import "stig/internal/beads"`, importsPointDown, "notes imports internal/beads, which is not in a lower band"},
		{"dag", `import "stig/orient"`, importsPointDown, "dag imports orient"},
		{"internal/loop", `import "stig/internal/loop/actors"`, importsPointDown, ""},
		{"internal/loop/actors", `import "stig/internal/loop"`, importsPointDown, "not in a lower band"},
		{"cmd/stig/issue", `import "stig/cmd/stig/cli"`, importsPointDown, ""},
		{"cmd/stig/issue", `import "stig/cmd/stig/graph"`, importsPointDown, "not in a lower band"},
		{cli, `import "stig/cmd/stig/graph"`, importsPointDown, "not in a lower band"},
		{"signals", `import ("stig/cue"; "stig/notes")`, importsPointDown, ""},
		{"signals", `import "stig/internal/testkit/sample"`, importsPointDown, "which is for tests"},
		{"misc", `import "stig/notes"`, importsPointDown, ""}, // has no band: another test says so

		{"lint", `import "os/exec"`, wrongImporter, "only internal/process may import os/exec"},
		{"lint", `import "mvdan.cc/sh/v3/syntax"`, wrongImporter, "only internal/gate may import mvdan.cc/sh"},
		{"lint", `import "example.org/new/thing"`, wrongImporter, "example.org/new/thing is in no line"},
		{"internal/gate", `import "mvdan.cc/sh/v3/syntax"`, wrongImporter, ""},
		{"internal/process", `import "os/exec"`, wrongImporter, ""},
		{"internal/beads", `import "golang.org/x/sys/unix"`, wrongImporter, ""},
		{"internal/beads", `import "golang.org/x/term"`, wrongImporter, "only cmd/stig/cli may import golang.org/x/term"},

		{"lint", `import "os"; func f() { os.Exit(1) }`, touchesProcess, "os.Exit"},
		{"lint", `import "os"; func f() any { return os.Args }`, touchesProcess, "os.Args"},
		{"lint", `import sys "os"; func f() any { return sys.Stdout }`, touchesProcess, "os.Stdout"},
		{"lint", `import . "os"; func f() any { return Stdout }`, touchesProcess, "dot import of os"},
		{"lint", `import "time"; func f() any { return time.Now }`, touchesProcess, "time.Now"},
		{"lint", `import "fmt"; func f() { fmt.Println() }`, touchesProcess, "fmt.Println"},
		{"lint", `import "log"; func f() { log.Print() }`, touchesProcess, "log.Print"},
		{"lint", `func f() { println() }`, touchesProcess, "println"},
		{"lint", `import "os"; func f() (*os.File, error) { return os.Open("x") }`, touchesProcess, ""},
		{"lint", `type clock struct{}; func (clock) Now() {}; func f(time clock) { time.Now() }`, touchesProcess, ""},
		{command, `import "os"; func f() { os.Exit(1) }`, touchesProcess, ""},

		{"lint", `func init() {}`, runsBeforeMain, "func init"},
		{command, `func init() {}`, runsBeforeMain, "func init"},
		{"lint", `type T struct{}; func (T) init() {}`, runsBeforeMain, ""},
		{"lint", `import "regexp"; var r = regexp.MustCompile("x")`, runsBeforeMain, "r calls regexp.MustCompile"},
		{"lint", `import "regexp"; var m = map[string]any{"x": regexp.MustCompile("x")}`, runsBeforeMain, "m calls regexp.MustCompile"},
		{"lint", `var f = func() int { return 1 }()`, runsBeforeMain, "f calls a function literal"},
		{"lint", `var cache map[string]int`, runsBeforeMain, "cache has no initial value"},
		{"lint", `import "sync"; var mu sync.Mutex`, runsBeforeMain, "mu has no initial value"},
		{"lint", `import "errors"; var ErrNone = errors.New("none")`, runsBeforeMain, ""},
		{"lint", `import ("regexp"; "sync"); var r = sync.OnceValue(func() any { return regexp.MustCompile("x") })`, runsBeforeMain, ""},
		{"lint", "import _ \"embed\"\n//go:embed x\nvar text string", runsBeforeMain, ""},
		{"lint", `var _ error = (*T)(nil); var words = []string{"a"}; var b = []byte("x")`, runsBeforeMain, ""},

		{"lint", "", of(29, foldersAreSmall), "lint: 29 files, at most 28"},
		{"lint", "", of(28, foldersAreSmall), ""},
		{"lint", "", undescribed, "no package comment"},

		{"lint", `type E struct{}; func (*E) Error() string { return "" }`, ownErrors, "lint.E is one more type of error"},
		{"lint", `type e struct{}; func (e) Error() string { return "" }`, ownErrors, ""},
		{"notes", `type Error struct{}; func (*Error) Error() string { return "" }`, ownErrors, ""},
	}
	for _, test := range tests {
		p := pkg{name: test.pkg, files: []file{parse(t, "x.go", "package x\n"+test.src)}}
		got := strings.Join(test.rule(p), "\n")
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %s\n got %q\nwant %q", test.pkg, strings.TrimSpace(test.src), got, test.want)
		}
	}
}

// of is a rule about a package with its file so many times.
func of(files int, rule func(pkg) []string) func(pkg) []string {
	return func(p pkg) []string {
		p.files = slices.Repeat(p.files, files)
		return rule(p)
	}
}

func hold(t *testing.T, rule func(pkg) []string) {
	for _, p := range module(t) {
		for _, problem := range rule(p) {
			t.Error(problem)
		}
	}
}

func importsPointDown(p pkg) (problems []string) {
	own := band(p.name)
	for _, f := range p.files {
		for _, spec := range f.ast.Imports {
			name, ours := strings.CutPrefix(importPath(spec), modulePath+"/")
			switch {
			case !ours || own < 0:
			case name == testkit || strings.HasPrefix(name, testkit+"/"):
				problems = append(problems, f.at(spec, "%s imports %s, which is for tests", p.name, name))
			case band(name) < own || band(name) == own && isInside(name, p.name):
			default:
				problems = append(problems, f.at(spec, "%s imports %s, which is not in a lower band", p.name, name))
			}
		}
	}
	return problems
}

// isInside reports whether a room may import another of the same band.
func isInside(room, importer string) bool {
	switch {
	case importer == command:
		return true
	case slices.Contains(groups, importer):
		return room == cli
	}
	return strings.HasPrefix(room, importer+"/")
}

// band is -1 for a package without one.
func band(name string) int {
	return slices.IndexFunc(bands, func(names []string) bool { return slices.Contains(names, name) })
}

func wrongImporter(p pkg) (problems []string) {
	for _, f := range p.files {
		for _, spec := range f.ast.Imports {
			name := dependency(importPath(spec))
			owners, listed := dependencies[name]
			if listed && !slices.Contains(owners, p.name) {
				problems = append(problems, f.at(spec, "%s imports %s: only %s may import %s", p.name, importPath(spec), strings.Join(owners, ", "), name))
			}
			first, _, _ := strings.Cut(name, "/")
			if !listed && strings.Contains(first, ".") && !strings.HasPrefix(name, "golang.org/x/") {
				problems = append(problems, f.at(spec, "%s is in no line of dependencies in house_test.go: name its importer there", name))
			}
		}
	}
	return problems
}

// dependency is the key of dependencies that covers an import path, or the path itself.
func dependency(imported string) string {
	for name := imported; name != "."; name = path.Dir(name) {
		if _, listed := dependencies[name]; listed {
			return name
		}
	}
	return imported
}

func touchesProcess(p pkg) (problems []string) {
	if p.name == command || p.name == cli {
		return nil
	}
	for _, f := range p.files {
		imports := map[string]string{} // name in the file → path
		for _, spec := range f.ast.Imports {
			name := path.Base(importPath(spec))
			if spec.Name != nil {
				name = spec.Name.Name
			}
			if name == "." && process[importPath(spec)] != nil {
				problems = append(problems, f.at(spec, "dot import of %s hides what is used of it", importPath(spec)))
			}
			imports[name] = importPath(spec)
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				from, ok := n.X.(*ast.Ident)
				if !ok {
					break
				}
				names := process[imports[from.Name]]
				if slices.Contains(names, n.Sel.Name) || slices.Contains(names, "*") {
					problems = append(problems, f.at(n, "%s.%s: only %s may touch the process; take it as an argument", imports[from.Name], n.Sel.Name, command))
				}
			case *ast.CallExpr:
				if callee, ok := n.Fun.(*ast.Ident); ok && (callee.Name == "print" || callee.Name == "println") {
					problems = append(problems, f.at(n, "%s writes to the standard error", callee.Name))
				}
			}
			return true
		})
	}
	return problems
}

func runsBeforeMain(p pkg) (problems []string) {
	for _, f := range p.files {
		for _, decl := range f.ast.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Name.Name == "init" && decl.Recv == nil {
					problems = append(problems, f.at(decl, "func init: call it by name from where it is needed"))
				}
			case *ast.GenDecl:
				if decl.Tok == token.VAR {
					problems = append(problems, workingVariables(f, decl)...)
				}
			}
		}
	}
	return problems
}

func workingVariables(f file, decl *ast.GenDecl) (problems []string) {
	for _, spec := range decl.Specs {
		spec := spec.(*ast.ValueSpec)
		name := spec.Names[0].Name
		if len(spec.Values) == 0 && !embeds(decl.Doc) && !embeds(spec.Doc) {
			problems = append(problems, f.at(spec, "package variable %s has no initial value, so something assigns it later: pass it as an argument", name))
		}
		for _, value := range spec.Values {
			ast.Inspect(value, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && !makesOnly(call) {
					problems = append(problems, f.at(call, "package variable %s calls %s: make it a function, or wrap it in sync.OnceValue", name, callee(call)))
				}
				_, function := n.(*ast.FuncLit)
				return !function
			})
		}
	}
	return problems
}

// makesOnly reports whether a call is a conversion to an unnamed type, or lazy.
func makesOnly(call *ast.CallExpr) bool {
	switch call.Fun.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.ParenExpr:
		return true
	}
	return slices.Contains(lazy, callee(call))
}

func callee(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
		return f.Sel.Name
	case *ast.FuncLit:
		return "a function literal"
	}
	return "something"
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

func foldersAreSmall(p pkg) []string {
	if len(p.files) <= maxFiles {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d files, at most %d: give each idea one file, or an idea a folder of its own", p.name, len(p.files), maxFiles)}
}

// ownErrors finds exported error types missing from errorTypes.
func ownErrors(p pkg) (problems []string) {
	for _, f := range p.files {
		for _, d := range f.ast.Decls {
			method, ok := d.(*ast.FuncDecl)
			if !ok || method.Recv == nil || method.Name.Name != "Error" || len(method.Type.Params.List) > 0 {
				continue
			}
			of := method.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			name, ok := of.(*ast.Ident)
			if !ok || !name.IsExported() {
				continue
			}
			if full := path.Base(p.name) + "." + name.Name; errorTypes[full] == "" {
				problems = append(problems, f.at(d, "%s is one more type of error: a fault.Error has a code, a place, a reason, a hint, and wraps a sentinel", full))
			}
		}
	}
	return problems
}

func undescribed(p pkg) []string {
	if !p.doc {
		return []string{p.name + ": no package comment: say its purpose, what it does not know, and one example"}
	}
	return nil
}

func (f file) at(n ast.Node, format string, args ...any) string {
	pos := f.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d:%d: ", f.path, pos.Line, pos.Column) + fmt.Sprintf(format, args...)
}

func importPath(spec *ast.ImportSpec) string {
	unquoted, _ := strconv.Unquote(spec.Path.Value)
	return unquoted
}

// module lists the packages with more than tests, for every operating system, including files
// that the current one ignores.
func module(t *testing.T) []pkg {
	t.Helper()
	listed, err := list()
	if err != nil {
		t.Fatal(err)
	}
	var all []pkg
	for _, l := range listed {
		p := pkg{name: strings.TrimPrefix(l.ImportPath, modulePath+"/"), doc: l.Doc != ""}
		if strings.HasPrefix(p.name, testkit+"/") {
			continue
		}
		for _, name := range slices.Concat(l.GoFiles, l.CgoFiles, l.IgnoredGoFiles) {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			full := filepath.Join(l.Dir, name)
			src, err := os.ReadFile(full)
			if err != nil {
				t.Fatal(err)
			}
			p.files = append(p.files, parse(t, p.name+"/"+name, string(src)))
		}
		if len(p.files) > 0 {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		t.Fatal("go list found no packages")
	}
	return all
}

func parse(t *testing.T, name, src string) file {
	t.Helper()
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file{path: name, ast: parsed, fset: fset}
}

type listedPackage struct {
	Dir, ImportPath, Doc              string
	GoFiles, CgoFiles, IgnoredGoFiles []string
}

var list = sync.OnceValues(func() ([]listedPackage, error) {
	out, err := exec.Command("go", "list", "-e", "-json=Dir,ImportPath,Doc,GoFiles,CgoFiles,IgnoredGoFiles", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []listedPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p listedPackage
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
})

// TestPicture compares the picture in CONTRIBUTING.md with bands, highest first, each with its
// packages, and in brackets the libraries that dependencies restricts to them.
func TestPicture(t *testing.T) {
	want := slices.Clone(bands)
	slices.Reverse(want)
	got := picture(t)
	for i := range max(len(want), len(got)) {
		var names, drawn []string
		if i < len(want) {
			names = slices.Sorted(slices.Values(want[i]))
		}
		if i < len(got) {
			drawn = slices.Sorted(maps.Keys(got[i]))
		}
		if !slices.Equal(names, drawn) {
			t.Errorf("CONTRIBUTING.md: band %d of the picture is %q, want %q", i+1, drawn, names)
		}
		for _, name := range drawn {
			if libraries := librariesOf(name); !slices.Equal(got[i][name], libraries) {
				t.Errorf("CONTRIBUTING.md: %s: in brackets stands %q, want %q", name, got[i][name], libraries)
			}
		}
	}
}

// librariesOf lists what a package may import and others may not, by the names in the picture.
func librariesOf(name string) (libraries []string) {
	for library, owners := range dependencies {
		if !slices.Contains(owners, name) || slices.Contains(optional, library) {
			continue
		}
		libraries = append(libraries, strings.TrimPrefix(library, "github.com/"))
	}
	slices.Sort(libraries)
	return libraries
}

// picture parses the first block of CONTRIBUTING.md: the packages of each band, and the
// brackets after them.
func picture(t *testing.T) (drawn []map[string][]string) {
	_, rest, _ := strings.Cut(contributing(t), "```\n")
	block, _, _ := strings.Cut(rest, "```")
	line := regexp.MustCompile(`^(\S+) .*?(?: \[(.+)\])?$`)
	drawn = append(drawn, map[string][]string{})
	for text := range strings.Lines(block) {
		if strings.HasPrefix(text, "──") {
			drawn = append(drawn, map[string][]string{})
			continue
		}
		found := line.FindStringSubmatch(strings.TrimRight(text, "\n"))
		if found == nil {
			t.Fatalf("CONTRIBUTING.md: %q is no package of the picture", text)
		}
		var libraries []string
		if found[2] != "" {
			libraries = strings.Split(found[2], ", ")
		}
		drawn[len(drawn)-1][found[1]] = libraries
	}
	return drawn
}

func contributing(t *testing.T) string {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 12_000 {
		t.Errorf("CONTRIBUTING.md: %d bytes, at most 12000", len(text))
	}
	return string(text)
}

// elsewhere lists what looks like a path of this repository in CONTRIBUTING.md and does not
// exist.
var elsewhere = []string{".stig.cue", "net/http", "os/exec", "*_e2e_test.go"}

// TestPathsInContributing: every file and folder named in backticks in CONTRIBUTING.md exists.
// A capitalized word in a name, as in format_NAME.go, is a placeholder.
func TestPathsInContributing(t *testing.T) {
	_, prose, _ := strings.Cut(contributing(t), "```\n") // the picture has a test of its own
	_, prose, _ = strings.Cut(prose, "```\n")
	files := map[string]bool{} // by name, without folders
	listed, err := list()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range listed {
		names, err := filepath.Glob(filepath.Join(l.Dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			files[filepath.Base(name)] = true
		}
	}
	looks := regexp.MustCompile(`^(?:[\w.*-]+/)*[\w*-]+\.(?:go|cue|md|txt|svg|yml|json|txtar)$|^\.?[\w.-]+(?:/[\w.*-]+)+/?$`)
	capitals := regexp.MustCompile(`\b[A-Z]{2,}\b|(_)[A-Z]{2,}`)
	paths := 0
	for _, span := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(prose, -1) {
		for word := range strings.FieldsSeq(span[1]) {
			name := strings.TrimPrefix(word, "./")
			if !looks.MatchString(name) || slices.Contains(elsewhere, name) || strings.HasPrefix(name, "-") {
				continue
			}
			paths++
			found, err := filepath.Glob(filepath.FromSlash(capitals.ReplaceAllString(name, "$1*")))
			if err != nil {
				t.Fatal(err)
			}
			if len(found) == 0 && !files[name] {
				t.Errorf("CONTRIBUTING.md: `%s` is not there", word)
			}
		}
	}
	if paths < 50 {
		t.Errorf("only %d paths were found", paths)
	}
}

// TestOneWayToClose validates that issues are closed in one place, which has
// evidence for it: Tx.Set and Tx.Add refuse the status (package beads), and what
// MarkClosed is given comes from evidence that package gate alone can make.
// PutBack writes what the journal says that the store held: package journal alone
// calls it.
func TestOneWayToClose(t *testing.T) {
	var callers []string
	for _, p := range module(t) {
		callers = append(callers, closers(p)...)
	}
	callers = slices.DeleteFunc(callers, func(c string) bool {
		return strings.HasPrefix(c, "internal/journal/") && strings.Contains(c, "PutBack")
	})
	if len(callers) != 1 || !strings.HasPrefix(callers[0], "checkpoint/close.go:") || !strings.HasSuffix(callers[0], " in Close") {
		t.Errorf("issues must be closed in Close of checkpoint/close.go alone; they are in %q", callers)
	}
	tests := map[string]int{
		`func f(tx *Tx) { tx.MarkClosed("a", "b") }`:                           1,
		`func f(tx *Tx) { g(tx.MarkClosed) }`:                                  1,
		`func f(tx *Tx) { tx.Set("a"); func() { tx.MarkClosed("a", "b") }() }`: 1,
		`func f(tx *Tx) { tx.PutBack("a", g) }`:                                1,
		`func f(tx *Tx) { tx.Close() }`:                                        0,
	}
	for src, want := range tests {
		if got := closers(pkg{name: "lint", files: []file{parse(t, "x.go", "package x\n"+src)}}); len(got) != want {
			t.Errorf("%s: %q, want %d", src, got, want)
		}
	}
}

// closers are the places that name MarkClosed or PutBack, each with its function.
func closers(p pkg) (places []string) {
	for _, f := range p.files {
		for _, decl := range f.ast.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				named, ok := n.(*ast.SelectorExpr)
				if !ok || named.Sel.Name != "MarkClosed" && named.Sel.Name != "PutBack" {
					return true
				}
				where := "outside of a function"
				if function, ok := decl.(*ast.FuncDecl); ok {
					where = "in " + function.Name.Name
				}
				places = append(places, f.at(named, "%s %s", named.Sel.Name, where))
				return true
			})
		}
	}
	return places
}

// TestOneWayToOpen validates that commands get stores from one place: what opened a
// file itself would write without the journal, and without telling bd.
func TestOneWayToOpen(t *testing.T) {
	var places []string
	for _, p := range module(t) {
		places = append(places, openers(p)...)
	}
	if len(places) != 1 || !strings.HasPrefix(places[0], "internal/workspace/store.go:") {
		t.Errorf("stores must be opened in internal/workspace/store.go alone; they are in %q", places)
	}
	if got := openers(pkg{name: "lint", files: []file{parse(t, "x.go", "package x\nvar s = jsonl.Open(p)")}}); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// openers are the places that name jsonl.Open.
func openers(p pkg) (places []string) {
	for _, f := range p.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if named, ok := n.(*ast.SelectorExpr); ok && named.Sel.Name == "Open" {
				if from, ok := named.X.(*ast.Ident); ok && from.Name == "jsonl" {
					places = append(places, f.at(named, "jsonl.Open"))
				}
			}
			return true
		})
	}
	return places
}
