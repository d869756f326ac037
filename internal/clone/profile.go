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

	Unknown = "unknown" // an actor without a file, not named by a hook or a loop; claims treat it as a person
)

// Sections of a body, in order.
const (
	Seed      = "Seed"      // the original description
	Values    = "Values"    // never shortened by the actor itself
	Heartbeat = "Heartbeat" // what to do when Every is due but no issue is ready; empty: nothing
	Learned   = "Learned"   // rewritten by each dream
	Evolution = "Evolution" // one line per change of the actor
)

func sections() []string { return []string{Seed, Values, Heartbeat, Learned, Evolution} }

// Profile describes an actor: its file, with defaults.
type Profile struct {
	Name        string
	Kind        string // Agent, Human or Program
	Description string
	Roles       []string      // labels that it serves; none: any
	Watch       []string      // issues and labels
	Command     string        // of its loop; "" for none
	Timeout     time.Duration // of a run
	PerHour     int           // maximum runs per hour; 0 for no limit
	Passes      int           // maximum runs for an issue that the gate rejects
	Traces      int           // maximum traces per run
	Issues      int           // maximum issues that a run creates
	Worktree    bool          // each issue gets a work tree
	Setup       string        // command for a new work tree; "" for none
	Dream       time.Duration // between dreams
	Every       time.Duration // between heartbeats; 0 for none
	Path        string        // of the file; "" if there is none

	at   string // path of the file in messages
	text string // of the whole file
	body int    // offset of the end of the front matter
}

// DefaultProfile returns the profile of an actor without a file.
func DefaultProfile(name string) *Profile {
	return &Profile{Name: name, Kind: Agent, Timeout: time.Hour, Passes: 3, Traces: 20, Issues: 20, Worktree: true, Dream: 4 * time.Hour}
}

// front is the front matter, as in the schema.
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

// ParseProfile parses the text of the file at a path. The error (fault.Usage) has one line per
// mistake, which starts with path:line:column.
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

// span parses a duration of the schema; it returns unless for "".
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

// ProfileDir returns the directory of actors' files. root is the parent of the store's
// directory.
func ProfileDir(root string) string { return filepath.Join(root, filepath.FromSlash(dir)) }
