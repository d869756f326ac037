package load

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The operations of a worker that takes issues from a pool, in order.
const (
	Claim      = "claim"
	Checkpoint = "checkpoint"
	Comment    = "comment"
	Release    = "release"
)

// Event is an acknowledged operation.
type Event struct {
	Worker     int
	Op, Issue  string
	Text       string        // the text of a checkpoint or a comment
	Begin, End time.Duration // since the run began
}

// when returns the time by which events are ordered: a worker holds an issue from the end of
// its claim to the start of its release.
func (e Event) when() time.Duration {
	if e.Op == Claim {
		return e.End
	}
	return e.Begin
}

// PoolID returns the id of the nth issue that workers claim, from 0.
func PoolID(prefix string, n int) string { return fmt.Sprintf("%s-pool%d", prefix, n) }

// Pool returns lines of issues to claim, to be appended to a store.
func Pool(prefix string, size int) []byte {
	var text strings.Builder
	for n := range size {
		fmt.Fprintf(&text, `{"id":%q,"title":"Lay stone %d of the mole","description":"It is wide.","status":"open","priority":2,"issue_type":"task","created_at":"2026-11-01T08:00:00Z","updated_at":"2026-11-01T08:00:00Z"}`+"\n", PoolID(prefix, n), n)
	}
	return []byte(text.String())
}

// claimed is the part of an issue that the judge of claims reads.
type claimed struct {
	kept
	Status   string `json:"status"`
	Assignee string `json:"assignee"`
	Notes    string `json:"notes"`
}

// JudgeClaims compares the acknowledged operations with the text of the store: nobody held an
// issue while another did, each comment is there once, and each issue is as the last
// acknowledged operations left it. actor returns the name of a worker.
func JudgeClaims(text []byte, events []Event, actor func(worker int) string) (faults []string) {
	byIssue := map[string][]Event{}
	for _, e := range events {
		byIssue[e.Issue] = append(byIssue[e.Issue], e)
	}
	for line := range strings.Lines(string(text)) {
		var now claimed
		if err := json.Unmarshal([]byte(line), &now); err != nil {
			return append(faults, fmt.Sprintf("%.200q: %v", line, err))
		}
		if list := byIssue[now.ID]; list != nil {
			faults = append(faults, judgeIssue(now, list, actor)...)
			delete(byIssue, now.ID)
		}
	}
	for id := range byIssue {
		faults = append(faults, id+" is not in the store")
	}
	slices.Sort(faults)
	return faults
}

func judgeIssue(now claimed, list []Event, actor func(int) string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, now.ID+": "+fmt.Sprintf(format, args...)) }
	slices.SortFunc(list, func(a, b Event) int { return cmp.Compare(a.when(), b.when()) })
	holder, note, said := "", "", map[string]int{}
	for _, c := range now.Comments {
		said[c.Text]++
	}
	for _, e := range list {
		who := actor(e.Worker)
		switch e.Op {
		case Claim:
			if holder != "" && holder != who {
				fault("%s got it at %s while %s held it", who, e.End, holder)
			}
			holder = who
		case Checkpoint:
			note = e.Text
		case Comment:
			if said[e.Text] != 1 {
				fault("comment %q appears %d times", e.Text, said[e.Text])
			}
		case Release:
			holder = ""
		}
	}
	status := map[bool]string{true: "open", false: "in_progress"}[holder == ""]
	if now.Status != status || now.Assignee != holder {
		fault("%s and held by %q, want %s and %q", now.Status, now.Assignee, status, holder)
	}
	if note != "" && !strings.Contains(now.Notes, note) {
		fault("last checkpoint %q is missing", note)
	}
	return faults
}
