package board

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// door admits browsers: each by an address that works once, and by a cookie from then on.
type door struct {
	options Options
	cookie  string // its name: cookies of all ports of a host are sent to each
	key     []byte // signs what a form holds
	places  chan struct{}

	mu       sync.Mutex
	token    string          // of the next browser
	sessions map[string]bool // by the value of the cookie
}

func newDoor(o Options) *door {
	return &door{
		options: o, cookie: "stig-" + strings.ToLower(rand.Text()[:8]), key: []byte(rand.Text()),
		places: make(chan struct{}, most), sessions: map[string]bool{}, token: rand.Text(),
	}
}

// invite tells the address of the next browser.
func (d *door) invite() {
	d.mu.Lock()
	path := "/?token=" + d.token
	d.mu.Unlock()
	if d.options.Invite != nil {
		d.options.Invite(path)
	}
}

// secret is what the forms of a session hold.
func (d *door) secret(session string) string {
	mac := hmac.New(sha256.New, d.key)
	mac.Write([]byte(session))
	return hex.EncodeToString(mac.Sum(nil))
}

// session is that of a request; "" for a browser that was not let in.
func (d *door) session(r *http.Request) string {
	c, err := r.Cookie(d.cookie)
	if err != nil {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.sessions[c.Value] {
		return ""
	}
	return c.Value
}

// enter admits a browser that has the token, which is then used up.
func (d *door) enter(token string) (session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if subtle.ConstantTimeCompare([]byte(token), []byte(d.token)) != 1 {
		return ""
	}
	d.token, session = rand.Text(), rand.Text()
	d.sessions[session] = true
	return session
}

// guard refuses requests that no page of this board sent. Its replies to strangers do not
// reveal what is served here.
func (d *door) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers(w.Header())
		d.patient(w)
		if !d.known(r.Host) {
			http.Error(w, "unknown host", http.StatusMisdirectedRequest)
			return
		}
		if token := r.URL.Query().Get("token"); token != "" && r.Method == http.MethodGet {
			d.welcome(w, r, token)
			return
		}
		session := d.session(r)
		if session == "" {
			http.Error(w, "this browser was not let in: open the address that stig board printed last, which works once", http.StatusForbidden)
			return
		}
		select { // a place is for who was let in
		case d.places <- struct{}{}:
			defer func() { <-d.places }()
		default:
			w.Header().Set("Retry-After", "5")
			http.Error(w, "too many pages are open: close some, and load this one again", http.StatusServiceUnavailable)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead && !d.ours(w, r, session) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// patient gives a browser time to take its response, however late an earlier one was on the
// same connection.
func (d *door) patient(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(d.options.Run.Now().Add(patience)) // a recorder of tests has none
}

// headers sets the headers of every response.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer browsers do not say where a form comes from
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// known reports whether a request names this board: a name that somebody else pointed at
// this machine is not known (DNS rebinding). Any port is, since a tunnel has one of its own.
func (d *door) known(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	host = strings.Trim(host, "[]")
	isHost := func(name string) bool { return strings.EqualFold(name, host) }
	return isHost("localhost") || net.ParseIP(host) != nil || slices.ContainsFunc(d.options.Names, isHost)
}

// welcome lets a browser in and leads it to the address without the token.
func (d *door) welcome(w http.ResponseWriter, r *http.Request, token string) {
	session := d.enter(token)
	if session == "" && d.session(r) == "" {
		http.Error(w, "this address was used: open the one that stig board printed last", http.StatusForbidden)
		return
	}
	if session != "" {
		http.SetCookie(w, &http.Cookie{Name: d.cookie, Value: session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		d.invite()
	}
	to := *r.URL
	w.Header().Set("Referrer-Policy", "no-referrer")
	query := to.Query()
	query.Del("token")
	to.RawQuery, to.Host, to.Scheme = query.Encode(), "", ""
	to.Path = "/" + strings.TrimLeft(to.Path, "/")
	http.Redirect(w, r, to.RequestURI(), http.StatusSeeOther)
}

// ours reports whether a form is one of this board's: by its origin, and by the secret that
// only its pages hold.
func (d *door) ours(w http.ResponseWriter, r *http.Request, session string) bool {
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || origin.Host != r.Host || origin.Scheme != "http" {
		http.Error(w, "the form was sent from another page", http.StatusForbidden)
		return false
	}
	if r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
		http.Error(w, "not a form", http.StatusUnsupportedMediaType)
		return false
	}
	r.Body = http.MaxBytesReader(w, r.Body, 3*mostForm) // most bytes are sent as three
	if err := r.ParseForm(); err != nil || sizeOf(r.PostForm) > mostForm {
		http.Error(w, "the form cannot be read, or has more than 64 KiB", http.StatusRequestEntityTooLarge)
		return false
	}
	if subtle.ConstantTimeCompare([]byte(r.PostForm.Get("secret")), []byte(d.secret(session))) != 1 {
		http.Error(w, "the form is of another start of the board: load the page again", http.StatusForbidden)
		return false
	}
	return true
}

// sizeOf is how long what a form holds is, in bytes.
func sizeOf(form url.Values) (n int) {
	for _, values := range form {
		for _, value := range values {
			n += len(value)
		}
	}
	return n
}

// mostForm is how long what is written into a form may be, in bytes.
const mostForm = 64 << 10
