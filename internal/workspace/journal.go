package workspace

import (
	"encoding/json"
	"sync"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/merge"
)

// ReadJournal reads the journal of the clone.
func (a *Run) ReadJournal() (clone.Place, clone.Journal, error) {
	place, err := a.LivePlace()
	if err != nil {
		return place, clone.Journal{}, err
	}
	journal, err := place.Journal()
	return place, journal, err
}

// Births gives from the journal what an issue was called when it was made: two
// branches may give one id to two issues in one second, and titles change. known is false
// for an issue that is not in the journal of this clone.
func (a *Run) Births() func(id string, as beads.Origin) (title string, known bool) {
	journal := sync.OnceValue(func() (j clone.Journal) {
		if place, err := a.LivePlace(); err == nil {
			j, _ = place.Journal() // without it the titles of now are compared
		}
		return j
	})
	return func(id string, as beads.Origin) (string, bool) { return titleAtBirth(journal(), id, as) }
}

// titleAtBirth follows the edits of a title back to that of a new issue that
// was made at the same time by the same actor.
func titleAtBirth(j clone.Journal, id string, as beads.Origin) (title string, known bool) {
	made := map[string]bool{}     // titles of new issues with that id
	before := map[string]string{} // of a title, the one that it replaced
	for _, r := range j.Records {
		for _, c := range r.Changes {
			switch {
			case c.Issue != id || r.Result != clone.Written || r.Seen:
			case c.Kind == string(merge.KindIssue):
				if line, err := beads.ParseRecord([]byte(c.Now)); err == nil && line.Origin().Together(as) {
					made[line.Text(beads.Title)] = true
				}
			case c.Kind == string(merge.Key) && c.Name == string(beads.Title):
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

// LivePlace is where the live state of the store of this run is.
func (a *Run) LivePlace() (clone.Place, error) {
	store, err := a.Discover()
	if err != nil {
		return clone.Place{}, err
	}
	return a.Live(store.Place())
}

// WarnOfJournal warns of what cannot be read in the journal. Of many places it names the
// first, since a damaged disk leaves thousands.
func (a *Run) WarnOfJournal(j clone.Journal) {
	const most = 3
	for _, place := range j.Damaged[:min(most, len(j.Damaged))] {
		a.Warn("%s: cannot be read and was passed over", place)
	}
	if more := len(j.Damaged) - most; more > 0 {
		a.Warn("%d more places in the journal cannot be read", more)
	}
}
