package board

import (
	"cmp"
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

// view is a page during rendering: a run of the services, and the request.
type view struct {
	*workspace.Run
	ctx     context.Context
	path    []string // elements of the path, unescaped
	raw     string   // the path, escaped
	query   url.Values
	now     time.Time
	Board   *Board
	Who     string // the actor; "" if none is set
	typed   url.Values
	again   bool // what was typed is in its form again
	Address string
	reading reading // the store when the view began
	room    int     // bytes left for long texts

	said   *alert // the outcome of the form in typed; nil if there is none
	placed bool   // it is shown at its form

	shared  bool             // rendered for all browsers, not for one request
	limit   <-chan time.Time // of slow searches; nil until the first one
	unready bool             // a result is missing or old
}

// alert is the message after a form.
type alert struct {
	Bad        bool
	Text, Hint string
	Lost       string // what was typed into a form that is no longer on the page
}

// page is a rendered page.
type page struct {
	Title, Section string
	Waiting        int // decisions, for the title of the browser's tab
	Parts          []part
	Finds          bool          // it has a search field of its own
	Unready        bool          // render it again when pending searches end
	Every          time.Duration // how often it changes without the store; 0 for never
}

// Top, Main and Side return the parts in each place, in order.
func (p page) Top() []part  { return p.in(onTop) }
func (p page) Main() []part { return p.in(inMain) }
func (p page) Side() []part { return p.in(atSide) }

func (p page) in(place where) (list []part) {
	for _, one := range p.Parts {
		if one.Place == place {
			list = append(list, one)
		}
	}
	return list
}

// maker renders the parts of a page. Errors are those of the services.
type maker func(*view) (page, error)

// makerOf returns the maker of a path; nil if there is none.
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
	for i, piece := range v.path { // an id may contain a slash
		if v.path[i], err = url.PathUnescape(piece); err != nil {
			return nil, nil, errNoPage
		}
	}
	v.Say = func(workspace.Level, string) {} // pages show problems themselves
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

// read returns the reading of the store that a run sees.
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

// state returns the current reading of the store.
func (b *Board) state(ctx context.Context) (reading, error) {
	return (&view{Run: b.options.Run.Fresh(ctx, "board")}).read()
}

// made renders a page for all browsers that have it open.
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

// made renders the page of a view.
func (v *view) made(make maker) (page, error) {
	p, err := make(v)
	if err == nil {
		p.Parts = append([]part{{Name: troublePart, Place: onTop}}, p.Parts...)
	}
	p.Unready = v.unready
	return p, err
}

// troublePart is the part of every page that says why it cannot be updated.
const troublePart = "trouble"

// page serves a page.
func (b *Board) page(w http.ResponseWriter, r *http.Request) { b.show(w, r, r.URL.RequestURI(), nil) }

// show serves the page of an address, with the outcome of a form if there is one.
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
			v.typed, v.said = after.typed, said
		}
		if p, err = v.made(make); err == nil && v.again {
			said.Lost = ""
		}
	}
	if v != nil && v.placed {
		said = nil
	}
	p.Unready = p.Unready && after == nil // a reload would lose the outcome of the form and what was typed
	if err != nil {
		made := p
		status, p = b.trouble(err)
		if v = nil; len(made.Parts) > 0 { // the form with invalid filters
			p.Title, p.Section, p.Parts = made.Title, made.Section, append(p.Parts, made.Parts...)
		}
	}
	b.write(w, r, status, v, p, said)
}

// trouble returns the page of an error, with the message of the commands.
func (b *Board) trouble(err error) (int, page) {
	if err == errNoPage {
		return http.StatusNotFound, page{Title: "No such page", Parts: []part{b.troubled(err)}}
	}
	return statusOf(err), page{Title: "This page cannot be shown", Parts: []part{b.troubled(err)}}
}

// troubled returns the part that says why a page cannot be shown.
func (b *Board) troubled(err error) part {
	said := map[string]string{"Text": err.Error(), "Hint": "the pages are listed above"}
	if err != errNoPage {
		f := workspace.Classify(err)
		said = map[string]string{"Text": f.Message, "Hint": f.Hint}
	}
	return part{Name: troublePart, HTML: b.pages.render("trouble", said), Place: onTop}
}

// statusOf returns the HTTP status for an error, by its exit code.
func statusOf(err error) int {
	switch workspace.Classify(err).Code {
	case workspace.ExitNoIssue:
		return http.StatusNotFound
	case workspace.ExitConflict, workspace.ExitWaits:
		return http.StatusConflict
	case workspace.ExitUsage, workspace.ExitFound:
		if errors.Is(err, fs.ErrNotExist) { // for example an unknown actor
			return http.StatusNotFound
		}
		return http.StatusUnprocessableEntity
	}
	return http.StatusServiceUnavailable
}

func (b *Board) missing(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "this address accepts no changes", http.StatusMethodNotAllowed)
		return
	}
	status, p := b.trouble(errNoPage)
	b.write(w, r, status, nil, p, nil)
}

// frame is the data of a whole page.
type frame struct {
	page
	View  *view  // nil for a page without updates
	Alert *alert // the outcome of a form; nil if there was none
	Sum   string
	Again bool // reload it from time to time
	Nav   []place
}

type place struct{ Name, Path, Key string }

func places() []place {
	return []place{{"Today", "/", "t"}, {"Issues", "/issues", "i"}, {"Graph", "/graph", "g"}, {"Actors", "/actors", "a"}, {"Check", "/check", "c"}}
}

func (b *Board) write(w http.ResponseWriter, r *http.Request, status int, v *view, p page, said *alert) {
	f := frame{page: p, View: v, Alert: said, Sum: sumOf(p.Parts), Nav: places()}
	f.Again = said == nil && v == nil && status == http.StatusServiceUnavailable
	text := b.pages.render("frame", f)
	text = strings.ReplaceAll(text, b.stamp, b.door.secret(b.door.session(r)))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	b.door.patient(w) // rendering may have taken long
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the browser may be gone
}

// pages are the parsed templates.
type pages struct{ *template.Template }

func parsed() *pages {
	functions := template.FuncMap{
		"whole":   func(text string) template.HTML { return template.HTML(text) }, // of parts, which are rendered here
		"visible": func(text string) string { return short(text, 2000) },
		"all":     workspace.Visible,
		"passage": func(text string) string { return short(text, 400) },
		"title":   func(text string) string { return short(text, 200) },
		"word":    func(text string) string { return short(text, 60) },
		"join":    strings.Join,
		"escape":  url.PathEscape,
		"query":   url.QueryEscape,
		"tone":    toneOf,
	}
	return &pages{template.Must(template.New("").Funcs(functions).ParseFS(files, "pages/*.html"))}
}

// tones are the classes of states in the style sheet, by their words.
var tones = map[string]string{
	"closed": "good", "active": "good", "active_human": "good", "healthy": "good", "passed": "good", "info": "good",
	"in_progress": "work", "running": "work", "working": "work", "hooked": "work",
	"waits": "you", "to land": "you",
	"blocked": "warn", "paused": "warn", "draining": "warn", "maintenance": "warn", "warning": "warn",
	"error": "bad", "dead": "bad", "failed": "bad", "rejected": "bad", "timeout": "bad",
}

// toneOf returns the class of a state: good, work, you, warn, bad or idle.
func toneOf(state string) string { return cmp.Or(tones[state], "idle") }

// short returns the beginning of a text, with hidden characters made visible.
func short(text string, most int) string {
	return workspace.Visible(visible.ClippedBytes(text, most))
}

// render renders a template. The templates are embedded: an error is a bug in them, and the
// page shows it.
func (p *pages) render(name string, data any) string {
	var text strings.Builder
	if err := p.ExecuteTemplate(&text, name, data); err != nil {
		return "<p class=\"bad\">this part cannot be shown: " + template.HTMLEscapeString(err.Error()) + "</p>"
	}
	return strings.TrimSpace(text.String()) // an empty part takes no space
}

// part renders a part of a page.
func (v *view) part(name string, data any) part {
	before := v.again
	v.again = false
	p := part{Name: name, HTML: v.Board.pages.render(name, v.With(data))}
	p.Typed, v.again = v.again, before || v.again
	return p
}

// top and side render a part above the columns, and in the narrow one.
func (v *view) top(name string, data any) part  { return v.part(name, data).in(onTop) }
func (v *view) side(name string, data any) part { return v.part(name, data).in(atSide) }

func (p part) in(place where) part {
	p.Place = place
	return p
}

// Secret returns a placeholder that write and sender replace by the secret of each browser.
func (v *view) Secret() string { return v.Board.stamp }

// MayWrite and MayAll report what the viewer may do.
func (v *view) MayWrite() bool { return v.Board.options.Write && v.Who != "" }
func (v *view) MayAll() bool   { return v.MayWrite() && v.Board.options.Local }

// Typed returns what was typed into a field of a rejected form.
func (v *view) Typed(form, field string) string {
	if v.typed.Get("form") != form {
		return ""
	}
	v.again = v.again || v.typed.Get(field) != ""
	return v.typed.Get(field)
}

// Failed returns the error of a form, to be shown there; nil if it is not the one that was sent.
func (v *view) Failed(form string) *alert {
	if v.said == nil || !v.said.Bad || v.typed.Get("form") != form {
		return nil
	}
	v.placed, v.again = true, true
	return v.said
}

// With returns data for a template that needs the view too.
func (v *view) With(data any) any {
	return struct {
		View *view
		Data any
	}{v, data}
}

// TitleOf returns the title of an issue, or its id if there is none.
func (v *view) TitleOf(id string) string {
	file, err := v.Open()
	if err != nil {
		return id
	}
	defer file.Close()
	at, ok := file.Index(id)
	if !ok {
		return id
	}
	return cmp.Or(file.At(at).Title, id)
}

// Ago says how long ago a time was; "" for the zero time.
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

// Since returns how long ago a time was.
func (v *view) Since(t time.Time) time.Duration { return v.now.Sub(t) }

// Seconds returns a number of seconds as a duration.
func (v *view) Seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// Time formats a time within days: the time of day, with the date if it was not today.
func (v *view) Time(t time.Time) string {
	if t = t.UTC(); t.Format(time.DateOnly) == v.now.UTC().Format(time.DateOnly) {
		return t.Format("15:04 UTC")
	}
	return t.Format("Mon 15:04 UTC")
}

// Moment and Date format a time, and a day, for a list of what happened.
func (v *view) Moment(t time.Time) string { return visible.Moment(t) }
func (v *view) Date(t time.Time) string   { return t.UTC().Format(time.DateOnly) }

// Clocked formats the time of day, in UTC.
func (v *view) Clocked(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// When formats an RFC 3339 time for people.
func (v *view) When(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return text
	}
	return visible.Moment(t)
}

// IsIssue reports whether this is the page of one issue.
func (v *view) IsIssue() bool { return len(v.path) == 2 && v.path[0] == "issues" }

// Number returns the number of the option at an index, counted from 1.
func (v *view) Number(i int) string { return strconv.Itoa(i + 1) }

// Progresses returns the valid values of progress.
func (v *view) Progresses() []string { return signals.Progress.Domain() }
