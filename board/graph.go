package board

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"stig/app/boards"
	"stig/draw"
	"stig/orient"
)

// mostDrawn is how many issues are drawn at once: 600 kB of SVG.
const mostDrawn = 1200

// drawn is a graph as its page shows it.
type drawn struct {
	SVG             string // "" where there is too much
	Issues, Zoom    int
	Larger, Smaller string
	Path            []string
	Epics           []orient.EpicState
	Query           url.Values
}

// graph draws what waits for what, with the way to each issue.
func graph(v *view) (page, error) {
	p := page{Title: "Graph", Section: "Graph"}
	picture, count, err := v.picture()
	if err != nil {
		return p, err
	}
	found, err := v.survey()
	if err != nil {
		return p, err
	}
	zoom, err := strconv.Atoi(v.query.Get("zoom"))
	at := slices.Index(zooms(), zoom)
	if err != nil || at < 0 {
		zoom, at = 100, slices.Index(zooms(), 100)
	}
	shown := drawn{Issues: count, Zoom: zoom, Larger: v.zoomed(at + 1), Smaller: v.zoomed(at - 1), Epics: found.Survey.Epics, Query: v.query}
	if picture != nil {
		shown.SVG, shown.Path = picture.SVG(), found.Survey.CriticalPath
	}
	p.Parts = []part{v.part("picture", shown)}
	return p, nil
}

// zooms are the sizes of the graph, in percent; the style sheet has a class for each.
func zooms() []int { return []int{25, 50, 75, 100, 150, 200, 300} }

// zoomed is the address of the graph in another size.
func (v *view) zoomed(at int) string {
	return v.at("zoom", strconv.Itoa(zooms()[max(0, min(at, len(zooms())-1))]))
}

// picture is the graph that the address asks for; nil, and of how many issues, where it has
// too many.
func (v *view) picture() (*draw.Picture, int, error) {
	r := boards.GraphRequest{Around: v.query.Get("around"), Epic: v.query.Get("epic"), Most: mostDrawn}
	if states := v.query.Get("status"); states != "" {
		r.Status = strings.Split(states, ",")
	}
	picture, count, err := boards.Graph(v.App, r)
	if picture != nil {
		picture.Link = func(id string) string { return "/issues/" + url.PathEscape(id) }
	}
	return picture, count, err
}
