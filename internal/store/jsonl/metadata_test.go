package jsonl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/fault"
	"stig/internal/store/jsonl"
)

type metadata struct {
	Backend string `json:"backend"`
	Port    int    `json:"dolt_server_port"`
}

func TestMetadata(t *testing.T) {
	for text, want := range map[string]metadata{
		"": {"before", 0},
		`{"backend":"dolt","dolt_server_port":3307,"other":[]}`: {"dolt", 3307},
	} {
		got := metadata{Backend: "before"}
		if err := jsonl.Metadata(with(t, jsonl.MetadataFile, text), &got); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{"{": "unexpected end", `{"backend":7}`: "backend: cannot be of type number", "[]": "the file: cannot be of type array"} {
		dir := with(t, jsonl.MetadataFile, text)
		refused(t, jsonl.Metadata(dir, new(metadata)), filepath.Join(dir, jsonl.MetadataFile)+": does not say where the issues are: "+want)
	}
}

func TestSettings(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"": {"no-db": ""},
		"# no-db: false\nno-db: true # ours\r\nissue-prefix: \"pier\"\n": {"no-db": "true", "issue-prefix": "pier"},
		"dolt.port: 1\nno-db:\n":                               {"dolt.port": "1", "no-db": ""},
		"dolt:\n  port: 1\n\thost: 'x'\nother:\n  no-db: true": {"dolt.port": "1", "dolt.host": "x", "no-db": "", "other.no-db": "true"},
	} {
		got, err := jsonl.ReadTrackerSettings(with(t, jsonl.TrackerFile, text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%q: %s is %q, want %q", text, key, got[key], value)
			}
		}
	}
}

// A dangling link is not a missing file.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{jsonl.MetadataFile, jsonl.TrackerFile} {
		if err := os.Symlink("nowhere", filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	refused(t, jsonl.Metadata(dir, new(metadata)), "cannot be read")
	_, err := jsonl.ReadTrackerSettings(dir)
	refused(t, err, "cannot be read")
}

// with creates a directory with one file, or none for no text.
func with(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	if text == "" {
		return dir
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	if e, ok := fault.As(err, fault.Store); !ok || !strings.Contains(e.Error(), want) {
		t.Errorf("%v, want a fault.Store with %q", err, want)
	}
}
