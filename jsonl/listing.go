package jsonl

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/beads"
)

// listing is what stands in a .beads directory.
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

// sideFiles are .jsonl files that hold no issues.
var sideFiles = []string{
	"deletions.jsonl", "interactions.jsonl", "routes.jsonl", "events.jsonl",
	"beads.base.jsonl", "beads.left.jsonl", "beads.right.jsonl", "sync_base.jsonl",
}

// jsonl is the name of the file of issues, or "" when there is none.
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
	return "", &beads.StoreError{
		Path: d.dir, Reason: "holds several .jsonl files: " + strings.Join(others, ", "),
		Hint: "name one with --store FILE"}
}

// tracked reports whether a tracker keeps something here, although no file of
// issues was found.
func (d listing) tracked() bool {
	return d.has("metadata.json") || d.has("config.yaml") || d.database() || d.isDir("dolt") || d.isDir("embeddeddolt")
}

func (d listing) hint() string {
	if d.tracked() {
		return "write it with bd export -o " + filepath.Join(d.dir, "issues.jsonl")
	}
	return "make one with stig init, or name it with --store FILE"
}

// store is the store with this file, its mode found from what stands beside it.
func (d listing) store(name string) (beads.Place, error) {
	s := beads.Place{Path: filepath.Join(d.dir, name), Dir: d.dir}
	// What beads_rust leaves behind; its database is named as that of bd, but
	// bd also writes .local_version.
	s.BR = d.has(".write.lock") || d.has(".br_history")
	backend, err := d.backend()
	if err != nil {
		return beads.Place{}, err
	}
	here, err := d.dolt()
	if err != nil {
		return beads.Place{}, err
	}
	if here {
		s.Mode = beads.Dolt
		return s, nil
	}
	if backend == "dolt" {
		s.Mode = beads.Export
		return s, nil
	}
	if s.NoDB, err = d.noDB(); err != nil {
		return beads.Place{}, err
	}
	if d.database() && !s.NoDB && (!s.BR || d.has(".local_version")) {
		s.Mode = beads.SQLite
	}
	return s, nil
}

func (d listing) database() bool {
	return slices.ContainsFunc(d.names, func(name string) bool { return strings.HasSuffix(name, ".db") })
}

// dolt reports whether bd keeps a Dolt database here, or says which server has it.
func (d listing) dolt() (bool, error) {
	mode, err := d.metadata("dolt_mode")
	return mode != "" && mode != "embedded" || d.isDir("dolt") || d.isDir("embeddeddolt"), err
}

// backend is what metadata.json says about the database.
func (d listing) backend() (string, error) { return d.metadata("backend") }

// metadata is a text of metadata.json in small letters; "" where there is none.
func (d listing) metadata(key beads.Key) (string, error) {
	if !d.has("metadata.json") {
		return "", nil
	}
	path := filepath.Join(d.dir, "metadata.json")
	data, err := ReadText(path)
	if err != nil {
		return "", beads.Unreadable(path, err)
	}
	r, bad := beads.ParseRecord(data)
	if bad != nil {
		return "", &beads.StoreError{
			Path:   path,
			Reason: "does not tell whose store this is: " + bad.Error(),
			Hint:   "fix or remove it"}
	}
	return strings.ToLower(r.Text(key)), nil
}

// noDB reports whether config.yaml says no-db: true.
func (d listing) noDB() (bool, error) {
	value, err := d.setting("no-db")
	return strings.EqualFold(value, "true"), err
}

// setting is the value of a key at the top level of config.yaml, or "".
func (d listing) setting(name string) (string, error) {
	if !d.has("config.yaml") {
		return "", nil
	}
	path := filepath.Join(d.dir, "config.yaml")
	data, err := ReadText(path)
	if err != nil {
		return "", beads.Unreadable(path, err)
	}
	for line := range strings.Lines(string(data)) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if !ok || strings.Trim(key, `"' `) != name || key[0] == ' ' {
			continue
		}
		value, _, _ = strings.Cut(value, " #")
		return strings.Trim(value, "\"' \t"), nil
	}
	return "", nil
}
