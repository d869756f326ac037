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

// RenameRequest gives an actor another name.
type RenameRequest struct {
	Old, New string
	DryRun   bool
}

// Renamed says what became of the name.
type Renamed struct {
	Old      string   `json:"old"`
	New      string   `json:"new"`
	File     string   `json:"file"`     // as it is named now
	Channel  string   `json:"channel"`  // the issue where it was announced; "" where none is a channel
	Assigned []string `json:"assigned"` // issues that still have the old name
	Due      bool     `json:"due"`      // its loop works, and takes the name when its run ends; nothing else was done
	DryRun   bool     `json:"dry_run"`
	Diff     string   `json:"diff,omitempty"` // of a dry run
}

// Rename gives an actor with a file another name: its file, with a line in Evolution,
// and its presence. It is announced on the first open issue with the label channel.
// Records of its runs keep the name that they were made under.
//
// A name that is taken, and an actor with an issue in hand, are fault.Conflict: claims are
// known by the name. Where its loop runs, that takes the name when its run ends. Ended
// half-way, the same call goes on.
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
	if !r.DryRun { // two at once would leave two files
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
	if by == r.Old { // the name that they have when it is announced
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

// agreeAnew keeps what a person agreed to: the same commands under another name.
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

// renamedFrom begins the line of Evolution about a new name, before the old one.
const renamedFrom = "renamed from "

// renamed gives the profile of the actor, and the text of its file under the new name.
func (s *survey) renamed(r RenameRequest, by string) (old *clone.Profile, text []byte, err error) {
	old, err = clone.LoadProfile(s.root, r.Old)
	if errors.Is(err, fs.ErrNotExist) {
		if _, e := clone.LoadProfile(s.root, r.New); e == nil {
			return nil, nil, &fault.Error{Code: fault.Usage, Reason: r.Old + ": has no file, and " + r.New + " has one", Hint: "type stig actor show " + r.New}
		}
		return nil, nil, &fault.Error{Code: fault.Usage, Reason: r.Old + ": has no file, " + below(s.root, clone.ProfilePath(s.root, r.Old)),
			Hint: "who has no file acts under the name in STIG_ACTOR"}
	}
	if err != nil {
		return nil, nil, err
	}
	mark := renamedFrom + r.Old
	if half, err := clone.LoadProfile(s.root, r.New); err == nil && strings.Contains(lastLine(half.Section(clone.Evolution)), mark) {
		return old, []byte(half.Text()), nil // the same call was ended half-way
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

// busy refuses a new name while claims are known by the old one.
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

// mentions finds the first open channel, and the unclosed issues that a name is
// assigned to.
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

// announce leaves a notification on the channel, if there is one.
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

// moved gives the presence to the new name, and what was acknowledged.
func moved(a *workspace.Run, r RenameRequest) error {
	place, err := placeOf(a)
	if err != nil {
		return err
	}
	if err := place.RenameAcks(r.Old, r.New); err != nil {
		a.Warn("%s: what was acknowledged under this name is in the inbox again: %v", r.Old, err)
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
	if err := place.ForgetPresence(r.Old); err != nil { // git's directory may be read-only
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
