package actors

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// EditRequest is the input of Edit. Nil fields stay unchanged; an empty text or list removes
// the value.
type EditRequest struct {
	Name        string
	Description *string
	Seed        *string // its purpose, as text
	Roles       *[]string
	Watch       *[]string
	DryRun      bool
}

// Edited is the result of a change to an actor's file.
type Edited struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	DryRun  bool   `json:"dry_run"`
	Diff    string `json:"diff,omitempty"` // if DryRun
}

// Edit changes the front matter and the Seed section of an actor's file. Each change adds a
// line to Evolution. A running loop uses the new values from its next run on.
func Edit(ctx context.Context, a *workspace.Run, r EditRequest) (*Edited, error) {
	if r.Description == nil && r.Seed == nil && r.Roles == nil && r.Watch == nil {
		return nil, workspace.Usage("nothing to change", "give --description, --seed, --role or --watch")
	}
	root, err := Root(a)
	if err != nil {
		return nil, err
	}
	by, err := a.MustActor(ctx)
	if err != nil {
		return nil, err
	}
	now, err := a.Clock()
	if err != nil {
		return nil, err
	}
	if !r.DryRun { // concurrent edits would overwrite each other
		unlock, err := lockFiles(ctx, a)
		if err != nil {
			return nil, err
		}
		defer func() { _ = unlock() }()
	}
	p, err := clone.LoadProfile(root, r.Name)
	if errors.Is(err, fs.ErrNotExist) && clone.CheckName(r.Name) == nil {
		return nil, &fault.Error{Code: fault.Usage, Reason: r.Name + ": has no file, " + below(root, clone.ProfilePath(root, r.Name)), Hint: "type stig actor list to see the actors"}
	}
	if err != nil {
		return nil, err
	}
	text, err := r.apply(p, signals.Day(now), byOther(by, r.Name))
	if err != nil {
		return nil, err
	}
	file := workspace.HostFile{Path: p.Path, Root: root}
	done := &Edited{Name: r.Name, File: below(root, p.Path), DryRun: r.DryRun}
	warnOfSecret(a, done.File, string(text))
	for _, step := range file.Change([]byte(p.Text()), text) {
		if done.Changed = true; r.DryRun {
			done.Diff += step.Diff
		} else if err := step.Do(); err != nil {
			return nil, err
		}
	}
	return done, nil
}

// apply returns the text of the file after the edit.
func (r EditRequest) apply(p *clone.Profile, day, by string) ([]byte, error) {
	for _, one := range r.given() {
		set := p.Set
		if one.key == seedKey {
			set = func(string, any) ([]byte, error) { return p.With(clone.Seed, *r.Seed) }
		}
		text, err := set(one.key, one.value)
		if err != nil {
			return nil, err
		}
		if string(text) == p.Text() {
			continue
		}
		if text, err = evolved(p.Path, text, day+": "+one.key+": "+one.words+by); err != nil {
			return nil, err
		}
		if p, err = clone.ParseProfile(p.Path, string(text)); err != nil {
			return nil, err
		}
	}
	return []byte(p.Text()), nil
}

type keyValue struct {
	key   string
	value any
	words string
}

func (r EditRequest) given() (list []keyValue) {
	if r.Description != nil {
		list = append(list, keyValue{"description", *r.Description, orNone(*r.Description)})
	}
	if r.Seed != nil {
		list = append(list, keyValue{seedKey, nil, visible.Clipped(visible.OneLine(orNone(*r.Seed)), seedWords)})
	}
	if r.Roles != nil {
		list = append(list, keyValue{"roles", *r.Roles, orNone(strings.Join(*r.Roles, ", "))})
	}
	if r.Watch != nil {
		list = append(list, keyValue{"watch", *r.Watch, orNone(strings.Join(*r.Watch, ", "))})
	}
	return list
}

const (
	seedKey   = "seed"
	seedWords = 120 // maximum characters of the seed in Evolution
)

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// below returns path relative to root, with slashes.
func below(root, path string) string {
	if rel, err := filepath.Rel(root, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// lockFiles locks the actor files against other processes in the clone.
func lockFiles(ctx context.Context, a *workspace.Run) (unlock func() error, err error) {
	place, err := placeOf(a)
	if err != nil {
		return nil, err
	}
	return place.Lock(ctx, "actors")
}
