package board

import (
	"net/url"
	"slices"
	"strconv"
)

// mostDrawn is how many issues are drawn at once: 600 kB of SVG, and up to 4 MB more for the
// bends of edges that pass columns, see package draw.
const mostDrawn = 1200

// drawn is the data of the graph page.
type drawn struct {
	*Graphed
	SVG             string // "" if there are too many issues, or none
	Zoom            int
	Larger, Smaller string
	Query           url.Values
}

// graph is the page of the dependency graph; each box links to its issue.
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
	p.Parts = []part{v.part("graph-filters", shown)} // stays on the page if the filters are invalid
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

// zooms returns the sizes of the graph, in percent. The style sheet has a class for each.
func zooms() []int { return []int{25, 50, 75, 100, 150, 200, 300} }

// zoomed returns the address of the graph in another size.
func (v *view) zoomed(at int) string {
	return v.at("zoom", strconv.Itoa(zooms()[max(0, min(at, len(zooms())-1))]))
}
