package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"stig/beads"
	"stig/cue"
	"stig/schemas"
)

// config is what the configuration files say; see schemas/stig/config.cue.
type config struct {
	Signals struct {
		Evidence bool `json:"evidence"`
	} `json:"signals"`
	Schema struct {
		File string `json:"file"`
	} `json:"schema"`
	Gate struct {
		Env      []string `json:"env"`
		Timeout  string   `json:"timeout"`  // as time.ParseDuration takes it; "" when not given
		Deadline string   `json:"deadline"` // the same
	} `json:"gate"`
	Notify notifications `json:"notify"` // see whom
}

// configure reads the user's file and then that of the repository, whose word
// counts more. Neither needs to be there.
func (a *core) configure(s beads.Store) error {
	a.config = config{}
	for _, path := range configFiles(s) {
		a.own = a.config.Notify.clone() // the last file is the repository's
		if err := a.readConfig(path); err != nil {
			return err
		}
	}
	return a.narrow()
}

// configFiles are the places of configuration, the one that counts more last.
func configFiles(s beads.Store) (files []string) {
	if dir, err := os.UserConfigDir(); err == nil && filepath.IsAbs(dir) {
		files = append(files, filepath.Join(dir, "stig", "config.cue"))
	}
	return append(files, filepath.Join(filepath.Dir(s.Dir), ".stig.cue"))
}

func (a *core) readConfig(path string) error {
	source, err := beads.ReadText(path)
	if isAbsent(err) {
		return nil
	}
	if err != nil {
		return usage(err.Error(), "fix or remove the configuration file")
	}
	before := a.config.Schema.File
	if err := cue.Decode(schemas.Config, "#Config", shortest(path), source, &a.config); err != nil {
		return usage(err.Error(), "type stig schema config to see what is allowed")
	}
	if file := a.config.Schema.File; file != before && !filepath.IsAbs(file) {
		a.config.Schema.File = filepath.Join(filepath.Dir(path), file)
	}
	return nil
}

// isAbsent reports whether an error says that there is no such file: one of the
// directories of its path may be a file, such as HOME=/dev/null.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// narrow holds tables to the project's own schema as well, where it has one.
func (a *core) narrow() error {
	path := a.config.Schema.File
	if path == "" || a.schema.Narrowed() {
		return nil
	}
	source, err := beads.ReadText(path)
	if err != nil {
		return usage("schema.file: "+err.Error(), "fix the path in the configuration file")
	}
	narrowed, err := a.schema.Narrow(shortest(path), source)
	if err != nil {
		return usage(err.Error(), "a project may narrow the schema, never widen it; type stig schema to see it")
	}
	a.schema = narrowed
	return nil
}
