package git

import (
	"fmt"
	"slices"
	"strings"
)

// SharedKind is the kind of a change in the shared state.
type SharedKind string

const (
	SharedSetting SharedKind = "setting"
	SharedBranch  SharedKind = "branch"
	SharedTag     SharedKind = "tag"
	SharedRef     SharedKind = "reference"
	SharedStash   SharedKind = "stash"
	SharedFile    SharedKind = "file of git" // a hook, or one of info
	SharedHead    SharedKind = "checkout"    // what a work tree has checked out
	SharedPath    SharedKind = "file"        // of a checkout
)

// SharedChange is one change in what a repository shares.
type SharedChange struct {
	Kind SharedKind `json:"kind"`
	Name string     `json:"name"`           // of a stash its commit, of a checkout its directory
	Was  string     `json:"was"`            // without credentials; "" for nothing
	Now  string     `json:"now"`            // the same
	In   string     `json:"in,omitempty"`   // the directory of the checkout; of a setting the file in git's directory, or global
	By   string     `json:"by,omitempty"`   // the actor who signed it; "" for nobody
	Back bool       `json:"back"`           // a setting that stig put back
	Kept string     `json:"kept,omitempty"` // the reference by which stig keeps a stash
}

// IsGrave reports whether people are always told about a change: not about their own commits,
// branch switches and edits during a run.
func (c SharedChange) IsGrave() bool {
	switch c.Kind {
	case SharedSetting:
		return !strings.HasPrefix(c.Name, "branch.") // whose tracked files git keeps
	case SharedFile:
		return true
	case SharedTag:
		return c.By != "" || c.Was != "" // people seldom move one
	case SharedStash:
		return (c.By == "") == (c.Now == "")
	}
	return c.By != ""
}

// Has reports whether the current state is that after a change.
func (s Shared) Has(c SharedChange) bool {
	switch c.Kind {
	case SharedSetting:
		return shownValues(c.Name, s.Settings[c.In+"/"+c.Name]) == c.Now
	case SharedStash:
		return slices.Contains(s.Stashes, c.Name) == (c.Now != "")
	case SharedFile:
		return s.Files[c.Name] == c.Now
	case SharedHead:
		return s.Heads[c.Name] == c.Now
	case SharedPath:
		return s.Paths[c.Name] == c.Now
	}
	return s.Refs[c.ref()] == c.Now
}

// ref is the full name of a changed reference.
func (c SharedChange) ref() string {
	return map[SharedKind]string{SharedBranch: "refs/heads/", SharedTag: "refs/tags/"}[c.Kind] + c.Name
}

// String describes the change in a few words.
func (c SharedChange) String() string {
	switch c.Kind {
	case SharedSetting:
		text := "the git setting " + c.Name
		if c.In == GlobalConfig {
			text += " of all repositories"
		}
		text += fromTo("set to", c.Was, c.Now)
		if c.Back {
			text += ", and stig put it back"
		}
		return text
	case SharedStash:
		if c.Now != "" {
			return fmt.Sprintf("the stash %.12s was made (%s)", c.Name, c.Now)
		}
		text := fmt.Sprintf("the stash %.12s (%s) is gone from the list", c.Name, c.Was)
		if c.Kept != "" {
			text += "; " + c.Kept + " keeps it"
		}
		return text
	case SharedHead:
		return "the checkout " + c.Name + fromTo("", branchIn(c.Was), branchIn(c.Now))
	case SharedFile:
		return c.Name + " in git's directory" + made(c)
	case SharedPath:
		return c.Name + " changed in the checkout " + c.In
	}
	text := fmt.Sprintf("the %s %s%s", c.Kind, c.Name, fromTo("made at", short(c.Was), short(c.Now)))
	if c.In != "" {
		text += " in the checkout " + c.In
	}
	return text
}

// made says whether a file changed, is new or is gone.
func made(c SharedChange) string {
	switch {
	case c.Was == "":
		return " was made"
	case c.Now == "":
		return " was removed"
	}
	return " changed"
}

// fromTo describes the change of a value; set is the verb if it had none.
func fromTo(set, was, now string) string {
	switch {
	case was == "":
		return " was " + set + " " + now
	case now == "":
		return " was removed; it was " + was
	}
	return " changed from " + was + " to " + now
}

func short(commit string) string { return fmt.Sprintf("%.12s", commit) }

// branchIn is the branch of a HEAD, or its shortened commit.
func branchIn(head string) string {
	if branch, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
		return branch
	}
	return short(head)
}
