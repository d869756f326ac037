package stig_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPicture compares the picture of CONTRIBUTING.md with the tables of layers_test.go:
// its bands, the highest first, each with its packages; behind them what has no Go but
// tests; in brackets the libraries of each package that dependencies restricts.
func TestPicture(t *testing.T) {
	want := slices.Concat(bands, [][]string{onlyTests(t)})
	slices.Reverse(want[:len(bands)])
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

// onlyTests lists the packages that module leaves out.
func onlyTests(t *testing.T) (names []string) {
	listed, err := list()
	if err != nil {
		t.Fatal(err)
	}
	known := module(t)
	for _, l := range listed {
		name := strings.TrimPrefix(l.ImportPath, modulePath+"/")
		if !slices.ContainsFunc(known, func(p pkg) bool { return p.name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// librariesOf lists what a package may import that others may not, by the names in the picture.
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

// picture reads the first block of CONTRIBUTING.md: of each band the packages, and what
// stands in brackets behind them.
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
	return string(text)
}

// elsewhere lists what CONTRIBUTING.md names that looks like a path of this repository
// and is none.
var elsewhere = []string{".stig.cue", ".beads/issues.jsonl", "/dev/shm", "net/http", "os/exec", "server/discover", "app/X", "command_topic.txtar"}

// TestPathsInContributing: every file and folder that CONTRIBUTING.md names in backticks
// is there. A capitalised word in a name, as in format_NAME.go, stands for any.
func TestPathsInContributing(t *testing.T) {
	_, prose, _ := strings.Cut(contributing(t), "```\n") // the picture has a test of its own
	_, prose, _ = strings.Cut(prose, "```\n")
	files := map[string]bool{} // by their names without folders
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
