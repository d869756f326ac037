//go:build e2e && unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// The writers of TestLosses and their judge, which reads the store as any program would and
// shares no code with stig.

// lossEdit is an edit of something that no other writer changes.
type lossEdit struct {
	kind  string // claim, signal, estimate, edge, issue or title
	id    string // of the issue; "" for a new one
	text  string // the new value: an actor, a value, a text, a title
	state string // recover's name for it if it is missing
}

// explainedBy reports whether a finding is about this edit.
func (e lossEdit) explainedBy(id, was string) bool {
	return id == e.id || e.kind == "issue" && strings.Contains(was, e.text)
}

// write makes one edit after another until the run ends or the writer has no issues left.
func (r *lossRun) write(writer int) {
	for n := range r.each {
		id, text := lossID(writer, n), fmt.Sprintf("stone %d of %d.", n, writer)
		value := fmt.Sprintf("0.%d%04d", writer+1, n+1)
		value = strings.TrimRight(value, "0")
		actor := fmt.Sprintf("mara-%d-%d", writer, n)
		for _, step := range []struct {
			edit lossEdit
			args []string
		}{
			{lossEdit{kind: "claim", id: id, text: actor}, []string{"claim", id, "--actor", actor}},
			{lossEdit{kind: "signal", id: id, text: value}, []string{"signals", "set", id, "surprise=" + value}},
			{lossEdit{kind: "estimate", id: id, text: text}, []string{"checkpoint", id, "--done", text}},
			{lossEdit{kind: "issue", text: text}, []string{"create", text, "--parent", "mole-epic"}},
			{lossEdit{kind: "edge", id: id, text: "mole-epic"}, []string{"dep", "add", id, "--on", "mole-epic", "--type", "related"}},
		} {
			if r.ended() {
				return
			}
			out, err := r.stig(r.work, step.args...).CombinedOutput()
			r.acknowledge(step.edit, out, err)
		}
	}
}

// acknowledge records an edit that stig reported as made.
func (r *lossRun) acknowledge(e lossEdit, said []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.refused++
		return
	}
	r.edits = append(r.edits, e)
	if bytes.Contains(said, []byte("not in the journal")) && len(r.faults) < 20 {
		r.faults = append(r.faults, string(said))
	}
}

func (r *lossRun) wrote(e lossEdit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.foreign = append(r.foreign, e)
}

// lossIssue is the part of an issue that writers write.
type lossIssue struct {
	ID, Title, Notes, Assignee, Status string
	Dependencies                       []struct {
		On string `json:"depends_on_id"`
	}
}

// lossStore is a store by id.
type lossStore map[string]lossIssue

func readLosses(path string) (lossStore, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	store := lossStore{}
	for line := range bytes.Lines(data) {
		var i lossIssue
		if err := json.Unmarshal(line, &i); err != nil {
			return nil, fmt.Errorf("%s: %w: %.80q", path, err, line)
		}
		if _, twice := store[i.ID]; twice {
			return nil, fmt.Errorf("%s: %s stands twice", path, i.ID)
		}
		store[i.ID] = i
	}
	return store, nil
}

// without lists the edits missing from the store.
func (s lossStore) without(edits []lossEdit) (missing []lossEdit) {
	for _, e := range edits {
		if !s.holds(e) {
			missing = append(missing, e)
		}
	}
	return missing
}

func (s lossStore) holds(e lossEdit) bool {
	i := s[e.id]
	switch e.kind {
	case "claim":
		return i.Assignee == e.text && i.Status == "in_progress"
	case "signal":
		return strings.Contains(i.Notes, "| surprise | "+e.text+" |")
	case "estimate":
		return strings.Contains(i.Notes, e.text)
	case "edge":
		return slices.ContainsFunc(i.Dependencies, func(d struct {
			On string `json:"depends_on_id"`
		}) bool {
			return d.On == e.text
		})
	case "title":
		return i.Title == e.text
	case "issue":
		for _, i := range s {
			if i.Title == e.text {
				return true
			}
		}
	}
	return false
}
