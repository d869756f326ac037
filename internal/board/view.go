package board

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"stig/internal/beads"
	"stig/internal/visible"
	"stig/internal/workspace"
	"stig/signals"
)

// view is one page as it is made: a run of the services, and what was asked for.
type view struct {
	*workspace.Run
	ctx     context.Context
	path    []string // of the address, by its pieces
	raw     string   // the same as it was written, with what is escaped
	query   url.Values
	now     time.Time
	Board   *Board
	Who     string // acts; "" where nobody is known
	typed   url.Values
	again   bool // what was typed stands in its form again
	Address string
	reading reading // of the store, when the view began
	room    int     // bytes that long texts may still take on the page

	shared  bool             // it is made for all who look at it, and not for a request
	limit   <-chan time.Time // of what takes long; nil before anything was waited for
	unready bool             // something is not on the page yet, or is old
}

// alert is the result of a form.
type alert struct {
	Bad        bool
	Text, Hint string
	Lost       string // what somebody wrote into a form that is not on the page any more
}

// page is what a browser is shown.
type page struct {
	Title, Section string
	Parts          []part
	Unready        bool          // it is to be made anew when what is looked for is there
	Every          time.Duration // it changes without the store, and is looked at so often; 0 for never
}

// maker makes the parts of a page. An error is what the services say of it.
type maker func(*view) (page, error)

// makerOf finds what makes the page of an address; nil for none.
func makerOf(path []string) maker {
	switch {
	case len(path) == 0:
		return today
	case len(path) == 1:
		return map[string]maker{"issues": issues, "graph": graph, "actors": everybody, "check": check}[path[0]]
	case len(path) == 2:
		return map[string]maker{"issues": issue, "actors": actor, "swarm": explored}[path[0]]
	}
	return nil
}

// look starts a view of an address.
func (b *Board) look(ctx context.Context, address string) (*view, maker, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return nil, nil, errNoPage
	}
	v := &view{Run: b.options.Run.Fresh(ctx, "board"), ctx: ctx, raw: u.EscapedPath(), query: u.Query(), Board: b, Address: u.RequestURI(), room: mostTexts}
	if trimmed := strings.Trim(u.EscapedPath(), "/"); trimmed != "" {
		v.path = strings.Split(trimmed, "/")
	}
	for i, piece := range v.path { // an id may hold a slash
		if v.path[i], err = url.PathUnescape(piece); err != nil {
			return nil, nil, errNoPage
		}
	}
	v.Say = func(workspace.Level, string) {} // a page shows what is wrong by itself
	v.Terminal, v.Progress = false, nil
	make := makerOf(v.path)
	if make == nil {
		return nil, nil, errNoPage
	}
	if v.now, err = v.Clock(); err != nil {
		return nil, nil, err
	}
	if v.reading, err = v.read(); err != nil {
		return nil, nil, err
	}
	v.Who, err = kept(v, "actor", longer, func(v *view) (string, error) { return v.ActorName(ctx) })
	return v, make, err
}

var errNoPage = errors.New("there is no such page")

// read says which state of the store a run sees.
func (v *view) read() (reading, error) {
	file, err := v.Open()
	if err != nil {
		return reading{}, err
	}
	defer file.Close()
	if sum := file.Sum(); sum != (beads.Sum{}) {
		return reading{sum: sum}, nil
	}
	return reading{snapshot: file}, nil
}

// state says which state of the store a look would see now.
func (b *Board) state(ctx context.Context) (reading, error) {
	return (&view{Run: b.options.Run.Fresh(ctx, "board")}).read()
}

// made renders a page for all who have it open.
func (b *Board) made(ctx context.Context, address string) (page, reading, error) {
	v, make, err := b.look(ctx, address)
	if err != nil {
		return page{}, reading{}, err
	}
	v.shared = true
	p, err := v.made(make)
	if p.Unready {
		v.reading = reading{}
	}
	return p, v.reading, err
}

// made makes the page of a view.
func (v *view) made(make maker) (page, error) {
	p, err := make(v)
	if err == nil {
		p.Parts = append([]part{{Name: troublePart}}, p.Parts...)
	}
	p.Unready = v.unready
	return p, err
}

// troublePart is the part of every page that says why it cannot be updated.
const troublePart = "trouble"

// page answers with a page.
func (b *Board) page(w http.ResponseWriter, r *http.Request) { b.show(w, r, r.URL.RequestURI(), nil) }

// show answers with the page of an address, after a form with what became of it.
func (b *Board) show(w http.ResponseWriter, r *http.Request, address string, after *outcome) {
	v, make, err := b.look(r.Context(), address)
	status := http.StatusOK
	var p page
	var said *alert
	if after != nil {
		said, status = &after.alert, after.status
	}
	if err == nil {
		if after != nil {
			v.typed = after.typed
		}
		if p, err = v.made(make); err == nil && v.again {
			said.Lost = ""
		}
	}
	if err != nil {
		made := p
		status, p = b.trouble(err)
		if v = nil; len(made.Parts) > 0 { // the form whose filters are refused
			p.Title, p.Section, p.Parts = made.Title, made.Section, append(p.Parts, made.Parts...)
		}
	}
	b.write(w, r, status, v, p, said)
}

// trouble is the page of an error, in the words of the commands.
func (b *Board) trouble(err error) (int, page) {
	if err == errNoPage {
		return http.StatusNotFound, page{Title: "No such page", Parts: []part{b.troubled(err)}}
	}
	status := statusOf(workspace.Classify(err).Code)
	if status == http.StatusUnprocessableEntity && errors.Is(err, fs.ErrNotExist) { // such as an actor that nobody knows
		status = http.StatusNotFound
	}
	return status, page{Title: "This cannot be shown", Parts: []part{b.troubled(err)}}
}

// troubled is the part that says why a page cannot be made.
func (b *Board) troubled(err error) part {
	said := map[string]string{"Text": err.Error(), "Hint": "the pages are named above"}
	if err != errNoPage {
		f := workspace.Classify(err)
		said = map[string]string{"Text": f.Message, "Hint": f.Hint}
	}
	return part{Name: troublePart, HTML: b.pages.render("trouble", said)}
}

// statusOf gives the status of an answer that says how a service ended.
func statusOf(code int) int {
	switch code {
	case workspace.ExitDone:
		return http.StatusOK
	case workspace.ExitNoIssue:
		return http.StatusNotFound
	case workspace.ExitConflict, workspace.ExitWaits:
		return http.StatusConflict
	case workspace.ExitUsage, workspace.ExitFound:
		return http.StatusUnprocessableEntity
	}
	return http.StatusServiceUnavailable
}

func (b *Board) missing(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "this board writes nothing here", http.StatusMethodNotAllowed)
		return
	}
	status, p := b.trouble(errNoPage)
	b.write(w, r, status, nil, p, nil)
}

// frame is what stands around the parts of a page.
type frame struct {
	page
	View  *view  // nil for a page that does not change while it is looked at
	Alert *alert // what became of a form; nil for nothing
	Sum   string
	Again bool // it is to be loaded again from time to time
	Nav   []place
}

type place struct{ Name, Path, Key string }

func places() []place {
	return []place{{"Today", "/", "t"}, {"Issues", "/issues", "i"}, {"Graph", "/graph", "g"}, {"Actors", "/actors", "a"}, {"Check", "/check", "c"}}
}

func (b *Board) write(w http.ResponseWriter, r *http.Request, status int, v *view, p page, said *alert) {
	f := frame{page: p, View: v, Alert: said, Sum: sumOf(p.Parts), Nav: places()}
	if said == nil { // what a form came to, and what was written into it, stays until somebody read it
		f.Again = v == nil && status == http.StatusServiceUnavailable
	} else {
		f.Unready = false
	}
	text := b.pages.render("frame", f)
	text = strings.ReplaceAll(text, b.stamp, b.door.secret(b.door.session(r)))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	b.door.patient(w) // what was asked for may have taken long
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // who left does not see it
}

// pages are the templates.
type pages struct{ *template.Template }

func parsed() *pages {
	functions := template.FuncMap{
		"whole":   func(text string) template.HTML { return template.HTML(text) }, // of parts, which were made here
		"visible": func(text string) string { return short(text, 2000) },
		"all":     workspace.Visible,
		"passage": func(text string) string { return short(text, 400) },
		"title":   func(text string) string { return short(text, 200) },
		"word":    func(text string) string { return short(text, 60) },
		"join":    strings.Join,
		"escape":  url.PathEscape,
		"query":   url.QueryEscape,
	}
	return &pages{template.Must(template.New("").Funcs(functions).ParseFS(files, "pages/*.html"))}
}

// short is the beginning of a text, with what is hidden in it visible.
func short(text string, most int) string {
	return workspace.Visible(visible.ClippedBytes(text, most))
}

// render makes a piece of a page. The templates are part of the program: that one fails is
// a mistake in them, which the page then says.
func (p *pages) render(name string, data any) string {
	var text strings.Builder
	if err := p.ExecuteTemplate(&text, name, data); err != nil {
		return "<p class=\"bad\">this part cannot be shown: " + template.HTMLEscapeString(err.Error()) + "</p>"
	}
	return text.String()
}

// part renders a part of a page with what the view knows.
func (v *view) part(name string, data any) part {
	before := v.again
	v.again = false
	p := part{Name: name, HTML: v.Board.pages.render(name, struct {
		View *view
		Data any
	}{v, data})}
	p.Typed, v.again = v.again, before || v.again
	return p
}

// Secret is what forms hold: a stamp that stands for the secret of each browser.
func (v *view) Secret() string { return v.Board.stamp }

// MayWrite and MayAll report what people may do here.
func (v *view) MayWrite() bool { return v.Board.options.Write && v.Who != "" }
func (v *view) MayAll() bool   { return v.MayWrite() && v.Board.options.Local }

// Typed is what somebody wrote into a form that was refused.
func (v *view) Typed(form, field string) string {
	if v.typed.Get("form") != form {
		return ""
	}
	v.again = v.again || v.typed.Get(field) != ""
	return v.typed.Get(field)
}

// Ago says how long ago something was.
func (v *view) Ago(t time.Time) string {
	switch d := v.now.Sub(t); {
	case t.IsZero():
		return ""
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
}

// Clocked is the time of the day.
func (v *view) Clocked(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// When shows a time of RFC 3339 for people.
func (v *view) When(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return visible.Moment(t)
}

// IsIssue reports whether this is the page of one issue.
func (v *view) IsIssue() bool { return len(v.path) == 2 && v.path[0] == "issues" }

// Number is the number of the option at an index, as people count.
func (v *view) Number(i int) string { return strconv.Itoa(i + 1) }

// Progresses are the values that the progress of an issue may have.
func (v *view) Progresses() []string { return signals.Progress.Domain() }
