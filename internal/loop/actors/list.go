package actors

import (
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
	"stig/internal/workspace"
	"stig/signals"
)

// ListRequest is the input of List. Unless All is set, actors are hidden that have no file, no
// issue and no sign of life for a day.
type ListRequest struct{ All bool }

// Listed is the actors here, sorted by name.
type Listed struct {
	Actors []*Actor `json:"actors"`
	Hidden int      `json:"hidden"` // number of hidden actors

	Now time.Time `json:"-"`
}

// List returns the actors of the clone.
func List(a *workspace.Run, r ListRequest) (*Listed, error) {
	s, err := look(a)
	if err != nil {
		return nil, err
	}
	listed := &Listed{Actors: []*Actor{}, Now: s.now}
	for _, name := range s.names() {
		one := s.actor(name)
		if one.Problem != "" {
			for line := range strings.Lines(one.Problem) {
				a.Warn("%s", strings.TrimSpace(line))
			}
		}
		long := one.Seen == nil || s.now.Sub(*one.Seen) > 24*time.Hour
		if !r.All && long && one.File == "" && len(one.Issues) == 0 {
			listed.Hidden++
			continue
		}
		listed.Actors = append(listed.Actors, one)
	}
	return listed, nil
}

// Shown is the result of Show: the actor, its profile and its last runs.
type Shown struct {
	Actor   *Actor    `json:"actor"`
	Profile *Settings `json:"profile"` // nil without a file
	Runs    []Run     `json:"runs"`    // at most five of the last week, newest first

	Now time.Time `json:"-"`
}

// Settings are the values of a profile, with defaults.
type Settings struct {
	Watch    []string `json:"watch"`
	Command  string   `json:"command"`
	Timeout  string   `json:"timeout"`
	PerHour  int      `json:"per_hour"` // 0 for no limit
	Passes   int      `json:"passes"`
	Traces   int      `json:"traces"`
	Issues   int      `json:"issues"`
	Worktree bool     `json:"worktree"`
	Setup    string   `json:"setup"`
	Dream    string   `json:"dream"`
	Every    string   `json:"every"` // "" for never
	Body     string   `json:"body"`
}

const shownRuns = 5

// Show returns what is known of one actor. A file with mistakes is an error (fault.Usage).
func Show(a *workspace.Run, name string) (*Shown, error) {
	s, err := look(a)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(s.names(), name) && len(s.runs[name]) == 0 {
		return nil, unknown(name)
	}
	one := s.actor(name)
	if one.Problem != "" {
		_, err := clone.LoadProfile(s.root, name)
		return nil, err
	}
	shown := &Shown{Actor: one, Profile: settingsOf(one.profile), Runs: []Run{}, Now: s.now}
	for _, r := range slices.Backward(s.runs[name]) {
		if len(shown.Runs) < shownRuns {
			shown.Runs = append(shown.Runs, RunOf(r))
		}
	}
	return shown, nil
}

func settingsOf(p *clone.Profile) *Settings {
	if p == nil {
		return nil
	}
	set := &Settings{
		Watch: append([]string{}, p.Watch...), Command: p.Command, Timeout: SpanText(p.Timeout), PerHour: p.PerHour, Passes: p.Passes,
		Traces: p.Traces, Issues: p.Issues, Worktree: p.Worktree, Setup: p.Setup, Dream: SpanText(p.Dream), Body: p.Body(),
	}
	if p.Every > 0 {
		set.Every = SpanText(p.Every)
	}
	return set
}

// SpanText formats a duration as in an actor's file.
func SpanText(d time.Duration) string {
	if d%time.Minute != 0 {
		return d.String()
	}
	return signals.Span(d)
}
