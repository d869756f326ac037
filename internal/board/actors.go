package board

import (
	"slices"

	"stig/internal/loop/actors"
	"stig/internal/service/traces"
)

// everybody is the page of all actors of the clone.
func everybody(v *view) (page, error) {
	p := page{Title: "Actors", Section: "Actors", Every: recheck}
	listed, err := actors.List(v.Run, actors.ListRequest{All: v.query.Get("all") != ""})
	if err != nil {
		return p, err
	}
	n := min(len(listed.Actors), mostActors)
	p.Parts = []part{v.part("actors", struct {
		List         []*actors.Actor
		More, Hidden int
	}{listed.Actors[:n], len(listed.Actors) - n, listed.Hidden})}
	return p, nil
}

// Limits of the actors, and of the inbox items, on a page.
const (
	mostActors = 100
	mostItems  = 100
)

// actor is the page of one actor: state, inbox, runs and log.
func actor(v *view) (page, error) {
	name := v.path[1]
	p := page{Title: name, Section: "Actors", Every: recheck}
	shown, err := actors.Show(v.Run, name)
	if err != nil {
		return p, err
	}
	runs, err := actors.Runs(v.Run, actors.RunsRequest{Name: name})
	if err != nil {
		return p, err
	}
	items, err := traces.ListInbox(v.ctx, v.Run, traces.InboxRequest{Actor: name})
	if err != nil {
		items = []traces.Item{} // no inbox has that name
	}
	slices.Reverse(runs)
	p.Parts = []part{
		v.part("standing", shown), v.part("inbox", struct {
			List        []traces.Item
			Total, More int
		}{items[:min(len(items), mostItems)], len(items), max(0, len(items)-mostItems)}),
		v.part("runs", struct {
			Runs  []actors.Run
			Words []string
		}{runs[:min(len(runs), 30)], v.words(name)}),
	}
	return p, nil
}
