package board

import (
	"net/url"
	"slices"
	"strconv"

	"stig/internal/draw"
	"stig/internal/fault"
	"stig/internal/service"
	"stig/internal/workspace"
)

// mostDrawn is how many issues are drawn at once: 600 kB of SVG, and up to 4 MB more for the
// bends of edges that pass columns, see package draw.
const mostDrawn = 1200

// drawn is the data of the graph page.
type drawn struct {
	*Graphed
	SVG             string // "" if there are too many issues, or none
	Legend          []draw.Key
	Ways            *service.Ways // the paths between two issues; nil if none were asked for
	Zoom            int
	Larger, Smaller string // addresses; "" at the end of the scale
	Query           url.Values
}

// graph is the page of the dependency graph; each box links to its issue.
func graph(v *view) (page, error) {
	p := page{Title: "Graph", Section: "Graph"}
	q := v.query
	found, err := Graph(v.Run, GraphRequest{Around: q.Get("around"), Epic: q.Get("epic"), Status: v.listed("status"), Most: mostDrawn})
	if found == nil {
		return p, err
	}
	shown := drawn{Graphed: found, Query: q}
	shown.zoom(v)
	p.Parts = []part{v.part("graph-filters", shown)} // stays on the page if the filters are invalid
	if err != nil {
		return p, err
	}
	if q.Get("from") != "" || q.Get("to") != "" {
		if shown.Ways, err = waysOf(v.Run, q.Get("from"), q.Get("to")); err != nil {
			return p, err
		}
		found.Picture, found.Issues = shown.Ways.Picture, len(shown.Ways.Picture.Nodes)
	}
	if found.Picture != nil && found.Issues > 0 {
		shown.SVG = found.Picture.Inline(func(id string) string { return "/issues/" + url.PathEscape(id) })
		shown.Legend = found.Picture.Legend()
	}
	p.Parts = append(p.Parts, v.part("picture", shown))
	return p, nil
}

// waysOf returns how one of two issues waits for the other, whichever does.
func waysOf(a *workspace.Run, from, to string) (*service.Ways, error) {
	if from == "" || to == "" {
		return nil, &fault.Error{Code: fault.Usage, Reason: "a path has two ends", Hint: "enter both issues"}
	}
	ways, err := service.WaysBetween(a, from, to)
	if err != nil || len(ways.Ways) > 0 {
		return ways, err
	}
	if back, err := service.WaysBetween(a, to, from); err != nil || len(back.Ways) > 0 {
		return back, err
	}
	return ways, nil
}

// zooms returns the sizes of the graph, in percent of the width of the page. The style sheet
// has a class for each.
func zooms() []int { return []int{100, 150, 200, 300, 400, 600} }

// zoom reads the size from the query, and sets the addresses of the next ones.
func (d *drawn) zoom(v *view) {
	zoom, _ := strconv.Atoi(v.query.Get("zoom"))
	at := max(0, slices.Index(zooms(), zoom))
	d.Zoom = zooms()[at]
	if at > 0 {
		d.Smaller = v.at("zoom", strconv.Itoa(zooms()[at-1]))
	}
	if at+1 < len(zooms()) {
		d.Larger = v.at("zoom", strconv.Itoa(zooms()[at+1]))
	}
}
