package overnight

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
)

// Night is everything known in the morning.
type Night struct {
	Project Project
	Now     time.Time // by the clock of the night
	Lease   time.Duration

	Before, After []Issue // the initial store, and the current one
	Runs          []clone.Run
	Leases        []clone.Lease
	Log           []Edit                 // what stig log prints, oldest first
	Starts        []Start                // the scripted workers' own records
	Repeated      map[string]string      // by closed issue: how its criteria failed on the merged branch; "" if they passed
	Explained     map[string]string      // by unclosed issue: what stig orient prints
	Idle          []Start                // of workers that a loop started when nothing was ready
	Alive         func(clone.Lease) bool // reports whether the process of a lease runs

	Commits  []Commit // on the merged branch, without merges
	Stash    string   // the commit that a person stashed before the night
	Kept     bool     // a reference leads to it
	Popped   bool     // it is no longer stashed
	Config   string   // of the clone, without what a person set during the night
	ConfigAs string   // before the night

	Morning Morning // what stig morning reports about the whole night
}

// Morning is the part of stig morning --json that the judge reads.
type Morning struct {
	Done, Waits []struct{ ID string }
	Failed      []struct {
		ID    string
		Times int
	}
	Outcomes map[string]int
	Cost     struct {
		Runs, Unknown int
		Amounts       map[string]float64
	}
}

// Commit is a commit of the merged branch.
type Commit struct {
	Hash, Author string
	Files        []string
}

// ParseCommits parses the output of git log --no-merges --name-only --format=%x01%H%x00%an.
func ParseCommits(text string) (commits []Commit) {
	for _, part := range strings.Split(text, "\x01")[1:] {
		head, files, _ := strings.Cut(part, "\n")
		hash, author, _ := strings.Cut(head, "\x00")
		commits = append(commits, Commit{Hash: hash, Author: author, Files: strings.Fields(files)})
	}
	return commits
}

// Issue is the part of an issue that the judge reads.
type Issue struct {
	ID       string `json:"id"`
	Type     string `json:"issue_type"`
	Status   string `json:"status"`
	Assignee string `json:"assignee"`
	Criteria string `json:"acceptance_criteria"`
	Notes    string `json:"notes"`
	Reason   string `json:"close_reason"`
	Rows     []row  `json:"dependencies"`
	Comments []struct {
		Author string `json:"author"`
		Text   string `json:"text"`
	} `json:"comments"`
}

// Blockers lists the issues for which the issue waits.
func (i Issue) Blockers() (ids []string) {
	for _, r := range i.Rows {
		if r.Type == "blocks" {
			ids = append(ids, r.DependsOn)
		}
	}
	return ids
}

// ParseStore parses the lines of a store: the judge shares no parser with what it judges.
func ParseStore(text string) (issues []Issue, err error) {
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var one Issue
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return nil, fmt.Errorf("line %d of the store: %w", n+1, err)
		}
		issues = append(issues, one)
	}
	return issues, nil
}

// Edit is an edit of the store as stig log --json prints it.
type Edit struct {
	At       time.Time `json:"at"`
	Actor    string    `json:"actor"`
	Command  string    `json:"command"`
	Worktree string    `json:"worktree"`
	Result   string    `json:"result"`
	Changes  []struct {
		Issue string `json:"issue"`
		Kind  string `json:"kind"`
		Name  string `json:"name"`
		Was   string `json:"was"`
		Now   string `json:"now"`
	} `json:"changes"`
}

// Start is a scripted worker's own record of its start or end, in a file unknown to stig.
type Start struct {
	Issue, Actor, Run string
	Pid               int
	Temper            Temper
	At                time.Time // by the machine's clock
	Wrong             string    // why the worker should not have been started; "" if it should
	Beside            bool      // another worker was on the issue
	Child             int       // process that it started and leaves behind
	End               bool      // the end of that run
}

// ParseStarts parses the workers' records. A kill may have cut off the last line.
func ParseStarts(text string) (starts []Start, err error) {
	for line := range strings.Lines(text) {
		var s Start
		if e := json.Unmarshal([]byte(line), &s); e != nil && strings.HasSuffix(line, "\n") {
			return starts, fmt.Errorf("%q: %w", line, e)
		} else if e == nil {
			starts = append(starts, s)
		}
	}
	return starts, nil
}

// NotReady returns why the actor should not work on the issue now; "" if it may.
func NotReady(issues []Issue, id, actor string) string {
	status := map[string]Issue{}
	for _, i := range issues {
		status[i.ID] = i
	}
	i, ok := status[id]
	switch {
	case !ok:
		return "not in the store"
	case i.Status != "in_progress" || i.Assignee != actor:
		return i.Status + " and held by " + i.Assignee
	case Asked(i.Notes) && HeldBack(i.Notes, actor):
		return "a question waits"
	}
	for _, blocker := range i.Blockers() {
		if status[blocker].Status != "closed" {
			return "blocked by " + blocker
		}
	}
	return ""
}

// HeldBack reports whether an unanswered question keeps the actor from the issue: each does
// unless its heading says that it holds another actor. An answer belongs to the first open
// question.
func HeldBack(notes, actor string) bool {
	var open []string
	for line := range strings.Lines(notes) {
		if strings.HasPrefix(line, "## Pending (") {
			open = append(open, line)
		} else if strings.HasPrefix(line, "## Resolved") && len(open) > 0 {
			open = open[1:]
		}
	}
	for _, heading := range open {
		if _, one, only := strings.Cut(heading, ", holds "); !only || strings.HasPrefix(one, actor+")") {
			return true
		}
	}
	return false
}

// Awaited reports whether a worker's request on the issue must wake the other worker: since the
// run that made the request, that worker has neither ended a run without an issue nor been
// started for this one.
func (i Issue) Awaited(starts []Start) bool {
	for _, c := range i.Comments {
		if !strings.HasPrefix(c.Text, "request: "+Request(i.ID)) {
			continue
		}
		made := 0
		for at, s := range starts {
			if s.Temper == Requests && s.Actor == c.Author && s.Issue == i.ID {
				made = at
			}
		}
		saw := func(s Start) bool { return s.Actor == Other(c.Author) && (s.Issue == i.ID || s.Issue == "" && s.End) }
		if !slices.ContainsFunc(starts[min(made, len(starts)):], saw) {
			return true
		}
	}
	return false
}

// Other returns the worker that a worker asks for something.
func Other(worker string) string {
	if worker == "worker-1" {
		return "worker-2"
	}
	return "worker-1"
}

// Asked reports whether a question in the notes waits for an answer.
func Asked(notes string) bool { return strings.Contains(notes, "| escalation | pending |") }

// Answered reports whether a question in the notes was answered.
func Answered(notes string) bool { return strings.Contains(notes, "| escalation | resolved |") }

// Begins reports whether the note is the first of its run.
func (s Start) Begins() bool { return !s.End && s.Child == 0 }
