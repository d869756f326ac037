package board

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// door admits browsers: with a single-use address, and then by a cookie.
type door struct {
	options Options
	cookie  string // its name, random since browsers send cookies to all ports of a host
	key     []byte // signs the secrets of forms
	places  chan struct{}
	button  func(token string) string // the page that asks before it spends a token

	mu       sync.Mutex
	token    string            // admits the next browser
	sessions map[string]access // by cookie value
}

// access is what is known of a browser that was admitted.
type access struct{ began, seen time.Time }

// A session ends a day after its last request, and a week after it began.
const (
	sessionIdle = 24 * time.Hour
	sessionMost = 7 * 24 * time.Hour
)

func newDoor(o Options) *door {
	return &door{
		options: o, cookie: "stig-" + strings.ToLower(rand.Text()[:8]), key: []byte(rand.Text()),
		places: make(chan struct{}, most), sessions: map[string]access{}, token: rand.Text(),
	}
}

// invite passes on the address for the next browser.
func (d *door) invite() {
	d.mu.Lock()
	path := "/?token=" + d.token
	d.mu.Unlock()
	if d.options.Invite != nil {
		d.options.Invite(path)
	}
}

// secret returns the secret in the forms of a session.
func (d *door) secret(session string) string {
	mac := hmac.New(sha256.New, d.key)
	mac.Write([]byte(session))
	return hex.EncodeToString(mac.Sum(nil))
}

// session returns the session of a request; "" if the browser was not admitted.
func (d *door) session(r *http.Request) string {
	c, err := r.Cookie(d.cookie)
	if err != nil {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.options.Run.Now()
	maps.DeleteFunc(d.sessions, func(_ string, s access) bool { return now.Sub(s.seen) > sessionIdle || now.Sub(s.began) > sessionMost })
	s, known := d.sessions[c.Value]
	if !known {
		return ""
	}
	s.seen = now
	d.sessions[c.Value] = s
	return c.Value
}

// admits reports whether a token is the valid one.
func (d *door) admits(token string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return subtle.ConstantTimeCompare([]byte(token), []byte(d.token)) == 1
}

// enter admits a browser with the valid token, which is then replaced. It returns the new
// session, or "".
func (d *door) enter(token string) (value string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if subtle.ConstantTimeCompare([]byte(token), []byte(d.token)) != 1 {
		return ""
	}
	d.token, value = rand.Text(), rand.Text()
	now := d.options.Run.Now()
	d.sessions[value] = access{began: now, seen: now}
	return value
}

// guard rejects requests that do not come from pages of this board. Its responses do not tell
// strangers what is served here.
func (d *door) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w.Header())
		d.patient(w)
		if !d.known(r.Host) {
			http.Error(w, "unknown host", http.StatusMisdirectedRequest)
			return
		}
		session, token := d.session(r), r.URL.Query().Get("token")
		if token != "" && session == "" && isStatic(r) && d.admits(token) { // of the page with the button
			next.ServeHTTP(w, r)
			return
		}
		if token != "" {
			d.welcome(w, r, session, token)
			return
		}
		if session == "" {
			http.Error(w, "this browser has no access: open the last address that stig board printed; it works once", http.StatusForbidden)
			return
		}
		select { // only admitted browsers take a slot
		case d.places <- struct{}{}:
			defer func() { <-d.places }()
		default:
			w.Header().Set("Retry-After", "5")
			http.Error(w, "too many pages are open: close some and reload this one", http.StatusServiceUnavailable)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead && !d.ours(w, r, session) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// patient restarts the write deadline, which an earlier request on the connection may have used
// up.
func (d *door) patient(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(d.options.Run.Now().Add(patience)) // httptest's recorder has no deadlines
}

// headers sets the headers of all responses.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send no Origin with forms
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// known reports whether the Host of a request is a name of this board; others may be DNS
// rebinding. Any port is accepted, since tunnels use their own.
func (d *door) known(hostPort string) bool {
	host := hostOf(hostPort)
	isHost := func(name string) bool { return strings.EqualFold(name, host) }
	return isHost("localhost") || net.ParseIP(host) != nil || slices.ContainsFunc(d.options.Names, isHost)
}

// hostOf returns the host of a Host header, without its port.
func hostOf(hostPort string) string {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	return strings.Trim(host, "[]")
}

// isNear reports whether a request was sent to a loopback address over plain HTTP. Addresses
// for other machines pass through programs that open links to preview them.
func isNear(r *http.Request) bool {
	host := hostOf(r.Host)
	return r.TLS == nil && (strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback())
}

func isStatic(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/static/")
}

// welcome admits a browser and redirects it to the address without the token. From other
// machines, the first request gets a page with a button, which sends the second one.
func (d *door) welcome(w http.ResponseWriter, r *http.Request, session, token string) {
	switch {
	case session != "":
	case !d.admits(token):
		http.Error(w, "this address was already used: open the last one that stig board printed", http.StatusForbidden)
		return
	case r.Method == http.MethodGet && !isNear(r):
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(d.button(token))) // the browser may be gone
		return
	case r.Method == http.MethodGet, r.Method == http.MethodPost && isOwn(r):
		if session = d.enter(token); session == "" { // another browser was faster
			http.Error(w, "this address was just used: open the last one that stig board printed", http.StatusForbidden)
			return
		}
		http.SetCookie(w, &http.Cookie{
			Name: d.cookie, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
			Secure: r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https",
		})
		d.invite()
	default:
		http.Error(w, "the form was sent from another site", http.StatusForbidden)
		return
	}
	to := *r.URL
	w.Header().Set("Referrer-Policy", "no-referrer")
	query := to.Query()
	query.Del("token")
	to.RawQuery, to.Host, to.Scheme = query.Encode(), "", ""
	to.Path = "/" + strings.TrimLeft(to.Path, "/")
	http.Redirect(w, r, to.RequestURI(), http.StatusSeeOther)
}

// isOwn reports whether a form was sent from a page of this board. A tunnel may add https.
func isOwn(r *http.Request) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && origin.Host == r.Host && (origin.Scheme == "https" || r.TLS == nil && origin.Scheme == "http")
}

// ours reports whether a form comes from a page of this board, by its Origin and its secret. If
// not, it writes the response.
func (d *door) ours(w http.ResponseWriter, r *http.Request, session string) bool {
	if !isOwn(r) {
		http.Error(w, "the form was sent from another site", http.StatusForbidden)
		return false
	}
	if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		http.Error(w, "not a form", http.StatusUnsupportedMediaType)
		return false
	}
	r.Body = http.MaxBytesReader(w, r.Body, 3*mostForm) // most bytes are percent-encoded as three
	if err := r.ParseForm(); err != nil || sizeOf(r.PostForm) > mostForm {
		http.Error(w, "the form is malformed or larger than 64 KiB", http.StatusRequestEntityTooLarge)
		return false
	}
	if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("secret")), []byte(d.secret(session))) != 1 {
		http.Error(w, "the form is from another session: reload the page", http.StatusForbidden)
		return false
	}
	return true
}

// sizeOf returns the total size of the values of a form, in bytes.
func sizeOf(form url.Values) (n int) {
	for _, values := range form {
		for _, value := range values {
			n += len(value)
		}
	}
	return n
}

// mostForm limits the values of a form, in bytes.
const mostForm = 64 << 10
