package board

import (
	"net/url"
	"slices"
	"strconv"
)

// mostDrawn is how many issues are drawn at once: 600 kB of SVG, and up to 4 MB more for
// the bends of edges that pass columns, see package draw.
const mostDrawn = 1200

// drawn is a graph as its page shows it.
type drawn struct {
	*Graphed
	SVG             string // "" where there is too much, or nothing
	Zoom            int
	Larger, Smaller string
	Query           url.Values
}

// graph draws what waits for what, with the way to each issue.
func graph(v *view) (page, error) {
	p := page{Title: "Graph", Section: "Graph"}
	r := GraphRequest{Around: v.query.Get("around"), Epic: v.query.Get("epic"), Status: v.listed("status"), Most: mostDrawn}
	found, err := Graph(v.Run, r)
	if found == nil {
		return p, err
	}
	zoom, wrong := strconv.Atoi(v.query.Get("zoom"))
	at := slices.Index(zooms(), zoom)
	if wrong != nil || at < 0 {
		zoom, at = 100, slices.Index(zooms(), 100)
	}
	shown := drawn{Graphed: found, Zoom: zoom, Larger: v.zoomed(at + 1), Smaller: v.zoomed(at - 1), Query: v.query}
	p.Parts = []part{v.part("graph-filters", shown)} // which stay where they are refused
	if err != nil {
		return p, err
	}
	if found.Picture != nil && found.Issues > 0 {
		found.Picture.Link = func(id string) string { return "/issues/" + url.PathEscape(id) }
		shown.SVG = found.Picture.SVG()
	}
	p.Parts = append(p.Parts, v.part("picture", shown))
	return p, nil
}

// zooms are the sizes of the graph, in percent; the style sheet has a class for each.
func zooms() []int { return []int{25, 50, 75, 100, 150, 200, 300} }

// zoomed is the address of the graph in another size.
func (v *view) zoomed(at int) string {
	return v.at("zoom", strconv.Itoa(zooms()[max(0, min(at, len(zooms())-1))]))
}
