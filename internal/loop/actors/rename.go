package actors

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/trace"
	"stig/internal/workspace"
	"stig/signals"
)

// RenameRequest is the input of Rename.
type RenameRequest struct {
	Old, New string
	DryRun   bool
}

// Renamed is the result of Rename.
type Renamed struct {
	Old      string   `json:"old"`
	New      string   `json:"new"`
	File     string   `json:"file"`     // current path
	Channel  string   `json:"channel"`  // the issue where it was announced; "" if there is no channel
	Assigned []string `json:"assigned"` // issues still assigned to the old name
	Due      bool     `json:"due"`      // its loop is running and takes the name when its run ends; nothing else has changed
	DryRun   bool     `json:"dry_run"`
	Diff     string   `json:"diff,omitempty"` // if DryRun
}

// Rename changes the name of an actor that has a file: the file, with a line in Evolution, and
// its presence. It announces the new name on the first open issue with the label channel.
// Records of earlier runs keep the old name.
//
// It is an error (fault.Conflict) if the new name is taken, or if the actor has an issue in
// hand, since claims are recorded by name. A running loop takes the new name when its run ends.
// If a call is interrupted, repeating it completes it.
func Rename(ctx context.Context, a *workspace.Run, r RenameRequest) (*Renamed, error) {
	if err := clone.CheckName(r.New); err != nil {
		return nil, err
	}
	store, options, err := a.ToWrite(ctx, r.DryRun)
	if err != nil {
		return nil, err
	}
	by, err := a.MustActor(ctx)
	if err != nil {
		return nil, err
	}
	if !r.DryRun { // concurrent renames would leave two files
		unlock, err := lockFiles(ctx, a)
		if err != nil {
			return nil, err
		}
		defer func() { _ = unlock() }()
	}
	s, err := look(a)
	if err != nil {
		return nil, err
	}
	old, text, err := s.renamed(r, by)
	if err != nil {
		return nil, err
	}
	self, _ := process.Self()
	if loop := s.presences[r.Old].Process; isThere(loop) && !loop.Same(self.ID) {
		due := &Renamed{Old: r.Old, New: r.New, File: below(s.root, old.Path), Assigned: []string{}, Due: true, DryRun: r.DryRun}
		if r.DryRun {
			return due, nil
		}
		return due, edit(a, r.Old, func(p *clone.Presence) bool { p.Rename = r.New; return true })
	}
	if err := s.busy(r.Old); err != nil {
		return nil, err
	}
	if by == r.Old { // their name when it is announced
		by = r.New
	}
	done := &Renamed{Old: r.Old, New: r.New, File: below(s.root, clone.ProfilePath(s.root, r.New)), Assigned: []string{}, DryRun: r.DryRun}
	if done.Channel, done.Assigned, err = s.mentions(a, r.Old); err != nil {
		return nil, err
	}
	before, after := workspace.HostFile{Path: old.Path, Root: s.root}, workspace.HostFile{Path: clone.ProfilePath(s.root, r.New), Root: s.root}
	there, err := after.Read()
	if err != nil {
		return nil, err
	}
	steps := slices.Concat(after.Change(there, text), []workspace.SetupStep{{Do: func() error { return announce(ctx, store, options, done, by) }},
		{Do: func() error { return moved(a, r) }}, {Do: func() error { return agreeAnew(ctx, a, old, done) }}}, before.Change([]byte(old.Text()), nil))
	for _, step := range steps {
		if done.Diff += step.Diff; !r.DryRun {
			done.Diff, err = "", step.Do()
		}
		if err != nil {
			return nil, err
		}
	}
	return done, nil
}

// agreeAnew carries a person's agreement over to the new name: the commands are the same.
func agreeAnew(ctx context.Context, a *workspace.Run, old *clone.Profile, done *Renamed) error {
	was, err := a.TrustsActor(ctx, old)
	if err != nil || !was.Agreed {
		return err
	}
	root, err := Root(a)
	if err != nil {
		return err
	}
	p, err := clone.LoadProfile(root, done.New)
	if err != nil {
		return err
	}
	now, err := a.TrustsActor(ctx, p)
	if err != nil {
		return err
	}
	return now.AgreeToActor(p)
}

// renamedFrom comes before the old name in the Evolution line of a rename.
const renamedFrom = "renamed from "

// renamed returns the profile of the actor and the text of its file under the new name.
func (s *survey) renamed(r RenameRequest, by string) (old *clone.Profile, text []byte, err error) {
	old, err = clone.LoadProfile(s.root, r.Old)
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := clone.LoadProfile(s.root, r.New); e == nil {
			return nil, nil, &fault.Error{Code: fault.Usage, Reason: r.Old + ": has no file, and " + r.New + " has one", Hint: "type stig actor show " + r.New}
		}
		return nil, nil, &fault.Error{Code: fault.Usage, Reason: r.Old + ": has no file, " + below(s.root, clone.ProfilePath(s.root, r.Old)),
			Hint: "an actor without a file takes its name from STIG_ACTOR"}
	}
	if err != nil {
		return nil, nil, err
	}
	mark := renamedFrom + r.Old
	if half, err := clone.LoadProfile(s.root, r.New); err == nil && strings.Contains(lastLine(half.Section(clone.Evolution)), mark) {
		return old, []byte(half.Text()), nil // an interrupted call
	}
	if slices.Contains(s.names(), r.New) || clone.IsTaken(s.root, r.New) {
		return nil, nil, &fault.Error{Code: fault.Conflict, Reason: r.New + ": the name is taken", Hint: "type stig actor list --all to see the names"}
	}
	if text, err = old.Set("name", r.New); err != nil {
		return nil, nil, err
	}
	text, err = evolved(old.Path, text, signals.Day(s.now)+": "+mark+byOther(by, r.Old))
	return old, text, err
}

// busy returns an error if the actor still has claims under the old name.
func (s *survey) busy(name string) error {
	held := slices.Clone(s.holds[name])
	for _, l := range s.leases[name] {
		if l.Until.After(s.now) && !slices.Contains(held, l.Issue) {
			held = append(held, l.Issue)
		}
	}
	if len(held) > 0 {
		return &fault.Error{Code: fault.Conflict, Reason: name + ": has " + strings.Join(held, ", ") + " in hand", Hint: "type stig release " + held[0] + " --actor " + name + ", or wait until it is done"}
	}
	return nil
}

// mentions returns the first open channel and the unclosed issues assigned to a name.
func (s *survey) mentions(a *workspace.Run, name string) (place string, assigned []string, err error) {
	assigned = []string{}
	file, err := a.Open()
	if err != nil {
		return "", assigned, err
	}
	defer file.Close()
	reader := file.Reader()
	for _, issue := range file.All() {
		if beads.IsClosed(issue.Status) {
			continue
		}
		if issue.Assignee == name {
			assigned = append(assigned, issue.ID)
		}
		if place != "" {
			continue
		}
		record, err := reader.Record(issue)
		if err != nil {
			return "", assigned, err
		}
		if slices.Contains(record.Labels(), beads.ChannelLabel) {
			place = issue.ID
		}
	}
	return place, assigned, nil
}

// announce adds a notification to the channel, if there is one.
func announce(ctx context.Context, store beads.Store, options beads.Options, done *Renamed, by string) error {
	if done.Channel == "" {
		return nil
	}
	t, err := trace.Draft{Type: "notification", Content: map[string]any{"to": "@all", "payload": done.Old + " is called " + done.New + " now"}}.Trace()
	if err != nil {
		return err
	}
	_, err = store.Edit(ctx, options, func(tx *beads.Tx) error {
		return tx.AddComment(done.Channel, beads.Comment{Author: by, Text: t.Text()})
	})
	return err
}

// moved renames the presence and the acknowledgments.
func moved(a *workspace.Run, r RenameRequest) error {
	place, err := placeOf(a)
	if err != nil {
		return err
	}
	if err := place.RenameAcks(r.Old, r.New); err != nil {
		a.Warn("%s: acknowledgments kept this name, so its inbox shows old entries again: %v", r.Old, err)
	}
	was, ok := place.Presence(r.Old)
	if !ok {
		return nil
	}
	err = place.ChangePresence(r.New, func(p *clone.Presence) bool {
		*p = was
		p.Name, p.Rename = r.New, ""
		return true
	})
	if err != nil {
		return err
	}
	if err := place.ForgetPresence(r.Old); err != nil { // the git directory may be read-only
		a.Warn("%s: still known under this name: %v", r.Old, err)
	}
	return nil
}

// evolved adds a line to Evolution in the text of a file.
func evolved(path string, text []byte, line string) ([]byte, error) {
	p, err := clone.ParseProfile(path, string(text))
	if err != nil {
		return nil, err
	}
	return p.Evolved(line)
}

func byOther(by, name string) string {
	if by == "" || by == name {
		return ""
	}
	return ", by " + by
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }
