package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stig/cmd/stig/cli"
)

// TestVariables fails if the program uses a variable that the list lacks, or the list has one
// that the program does not use.
func TestVariables(t *testing.T) {
	var sources strings.Builder
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() == "testdata" {
			return err
		}
		outside := strings.Contains(filepath.ToSlash(path), "/internal/testkit/")
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !outside {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sources.Write(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range regexp.MustCompile(`STIG_[A-Z_]*[A-Z]`).FindAllString(sources.String(), -1) {
		listed := slices.ContainsFunc(cli.Variables, func(v [2]string) bool { return v[0] == name })
		if !listed && !slices.Contains(found, name) && !strings.HasPrefix(name, "STIG_TEST_") {
			t.Errorf("%s is in no row", name)
		}
		found = append(found, name)
	}
	for _, v := range cli.Variables {
		if strings.HasPrefix(v[0], "STIG_") && !slices.Contains(found, v[0]) {
			t.Errorf("%s: nothing reads or sets it", v[0])
		}
	}
}
