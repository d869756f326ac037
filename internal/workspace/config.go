package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"stig/checkpoint"
	"stig/cue"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/project"
	"stig/internal/swarm"
	"stig/notes"
	"stig/schemas"
	"stig/signals"
)

// Config is the configuration; see schemas/stig/config.cue.
type Config struct {
	Signals struct {
		Evidence bool `json:"evidence"`
	} `json:"signals"`
	Schema struct {
		File string `json:"file"`
	} `json:"schema"`
	Gate struct {
		Env      []string `json:"env"`
		Timeout  string   `json:"timeout"`  // in the format of checkpoint.ParseSpan; "" if not given
		Deadline string   `json:"deadline"` // the same
		Jobs     int      `json:"jobs"`     // how many issues are checked at once; 0 if not given
		Sandbox  []string `json:"sandbox"`  // command that runs each check; empty for none
		Waivers  string   `json:"waivers"`  // who may waive; see service.CloseOptions
		Before   string   `json:"before"`   // when checks run before the work: BeforeLoop and so on; "" if not given
		Held     string   `json:"held"`     // HeldAsk or HeldClose; "" if not given
		// HeldLabels are labels of issues whose checks may be green before the work too; nil if
		// not given.
		HeldLabels []string `json:"held_labels"`
		Tree       string   `json:"tree"` // TreeKept or TreeFresh; "" if not given
		// External are commands that prove dependencies on other stores, by PROJECT:ID or
		// PROJECT:CAPABILITY.
		External map[string]string `json:"external"`
	} `json:"gate"`
	Commit struct {
		Allow []string `json:"allow"` // globs, see git.AllowsFile
	} `json:"commit"`
	Land   string `json:"land"`  // LandMerge or LandReview; "" if not given
	Stack  bool   `json:"stack"` // work goes on upon the branches of requests
	Review struct {
		Open   int    `json:"open"`   // how many requests of loops may be open; 0 if not given
		Forge  string `json:"forge"`  // a forge.Kind; "" follows from the remote
		Remote string `json:"remote"` // "" if not given
	} `json:"review"`
	Claims struct {
		TTL string `json:"ttl"` // in the format of checkpoint.ParseSpan; "" if not given
	} `json:"claims"`
	Cost struct {
		Prices map[string]TokenPrice `json:"prices"` // by model or program
	} `json:"cost"`
	Commits struct {
		Subject string `json:"subject"` // of the loop's commits, with {id}, {title} and {actor}; "" if not given
	} `json:"commits"`
	Traces struct {
		Digest int `json:"digest"` // 0 if not given
	} `json:"traces"`
	Projects map[string]project.Setting `json:"projects"`
	Swarm    *SwarmConfig               `json:"swarm"`  // nil if not given
	Notify   Notifications              `json:"notify"` // see Run.Own
	Types    []string                   `json:"types"`  // of issues, besides those of bd
	Views    map[string]View            `json:"views"`  // of stig list, by name
}

// Values of Config.Gate; the first of each is the default.
const (
	BeforeLoop   = "loop"
	BeforeAlways = "always"
	BeforeNever  = "never"

	HeldAsk   = "ask"
	HeldClose = "close"

	TreeKept  = "kept"
	TreeFresh = "fresh"
)

// Values of Config.Land; the first is the default.
const (
	LandMerge  = "merge"
	LandReview = "review"
)

// ByReview reports whether work lands by review on a forge.
func (c *Config) ByReview() bool { return c.Land == LandReview }

// requestOf returns the function that answers beads.Snapshot.Requests; nil if no work is stacked
// upon requests.
func (c *Config) requestOf() func(*beads.Issue) (number int, waits bool) {
	if !c.Stack || !c.ByReview() {
		return nil
	}
	return func(issue *beads.Issue) (int, bool) {
		if !issue.HasNotes || beads.IsClosed(issue.Status) {
			return 0, false
		}
		record, err := issue.Record()
		if err != nil { // its line says so elsewhere
			return 0, false
		}
		if r, ok := signals.LastReview(notes.Parse(record.Text(beads.Notes))); ok && r.IsRequested() {
			return r.Number, r.Waits()
		}
		return 0, false
	}
}

// MostOpen returns how many requests of loops may be open at once.
func (c *Config) MostOpen() int { return cmp.Or(c.Review.Open, 6) }

// TokenPrice is the price of a million tokens, in US dollars.
type TokenPrice struct {
	In  float64 `json:"in"`  // tokens that a model reads
	Out float64 `json:"out"` // tokens that it writes
}

// PriceOf returns the token price of a model, or else of a program.
func (c *Config) PriceOf(model, program string) (TokenPrice, bool) {
	if p, ok := c.Cost.Prices[model]; ok && model != "" {
		return p, true
	}
	p, ok := c.Cost.Prices[program]
	return p, ok
}

// heldLabels is the default of Config.Gate.HeldLabels.
var heldLabels = []string{"refactor", "docs", "chore", "upgrade"}

// MayHold reports whether the labels of an issue say that its checks may be green before the
// work too.
func (c *Config) MayHold(labels []string) bool {
	held := c.Gate.HeldLabels
	if held == nil {
		held = heldLabels
	}
	return slices.ContainsFunc(labels, func(l string) bool { return slices.Contains(held, l) })
}

// SwarmConfig is the settings of swarms. Times have the format of checkpoint.ParseSpan; Timeout
// stands for that of swarm.Config.
type SwarmConfig struct {
	swarm.Config
	Timeout         string `json:"timeout"`
	RoundTimeout    string `json:"round_timeout"`
	ResponseTimeout string `json:"response_timeout"`
}

// View is a named list of issues.
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

// errConfig is wrapped by errors of a configuration file. Commands that write to a store or run
// checks fail; those that only read continue without the file.
var errConfig = errors.New("the configuration cannot be used")

func badConfig(message, hint string) error {
	return &fault.Error{Code: fault.Usage, Reason: message, Hint: hint, Err: errConfig}
}

// Configure reads the configuration of the user and then that of the repository, which takes
// precedence. Both files are optional.
func (a *Run) Configure(s beads.Place) error {
	a.Config = Config{}
	err := a.readConfigs(s)
	if err != nil {
		a.Config = Config{}
	}
	return err
}

func (a *Run) readConfigs(s beads.Place) error {
	for _, path := range a.ConfigFiles(s) {
		a.Own = a.Config.Notify.clone() // the last file is the repository's
		if err := a.ReadConfig(path); err != nil {
			return err
		}
	}
	return a.Narrow()
}

// ConfigFiles returns the paths of the configuration files, in increasing precedence.
func (a *Run) ConfigFiles(s beads.Place) (files []string) {
	if dir, err := a.ConfigDir(); err == nil && filepath.IsAbs(dir) {
		files = append(files, filepath.Join(dir, "stig", "config.cue"))
	}
	return append(files, filepath.Join(filepath.Dir(s.Dir), ".stig.cue"))
}

func (a *Run) ReadConfig(at string) error {
	source, err := file.Read(at)
	if IsAbsent(err) {
		return nil
	}
	if err != nil {
		return badConfig(err.Error(), "fix or remove the configuration file")
	}
	before := a.Config.Schema.File
	if err := cue.Decode(schemas.Config, "#Config", Shortest(at), source, &a.Config); err != nil {
		return badConfig(err.Error(), "type stig schema config to see what is allowed")
	}
	for _, glob := range a.Config.Commit.Allow {
		if _, err := path.Match(glob, ""); err != nil {
			return badConfig(fmt.Sprintf("%s: commit.allow: %q is not a glob", Shortest(at), glob), "escape [, * and ? in a name as \\\\[, \\\\* and \\\\?")
		}
	}
	for key := range a.Config.Gate.External {
		if name, of, ok := strings.Cut(key, ":"); !ok || name == "" || of == "" || name == "external" {
			return badConfig(fmt.Sprintf("%s: gate.external: must have keys PROJECT:ID or PROJECT:CAPABILITY; found %q", Shortest(at), key), `write for example "api:auth-v2" for external:api:auth-v2`)
		}
	}
	for name, p := range a.Config.Projects {
		if !filepath.IsAbs(p.Path) {
			p.Path = filepath.Join(filepath.Dir(at), p.Path)
			a.Config.Projects[name] = p
		}
	}
	if file := a.Config.Schema.File; file != before && !filepath.IsAbs(file) {
		a.Config.Schema.File = filepath.Join(filepath.Dir(at), file)
	}
	return nil
}

// IsAbsent reports whether an error says that a file does not exist. One of the directories in
// its path may be a file, such as HOME=/dev/null.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Narrow makes tables be validated against the project's own schema too, if there is one.
func (a *Run) Narrow() error {
	path := a.Config.Schema.File
	if path == "" || a.Schema.Narrowed() {
		return nil
	}
	source, err := file.Read(path)
	if err != nil {
		return badConfig("schema.file: "+err.Error(), "fix the path in the configuration file")
	}
	narrowed, err := a.Schema.Narrow(Shortest(path), source)
	if err != nil {
		return badConfig(err.Error(), "a project may narrow the schema, never widen it; type stig schema to see it")
	}
	a.Schema = narrowed
	return nil
}

// TimeOf parses the value of --since: a day, a time with offset, or an age such as 24h, 7d, 2w,
// 1d12h. "" returns the zero time.
func TimeOf(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	age, err := checkpoint.ParseSpan(text)
	if err != nil {
		return time.Time{}, Usage(fmt.Sprintf("--since: must be a day, a time or an age; found %q", text), "type for example 2026-11-20, 2026-11-20T09:00:00Z, 24h or 7d")
	}
	return now.Add(-age), nil
}

// Words names the targets, without the parts of a URL that may be secret.
func (n Notifications) Words() (words []string) {
	if where, err := url.Parse(n.URL); err == nil && n.URL != "" {
		words = append(words, where.Host)
	}
	if len(n.Command) > 0 {
		words = append(words, n.Command[0])
	}
	return words
}

// Notifications configure how people are notified of events. The zero value notifies nobody.
type Notifications struct {
	URL     string   `json:"url"`     // accepts the JSON of an ntfy server
	Topic   string   `json:"topic"`   // default "stig"
	Command []string `json:"command"` // gets the event on its standard input
	Click   string   `json:"click"`   // URL of an issue's page, with {id} for its id; "" for none
}

func (n Notifications) Off() bool { return n.URL == "" && len(n.Command) == 0 }

func (n Notifications) Same(m Notifications) bool {
	return n.URL == m.URL && n.Topic == m.Topic && n.Click == m.Click && slices.Equal(n.Command, m.Command)
}

// clone returns a copy that shares no memory with n, so that another file can be decoded into
// it.
func (n Notifications) clone() Notifications {
	n.Command = slices.Clone(n.Command)
	return n
}

// Page returns the URL of an issue; "" if id is "" or no page is configured. The id is escaped.
func (n Notifications) Page(id string) string {
	if id == "" {
		return ""
	}
	return strings.ReplaceAll(n.Click, "{id}", strings.ReplaceAll(url.QueryEscape(id), "+", "%20"))
}

// GoneFor is how long the store or an issue may be missing without a warning: some programs
// empty or remove the file before they write it. AwayFor is how long to wait for a missing
// store, with a warning: git removes it during a rebase, and a server may restart.
const (
	GoneFor = time.Second
	AwayFor = 10 * time.Minute
)
