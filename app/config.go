package app

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"stig/beads"
	"stig/cue"
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
		Timeout  string   `json:"timeout"`  // as SpanOf takes it; "" when not given
		Deadline string   `json:"deadline"` // the same
	} `json:"gate"`
	Notify Notifications   `json:"notify"` // see whom
	Types  []string        `json:"types"`  // of issues, besides those of bd
	Views  map[string]View `json:"views"`  // of stig list, by name
}

// View is a list that is asked for by its name.
type View struct {
	Status   []string `json:"status"`
	Type     []string `json:"type"`
	Priority []int    `json:"priority"`
	Label    []string `json:"label"`
	Assignee []string `json:"assignee"`
	Signal   []string `json:"signal"`
	Parent   string   `json:"parent"`
	Since    string   `json:"since"`
	Sort     string   `json:"sort"`
	Limit    int      `json:"limit"`
	All      bool     `json:"all"`
}

// configError is a configuration file that cannot be used. What writes to a store or
// runs its checks refuses; what reads goes on without the file.
type configError struct{ message, hint string }

func (e *configError) Error() string { return e.message }

// Configure reads the user's file and then that of the repository, whose word
// counts more. Neither needs to be there.
func (a *App) Configure(s beads.Store) error {
	a.Config = Config{}
	err := a.readConfigs(s)
	if err != nil {
		a.Config = Config{}
	}
	return err
}

func (a *App) readConfigs(s beads.Store) error {
	for _, path := range a.ConfigFiles(s) {
		a.own = a.Config.Notify.clone() // the last file is the repository's
		if err := a.ReadConfig(path); err != nil {
			return err
		}
	}
	return a.Narrow()
}

// ConfigFiles are the places of configuration, the one that counts more last.
func (a *App) ConfigFiles(s beads.Store) (files []string) {
	if dir, err := a.ConfigDir(); err == nil && filepath.IsAbs(dir) {
		files = append(files, filepath.Join(dir, "stig", "config.cue"))
	}
	return append(files, filepath.Join(filepath.Dir(s.Dir), ".stig.cue"))
}

func (a *App) ReadConfig(path string) error {
	source, err := beads.ReadText(path)
	if IsAbsent(err) {
		return nil
	}
	if err != nil {
		return &configError{err.Error(), "fix or remove the configuration file"}
	}
	before := a.Config.Schema.File
	if err := cue.Decode(schemas.Config, "#Config", Shortest(path), source, &a.Config); err != nil {
		return &configError{err.Error(), "type stig schema config to see what is allowed"}
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
	source, err := beads.ReadText(path)
	if err != nil {
		return &configError{"schema.file: " + err.Error(), "fix the path in the configuration file"}
	}
	narrowed, err := a.Schema.Narrow(Shortest(path), source)
	if err != nil {
		return &configError{err.Error(), "a project may narrow the schema, never widen it; type stig schema to see it"}
	}
	a.Schema = narrowed
	return nil
}

// SpanOf reads a span of time as time.ParseDuration does, with days (d) and
// weeks (w) before the rest.
func SpanOf(text string) (time.Duration, error) {
	total, rest := time.Duration(0), text
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, ok := strings.Cut(rest, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("must be a span such as 90m, 24h, 7d or 2w; found %q", text)
		}
		total, rest = total+time.Duration(n*float64(unit.length)), after
	}
	if rest == "" && rest != text {
		return total, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 {
		return 0, fmt.Errorf("must be a span such as 90m, 24h, 7d or 2w; found %q", text)
	}
	return total + more, nil
}
