package clone

import (
	"path/filepath"
	"time"

	"stig/cue"
	"stig/internal/fault"
	"stig/schemas"
)

// Kinds of actors.
const (
	Agent   = "agent"
	Human   = "human"
	Program = "program"

	Unknown = "unknown" // of an actor without a file that neither a hook nor a loop named: claims treat it as a person
)

// Sections of a body, in their order.
const (
	Seed      = "Seed"      // the actor as it was born
	Values    = "Values"    // never shortened by the actor itself
	Heartbeat = "Heartbeat" // what to do when Every is due though no issue is; empty: nothing
	Learned   = "Learned"   // replaced whole by each dream
	Evolution = "Evolution" // a line for each change of the actor
)

func sections() []string { return []string{Seed, Values, Heartbeat, Learned, Evolution} }

// Profile is who an actor is, with the defaults where its file says nothing.
type Profile struct {
	Name        string
	Kind        string // Agent, Human or Program
	Description string
	Roles       []string      // labels it serves; none: any
	Watch       []string      // issues and labels
	Command     string        // of its loop; "" for none
	Timeout     time.Duration // of a run
	PerHour     int           // most runs an hour; 0 for any number
	Passes      int           // most runs for an issue that the gate rejects
	Traces      int           // most traces a run
	Issues      int           // most issues that a run creates
	Worktree    bool          // a work tree for each issue
	Setup       string        // a command for a new work tree; "" for none
	Dream       time.Duration // between dreams
	Every       time.Duration // between heartbeats; 0 for none
	Path        string        // of the file; "" where there is none

	at   string // the file as messages name it
	text string // of the whole file
	body int    // where the front matter ends in it
}

// DefaultProfile is the profile of an actor without a file.
func DefaultProfile(name string) *Profile {
	return &Profile{Name: name, Kind: Agent, Timeout: time.Hour, Passes: 3, Traces: 20, Issues: 20, Worktree: true, Dream: 4 * time.Hour}
}

// front is the front matter as the schema has it.
type front struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind"`
	Description string   `json:"description"`
	Roles       []string `json:"roles"`
	Watch       []string `json:"watch"`
	Command     string   `json:"command"`
	Timeout     string   `json:"timeout"`
	PerHour     int      `json:"per_hour"`
	Passes      int      `json:"passes"`
	Traces      int      `json:"traces"`
	Issues      int      `json:"issues"`
	Worktree    bool     `json:"worktree"`
	Setup       string   `json:"setup"`
	Dream       string   `json:"dream"`
	Every       string   `json:"every"`
}

// ParseProfile reads the text of the file at a path. Each mistake has a line of the error
// (fault.Usage), led by path:line:column.
func ParseProfile(path, text string) (*Profile, error) {
	end, err := frontEnd(path, text)
	if err != nil {
		return nil, badFile(err.Error(), nil)
	}
	p := DefaultProfile("")
	f := front{Kind: p.Kind, Passes: p.Passes, Traces: p.Traces, Issues: p.Issues, Worktree: p.Worktree}
	if err := cue.DecodeYAML(schemas.Actors, "#Actor", path, []byte(yamlOf(text)), &f); err != nil {
		return nil, badFile(err.Error(), err)
	}
	p.Name, p.Kind, p.Description, p.Roles, p.Watch = f.Name, f.Kind, f.Description, f.Roles, f.Watch
	p.Command, p.Setup, p.PerHour, p.Passes, p.Traces, p.Issues, p.Worktree = f.Command, f.Setup, f.PerHour, f.Passes, f.Traces, f.Issues, f.Worktree
	p.Timeout, p.Dream, p.Every = span(f.Timeout, p.Timeout), span(f.Dream, p.Dream), span(f.Every, p.Every)
	p.Path, p.at, p.text, p.body = path, path, text, end
	return p, nil
}

func badFile(reason string, err error) error {
	return &fault.Error{Code: fault.Usage, Reason: reason, Hint: "type stig schema actors to see what is allowed", Err: err}
}

// span is a time as the schema has it, a default for "".
func span(text string, unless time.Duration) time.Duration {
	if text == "" {
		return unless
	}
	n := 0
	for _, digit := range text[:len(text)-1] {
		n = 10*n + int(digit-'0')
	}
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	return time.Duration(n) * units[text[len(text)-1]]
}

// ProfileDir is where the files of actors lie in the directory that holds the store's.
func ProfileDir(root string) string { return filepath.Join(root, filepath.FromSlash(dir)) }
