package jsonl

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
)

// The names of the files.
const (
	MetadataFile = "metadata.json"
	TrackerFile  = "config.yaml"
)

// Metadata decodes a directory's metadata.json into a struct, which is unchanged if there is no
// such file. Errors have code fault.Store.
func Metadata(dir string, into any) error {
	path := filepath.Join(dir, MetadataFile)
	text, err := readSmall(path)
	if err != nil || text == nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		why := err.Error()
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			why = fmt.Sprintf("%s: cannot be of type %s", cmp.Or(wrong.Field, "the file"), wrong.Value)
		}
		return &fault.Error{Code: fault.Store, Path: path, Reason: "does not say where the issues are: " + why, Hint: "fix or remove it; bd doctor says what it should hold"}
	}
	return nil
}

// TrackerSettings are the values of config.yaml by dotted key: a line "dolt.port: 1" is
// equivalent to "port: 1" below "dolt:". Missing values are "", and of a repeated key the last
// value counts.
type TrackerSettings map[string]string

// ReadTrackerSettings reads a directory's config.yaml; without the file there are no settings.
// It reads plain lines, as bd writes them, and no other YAML. Errors have code fault.Store.
func ReadTrackerSettings(dir string) (TrackerSettings, error) {
	path := filepath.Join(dir, TrackerFile)
	text, err := readSmall(path)
	if err != nil || text == nil {
		return nil, err
	}
	values, above := TrackerSettings{}, ""
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		name := strings.Trim(key, `"' `+"\t")
		if !ok || strings.HasPrefix(name, "#") || name == "" {
			continue
		}
		if key[0] != ' ' && key[0] != '\t' {
			above = name
		} else {
			name = above + "." + name
		}
		value, _, _ = strings.Cut(value, " #")
		values[name] = strings.Trim(value, "\"' \t")
	}
	return values, nil
}

// readSmall returns nil if there is no such file. A dangling link is an error, since somebody
// meant something by it.
func readSmall(path string) ([]byte, error) {
	text, err := file.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, link := os.Lstat(path); link != nil {
			return nil, nil
		}
	}
	if err != nil {
		return nil, beads.Unreadable(path, err)
	}
	return text, nil
}
