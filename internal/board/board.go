// Package board shows a store to people in a browser: what waits for an answer, what each
// actor does, what was closed and with which proof. Pages are made by the server and work
// without a script; with one, the parts of a page that change are sent as they change.
//
// What is written goes through the services that the commands call, as the person who
// started the board, and is refused with the same words. The texts of issues are hostile:
// HTML writes the few tags that it knows and shows everything else as text. The package
// knows no flag and opens no address; it shows what the store holds and keeps nothing.
//
//	b := board.New(board.Options{Run: a, Hosts: []string{"127.0.0.1:8080"}})
//	err := b.Serve(ctx, listener)
package board

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"stig/internal/store/jsonl"
	"stig/internal/workspace"
)

// Options of a board.
type Options struct {
	Run *workspace.Run // of which every request gets a run of its own

	// Names are the hosts by which it may be asked for, beside localhost and addresses in
	// digits.
	Names []string

	Write bool // people may answer and comment
	Local bool // and do all else that the commands do: only on a loopback address

	// Invite is called with each address that lets one browser in.
	Invite func(path string)
}

// Board serves one store.
type Board struct {
	options Options
	door    *door
	hub     *hub
	pages   *pages
	keeper  keeper
	stamp   string // stands in shared pages where each browser's secret goes

	ctx       context.Context // of what goes on when the request that began it is answered
	running   sync.WaitGroup  // of that
	serving   sync.RWMutex    // read by each request
	searching chan struct{}   // see searches
}

// most is how many requests are served at once, pages that wait for updates included.
const most = 256

//go:embed static pages
var files embed.FS

// New gives a board. Nothing is read before the first request.
func New(o Options) *Board {
	o.Run = o.Run.Fresh(o.Run.Ctx, "board")
	o.Run.Cache = jsonl.NewCache(o.Run.Now) // one reading of the store serves all browsers, and an edit has what it changed looked at alone
	b := &Board{options: o, door: newDoor(o), pages: parsed(), stamp: rand.Text(), ctx: o.Run.Ctx, searching: make(chan struct{}, searches)}
	b.hub = &hub{make: b.made, state: b.state, trouble: b.troubled, rooms: map[string]*room{}, wake: newBell()}
	return b
}

// handler answers requests.
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
		mux.HandleFunc("POST /actors/{name}/{verb}", b.post)
	}
	mux.HandleFunc("GET /issues/{id}/{verb}", b.back) // a form was refused there, and its address was opened again
	mux.HandleFunc("GET /actors/{name}/{verb}", b.back)
	mux.HandleFunc("/", b.missing)
	guarded := b.door.guard(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b.serving.TryRLock() { // else the board ends
			defer b.serving.RUnlock()
			guarded.ServeHTTP(w, r)
		}
	})
}

// Serve answers the requests of a listener until ctx ends. Then it closes the connections,
// and returns when all writes and searches have ended.
func (b *Board) Serve(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.ctx = ctx
	server := &http.Server{
		Handler: b.handler(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 20 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, BaseContext: func(net.Listener) context.Context { return ctx },
	}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // its error comes from Serve
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

// bare redirects an address with a trailing slash to the page.
func (b *Board) bare(w http.ResponseWriter, r *http.Request) {
	to := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// back redirects the address of a form to the page that it is on.
func (b *Board) back(w http.ResponseWriter, r *http.Request) {
	name, verb := cmp.Or(r.PathValue("id"), r.PathValue("name")), r.PathValue("verb")
	acts, pages := issueActs(), "/issues/"
	if r.PathValue("id") == "" {
		acts, pages = actorActs(), "/actors/"
	}
	if _, ok := acts[verb]; !ok {
		b.missing(w, r)
		return
	}
	http.Redirect(w, r, pages+url.PathEscape(name), http.StatusSeeOther)
}

// static serves the style sheet and the scripts.
func (b *Board) static(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if strings.HasSuffix(name, ".md") {
		b.missing(w, r)
		return
	}
	w.Header().Set("Cache-Control", "private, max-age=300")
	http.ServeFileFS(w, r, files, "static/"+name)
}
