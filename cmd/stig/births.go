package main

import (
	"encoding/json"
	"sync"

	"stig/beads"
	"stig/diff"
	"stig/live"
)

// births gives from the journal what an issue was called when it was made: two
// branches may give one id to two issues in one second, and titles change. What
// the journal of this clone does not know, it does not say.
func (a *core) births() func(id string, as beads.Birth) (title string, known bool) {
	journal := sync.OnceValue(func() (j live.Journal) {
		if place, err := a.livePlace(); err == nil {
			j, _ = place.Journal() // without it the titles of now are compared
		}
		return j
	})
	return func(id string, as beads.Birth) (string, bool) { return titleAtBirth(journal(), id, as) }
}

// titleAtBirth follows the edits of a title back to that of a new issue that
// was made at the same time by the same actor.
func titleAtBirth(j live.Journal, id string, as beads.Birth) (title string, known bool) {
	made := map[string]bool{}     // titles of new issues with that id
	before := map[string]string{} // of a title, the one that it replaced
	for _, r := range j.Records {
		for _, c := range r.Changes {
			switch {
			case c.Issue != id || r.Result != live.Written:
			case c.Kind == string(diff.Issue):
				if line, err := beads.ParseRecord([]byte(c.Now)); err == nil && line.Birth().Together(as) {
					made[line.Text(beads.Title)] = true
				}
			case c.Kind == string(diff.Key) && c.Name == string(beads.Title):
				before[decoded(c.Now)] = decoded(c.Was)
			}
		}
	}
	title = as.Title
	for range before {
		was, edited := before[title]
		if made[title] || !edited {
			break
		}
		title = was
	}
	return title, made[title]
}

// decoded is the text of a JSON string.
func decoded(raw string) (text string) {
	_ = json.Unmarshal([]byte(raw), &text) // the journal holds what the store held
	return text
}
