package workspace

import (
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
		Timeout  string   `json:"timeout"`  // as checkpoint.ParseSpan takes it; "" when not given
		Deadline string   `json:"deadline"` // the same
		Jobs     int      `json:"jobs"`     // how many issues have their checks run at once; 0 when not given
		Sandbox  []string `json:"sandbox"`  // what runs each check; empty for nothing
		Waivers  string   `json:"waivers"`  // who may waive; see service.CloseOptions
		Before   string   `json:"before"`   // when checks run before the work: BeforeLoop and so on; "" when not given
		Held     string   `json:"held"`     // HeldAsk or HeldClose; "" when not given
		// HeldLabels are those of issues whose checks are green before the work too; nil
		// when not given.
		HeldLabels []string `json:"held_labels"`
		Tree       string   `json:"tree"` // TreeKept or TreeFresh; "" when not given
	} `json:"gate"`
	Commit struct {
		Allow []string `json:"allow"` // globs, as git.AllowsFile takes them
	} `json:"commit"`
	Claims struct {
		TTL string `json:"ttl"` // as checkpoint.ParseSpan takes it; "" when not given
	} `json:"claims"`
	Cost struct {
		Prices map[string]TokenPrice `json:"prices"` // by model or program
	} `json:"cost"`
	Commits struct {
		Subject string `json:"subject"` // of commits of the loop, with {id}, {title} and {actor}; "" when not given
	} `json:"commits"`
	Traces struct {
		Digest int `json:"digest"` // 0 when not given
	} `json:"traces"`
	Swarm  *SwarmConfig    `json:"swarm"`  // nil when not given
	Notify Notifications   `json:"notify"` // see whom
	Types  []string        `json:"types"`  // of issues, besides those of bd
	Views  map[string]View `json:"views"`  // of stig list, by name
}

// Values of Config.Gate; the first of each holds where none is given.
const (
	BeforeLoop   = "loop"
	BeforeAlways = "always"
	BeforeNever  = "never"

	HeldAsk   = "ask"
	HeldClose = "close"

	TreeKept  = "kept"
	TreeFresh = "fresh"
)

// TokenPrice is what a million tokens cost, in US dollars.
type TokenPrice struct {
	In  float64 `json:"in"`  // that a model reads
	Out float64 `json:"out"` // that it writes
}

// PriceOf gives the price of a model's tokens, else that of its program's.
func (c *Config) PriceOf(model, program string) (TokenPrice, bool) {
	if p, ok := c.Cost.Prices[model]; ok && model != "" {
		return p, true
	}
	p, ok := c.Cost.Prices[program]
	return p, ok
}

// heldLabels are those of Config.Gate.HeldLabels where none are given.
var heldLabels = []string{"refactor", "docs", "chore", "upgrade"}

// MayHold reports whether labels of an issue say that its checks are green before the work too.
func (c *Config) MayHold(labels []string) bool {
	held := c.Gate.HeldLabels
	if held == nil {
		held = heldLabels
	}
	return slices.ContainsFunc(labels, func(l string) bool { return slices.Contains(held, l) })
}

// SwarmConfig are the numbers of swarms. Times are as checkpoint.ParseSpan takes them.
type SwarmConfig struct {
	Evaporation     float64 `json:"evaporation"`
	Deposit         float64 `json:"deposit"`
	PerSubtask      int     `json:"per_subtask"`
	Beta            int     `json:"beta"`
	Quorum          string  `json:"quorum"`
	Diversity       float64 `json:"diversity"`
	MaxRounds       int     `json:"max_rounds"`
	Timeout         string  `json:"timeout"`
	RoundTimeout    string  `json:"round_timeout"`
	ResponseTimeout string  `json:"response_timeout"`
	Retries         int     `json:"retries"`
	LeastActive     int     `json:"least_active"`
}

// View is a named list.
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

// errConfig is wrapped by the refusal of a configuration file. What writes to a store or
// runs its checks refuses; what reads goes on without the file.
var errConfig = errors.New("the configuration cannot be used")

func badConfig(message, hint string) error {
	return &fault.Error{Code: fault.Usage, Reason: message, Hint: hint, Err: errConfig}
}

// Configure reads the user's file and then that of the repository, which takes
// precedence. Neither needs to exist.
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

// ConfigFiles are the paths of the configuration files, the one that takes precedence last.
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
			return badConfig(fmt.Sprintf("%s: commit.allow: %q is no glob", Shortest(at), glob), "write [, * and ? of a name as \\\\[, \\\\* and \\\\?")
		}
	}
	if file := a.Config.Schema.File; file != before && !filepath.IsAbs(file) {
		a.Config.Schema.File = filepath.Join(filepath.Dir(at), file)
	}
	return nil
}

// IsAbsent reports whether an error says that there is no such file: one of the
// directories of its path may be a file, such as HOME=/dev/null.
func IsAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Narrow has tables validated against the project's own schema too, if it has one.
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

// TimeOf reads the value of --since, a point in time: a day, a time with its offset, or an
// age such as 24h, 7d, 2w, 1d12h. "" is the beginning of time.
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

// Words names the targets, without the part of a URL that may be secret.
func (n Notifications) Words() (words []string) {
	if where, err := url.Parse(n.URL); err == nil && n.URL != "" {
		words = append(words, where.Host)
	}
	if len(n.Command) > 0 {
		words = append(words, n.Command[0])
	}
	return words
}

// Notifications say how people are notified of events. The zero value notifies nobody.
type Notifications struct {
	URL     string   `json:"url"`     // takes the JSON of an ntfy server
	Topic   string   `json:"topic"`   // "stig" unless told
	Command []string `json:"command"` // gets the event on its standard input
	Click   string   `json:"click"`   // the page of an issue, with {id} for its id; "" for none
}

func (n Notifications) Off() bool { return n.URL == "" && len(n.Command) == 0 }

func (n Notifications) Same(m Notifications) bool {
	return n.URL == m.URL && n.Topic == m.Topic && n.Click == m.Click && slices.Equal(n.Command, m.Command)
}

// clone is a copy that shares no memory with n, so that another file can be read into it.
func (n Notifications) clone() Notifications {
	n.Command = slices.Clone(n.Command)
	return n
}

// Page is the URL of an issue; "" for no issue, and if no page is configured. The id is
// escaped.
func (n Notifications) Page(id string) string {
	if id == "" {
		return ""
	}
	return strings.ReplaceAll(n.Click, "{id}", strings.ReplaceAll(url.QueryEscape(id), "+", "%20"))
}

// GoneFor is how long the store or the issue may be gone without a word: some programs empty
// the file, or remove it, before they fill it again. AwayFor is how long a store is waited
// for, with a warning: git takes it away in a rebase, and a server may be restarted.
const (
	GoneFor = time.Second
	AwayFor = 10 * time.Minute
)
