// Package board shows a store in a browser: open questions, what each actor does, and what was
// closed with which proof. Pages are rendered by the server and work without scripts; with
// scripts, parts of a page are updated as they change.
//
// Changes go through the services of the commands, as the person who started the board, and get
// the same errors. The texts of issues are untrusted: HTML writes a few known tags and shows
// everything else as text. The package parses no flags and opens no listener; it stores nothing
// of its own.
//
//	b := board.New(board.Options{Run: a, Hosts: []string{"127.0.0.1:8080"}})
//	err := b.Serve(ctx, listener)
package board

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// Options configure a board.
type Options struct {
	Run *workspace.Run // each request gets a copy of it

	// Names are the accepted host names, besides localhost and IP addresses.
	Names []string

	Write bool // allow answers and comments
	All   bool // show on Today what waits in other projects too
	Local bool // allow all other changes too; set it only for a loopback address

	// Invite is called with each path that admits one browser.
	Invite func(path string)
}

// Board serves one store.
type Board struct {
	options Options
	door    *door
	hub     *hub
	pages   *pages
	keeper  keeper
	stamp   string // placeholder in shared pages for each browser's secret

	ctx       context.Context // of work that outlives its request
	running   sync.WaitGroup  // counts that work
	serving   sync.RWMutex    // read-locked by each request
	searching chan struct{}   // limits concurrent searches
}

// most is how many requests are served at once, including event streams.
const most = 256

//go:embed static pages
var files embed.FS

// New returns a board. It reads nothing before the first request.
func New(o Options) *Board {
	o.Run = o.Run.Fresh(o.Run.Ctx, "board")
	o.Run.Cache = jsonl.NewCache(o.Run.Now) // all browsers share one parsed store, and after an edit only changed lines are parsed
	b := &Board{options: o, door: newDoor(o), pages: parsed(), stamp: rand.Text(), ctx: o.Run.Ctx, searching: make(chan struct{}, searches)}
	b.door.button = func(token string) string { return b.pages.render("button", token) }
	b.hub = &hub{make: b.made, state: b.state, trouble: b.troubled, rooms: map[string]*room{}, wake: newBell()}
	return b
}

// handler returns the handler of all requests.
func (b *Board) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /static/{name}", b.static)
	mux.HandleFunc("GET /events", b.events)
	mux.HandleFunc("GET /{$}", b.page)
	for _, pattern := range []string{"/issues", "/issues/{id}", "/graph", "/actors", "/actors/{name}", "/check", "/swarm/{id}"} {
		mux.HandleFunc("GET "+pattern, b.page)
		mux.HandleFunc("GET "+pattern+"/{$}", b.bare)
	}
	if b.options.Write {
		mux.HandleFunc("POST /issues/{id}/{verb}", b.post)
	}
	if b.options.Write && b.options.Local {
		mux.HandleFunc("POST /store/{verb}", b.post)
		mux.HandleFunc("POST /actors/{name}/{verb}", b.post)
	}
	mux.HandleFunc("GET /issues/{id}/{verb}", b.back) // reloaded after a form was rejected
	mux.HandleFunc("GET /actors/{name}/{verb}", b.back)
	mux.HandleFunc("GET /store/{verb}", b.back)
	mux.HandleFunc("/", b.missing)
	guarded := b.door.guard(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.serving.TryRLock() { // fails once the board stops
			defer b.serving.RUnlock()
			guarded.ServeHTTP(w, r)
		}
	})
}

// Serve serves requests of a listener until ctx ends. Then it closes all connections, and
// returns when all writes and searches have ended.
func (b *Board) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.ctx = ctx
	server := &http.Server{
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // browsers that refuse the certificate
		Handler:  b.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 20 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // Serve returns its error
	done := make(chan struct{})
	go func() { defer close(done); b.hub.watch(ctx, b.options.Run.Fresh(ctx, "board")) }()
	defer func() {
		cancel()
		<-done
		b.serving.Lock()
		b.running.Wait()
	}()
	b.door.invite()
	err := server.Serve(l)
	if ctx.Err() != nil || errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// bare redirects a path with a trailing slash to the page.
func (b *Board) bare(w http.ResponseWriter, r *http.Request) {
	to := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// back redirects the path of a form to the page of the form.
func (b *Board) back(w http.ResponseWriter, r *http.Request) {
	acts, _, page := actsOf(r)
	if _, ok := acts[r.PathValue("verb")]; !ok {
		b.missing(w, r)
		return
	}
	http.Redirect(w, r, page, http.StatusSeeOther)
}

// static serves the style sheet, the icon and the scripts.
func (b *Board) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if strings.HasSuffix(name, ".md") {
		b.missing(w, r)
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=300")
	http.ServeFileFS(w, r, files, "static/"+name)
}
