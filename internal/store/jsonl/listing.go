package jsonl

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
)

// listing is the content of a .beads directory.
type listing struct {
	dir   string
	names []string // ascending
}

func listDir(dir string) (listing, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return listing{}, beads.Unreadable(dir, err)
	}
	d := listing{dir: dir}
	for _, e := range entries {
		d.names = append(d.names, e.Name())
	}
	return d, nil
}

func (d listing) has(name string) bool { return slices.Contains(d.names, name) }

func (d listing) isDir(name string) bool {
	info, err := os.Stat(filepath.Join(d.dir, name))
	return err == nil && info.IsDir()
}

// sideFiles are .jsonl files that contain no issues.
var sideFiles = []string{
	"deletions.jsonl", "interactions.jsonl", "routes.jsonl", "events.jsonl",
	"beads.base.jsonl", "beads.left.jsonl", "beads.right.jsonl", "sync_base.jsonl",
}

// jsonl returns the name of the file of issues, or "" if there is none.
func (d listing) jsonl() (string, error) {
	for _, name := range []string{"issues.jsonl", "beads.jsonl"} {
		if d.has(name) {
			return name, nil
		}
	}
	var others []string
	for _, name := range d.names {
		if strings.HasSuffix(name, ".jsonl") && name[0] != '.' && !slices.Contains(sideFiles, name) {
			others = append(others, name)
		}
	}
	switch len(others) {
	case 0:
		return "", nil
	case 1:
		return others[0], nil
	}
	return "", &fault.Error{Code: fault.Store,
		Path: d.dir, Reason: "contains several .jsonl files: " + strings.Join(others, ", "),
		Hint: "name one with --store FILE"}
}

// tracked reports whether a tracker keeps something here although there is no file of issues.
func (d listing) tracked() bool {
	return d.has(MetadataFile) || d.has(TrackerFile) || d.database()
}

func (d listing) hint() string {
	if d.tracked() {
		return "write it with bd export -o " + filepath.Join(d.dir, "issues.jsonl")
	}
	return "create one with stig init, or name it with --store FILE"
}

// store returns the store with this file; the files beside it determine its mode.
func (d listing) store(name string) (beads.Place, error) {
	s := beads.Place{Path: filepath.Join(d.dir, name), Dir: d.dir}
	// Files of beads_rust; its database has the same name as bd's, but bd also writes
	// .local_version.
	s.BR = d.has(".write.lock") || d.has(".br_history") ||
		d.database() && !d.has(".local_version") && writtenByBR(s.Path)
	dolt, here, err := d.dolt()
	if err != nil {
		return beads.Place{}, err
	}
	if here {
		s.Mode = beads.BD
		return s, nil
	}
	if dolt {
		s.Mode = beads.Export
		return s, nil
	}
	settings, err := d.settings()
	if err != nil {
		return beads.Place{}, err
	}
	s.NoDB = strings.EqualFold(settings["no-db"], "true")
	if d.database() && !s.NoDB && (!s.BR || d.has(".local_version")) {
		s.Mode = beads.BD
	}
	return s, nil
}

// writtenByBR reports whether beads_rust wrote the first lines of a file: bd omits this key if
// it is 0.
func writtenByBR(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	beginning, err := io.ReadAll(io.LimitReader(file, 64<<10))
	return err == nil && bytes.Contains(beginning, []byte(`"compaction_level":0`))
}

func (d listing) database() bool {
	return slices.ContainsFunc(d.names, func(name string) bool { return strings.HasSuffix(name, ".db") })
}

// dolt reports whether bd keeps the issues in Dolt, and whether the database is here or on a
// server that metadata.json names.
func (d listing) dolt() (dolt, here bool, err error) {
	var m struct {
		Backend string `json:"backend"`
		Mode    string `json:"dolt_mode"`
	}
	if d.has(MetadataFile) {
		err = Metadata(d.dir, &m)
	}
	here = m.Mode != "" && !strings.EqualFold(m.Mode, "embedded") || d.isDir("dolt") || d.isDir("embeddeddolt")
	return here || strings.EqualFold(m.Backend, "dolt"), here, err
}

// settings are the settings in config.yaml.
func (d listing) settings() (TrackerSettings, error) {
	if !d.has(TrackerFile) {
		return nil, nil
	}
	return ReadTrackerSettings(d.dir)
}
