package app

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"

	"stig/beads"
	"stig/cue"
	"stig/jsonl"
	"stig/schemas"
)

// Config is what the configuration files say; see schemas/stig/config.cue.
type Config struct {
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
	Notify Notifications `json:"notify"` // see whom
}

// Configure reads the user's file and then that of the repository, whose word
// counts more. Neither needs to be there.
func (a *App) Configure(s beads.Place) error {
	a.Config = Config{}
	for _, path := range a.ConfigFiles(s) {
		a.own = a.Config.Notify.clone() // the last file is the repository's
		if err := a.ReadConfig(path); err != nil {
			return err
		}
	}
	return a.Narrow()
}

// ConfigFiles are the places of configuration, the one that counts more last.
func (a *App) ConfigFiles(s beads.Place) (files []string) {
	if dir, err := a.ConfigDir(); err == nil && filepath.IsAbs(dir) {
		files = append(files, filepath.Join(dir, "stig", "config.cue"))
	}
	return append(files, filepath.Join(filepath.Dir(s.Dir), ".stig.cue"))
}

func (a *App) ReadConfig(path string) error {
	source, err := jsonl.ReadText(path)
	if IsAbsent(err) {
		return nil
	}
	if err != nil {
		return Usage(err.Error(), "fix or remove the configuration file")
	}
	before := a.Config.Schema.File
	if err := cue.Decode(schemas.Config, "#Config", Shortest(path), source, &a.Config); err != nil {
		return Usage(err.Error(), "type stig schema config to see what is allowed")
	}
	if file := a.Config.Schema.File; file != before && !filepath.IsAbs(file) {
		a.Config.Schema.File = filepath.Join(filepath.Dir(path), file)
	}
	return nil
}

// IsAbsent reports whether an error says that there is no such file: one of the
// directories of its path may be a file, such as HOME=/dev/null.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Narrow holds tables to the project's own schema as well, where it has one.
func (a *App) Narrow() error {
	path := a.Config.Schema.File
	if path == "" || a.Schema.Narrowed() {
		return nil
	}
	source, err := jsonl.ReadText(path)
	if err != nil {
		return Usage("schema.file: "+err.Error(), "fix the path in the configuration file")
	}
	narrowed, err := a.Schema.Narrow(Shortest(path), source)
	if err != nil {
		return Usage(err.Error(), "a project may narrow the schema, never widen it; type stig schema to see it")
	}
	a.Schema = narrowed
	return nil
}
