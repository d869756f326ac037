package board

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"stig/app"
	"stig/draw"
)

// graph draws what waits for what, with the way to each issue.
func graph(v *view) (page, error) {
	p := page{Title: "Graph", Section: "Graph"}
	picture, err := v.picture()
	if err != nil {
		return p, err
	}
	found, err := v.Orient(v.ctx, app.OrientRequest{})
	if err != nil {
		return p, err
	}
	zoom, err := strconv.Atoi(v.query.Get("zoom"))
	at := slices.Index(zooms(), zoom)
	if err != nil || at < 0 {
		zoom, at = 100, slices.Index(zooms(), 100)
	}
	p.Parts = []part{v.part("picture", struct {
		SVG, Around     string
		Zoom            int
		Larger, Smaller string
		Path            []string
		Issues          int
	}{picture.SVG(), v.query.Get("around"), zoom, v.zoomed(at + 1), v.zoomed(at - 1), found.Survey.CriticalPath, len(picture.Nodes)})}
	return p, nil
}

// zooms are the sizes of the graph, in percent; the style sheet has a class for each.
func zooms() []int { return []int{25, 50, 75, 100, 150, 200, 300} }

// zoomed is the address of the graph in another size.
func (v *view) zoomed(at int) string {
	return v.at("zoom", strconv.Itoa(zooms()[max(0, min(at, len(zooms())-1))]))
}

// picture is the graph that the address asks for.
func (v *view) picture() (*draw.Picture, error) {
	var ids []string
	if id := v.query.Get("around"); id != "" {
		ids = []string{id}
	}
	picture, err := v.Picture(ids)
	if err == nil {
		picture.Link = func(id string) string { return "/issues/" + url.PathEscape(id) }
	}
	return picture, err
}

// picture answers with the graph alone.
func (b *Board) picture(w http.ResponseWriter, r *http.Request) {
	v, _, err := b.look(r.Context(), "/graph?"+r.URL.RawQuery)
	if err == nil {
		var picture *draw.Picture
		if picture, err = v.picture(); err == nil {
			w.Header().Set("Content-Type", "image/svg+xml")
			_, _ = w.Write([]byte(picture.SVG())) // who left does not see it
			return
		}
	}
	status, _ := b.trouble(err)
	http.Error(w, app.Classify(err).Message, status)
}
