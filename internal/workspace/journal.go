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

// Births returns a function that finds the original title of an issue in the journal: two
// branches may create issues with the same id in the same second, and titles change. known is
// false for an issue that is not in the journal of this clone.
func (a *Run) Births() func(id string, as beads.Origin) (title string, known bool) {
	journal := sync.OnceValue(func() (j clone.Journal) {
		if place, err := a.LivePlace(); err == nil {
			j, _ = place.Journal() // without a journal, current titles are compared
		}
		return j
	})
	return func(id string, as beads.Origin) (string, bool) { return titleAtBirth(journal(), id, as) }
}

// titleAtBirth follows the edits of a title back to that of an issue created at the same time
// by the same actor.
func titleAtBirth(j clone.Journal, id string, as beads.Origin) (title string, known bool) {
	made := map[string]bool{}     // titles of new issues with this id
	before := map[string]string{} // by title, the one that it replaced
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

// decoded returns the text of a JSON string.
func decoded(raw string) (text string) {
	_ = json.Unmarshal([]byte(raw), &text) // the journal has valid JSON, as the store had
	return text
}

// LivePlace returns the place of the live state of this run's store.
func (a *Run) LivePlace() (clone.Place, error) {
	store, err := a.Discover()
	if err != nil {
		return clone.Place{}, err
	}
	return a.Live(store.Place())
}

// WarnOfJournal warns of what cannot be read in the journal. It names the first three places,
// since a damaged disk leaves thousands.
func (a *Run) WarnOfJournal(j clone.Journal) {
	const most = 3
	for _, place := range j.Damaged[:min(most, len(j.Damaged))] {
		a.Warn("%s: cannot be read; skipped", place)
	}
	if more := len(j.Damaged) - most; more > 0 {
		a.Warn("%d more places in the journal cannot be read", more)
	}
}
