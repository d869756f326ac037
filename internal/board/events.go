package board

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"stig/internal/workspace"
)

const (
	// patience is how long a browser may take to receive a response or an event.
	patience = 10 * time.Second
	// heartbeat is the interval of keep-alives, by which each side notices that the other is
	// gone.
	heartbeat = 20 * time.Second
)

// events streams the parts of a page as they change. What the browser already shows is in
// Last-Event-ID after a reconnect, and in the query of a new page.
func (b *Board) events(w http.ResponseWriter, r *http.Request) {
	address := r.URL.Query().Get("at")
	shows := cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("shows"))
	v, err := b.hub.enter(r.Context(), address, shows, b.options.Run.Now())
	switch {
	case err == errNoPage:
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, workspace.Classify(err).Message, statusOf(err))
		return
	}
	defer b.hub.leave(address, v)
	w.Header().Set("Content-Type", "text/event-stream")
	line := sender{now: b.options.Run.Now, w: w, control: http.NewResponseController(w), stamp: []byte(b.stamp), secret: []byte(b.door.secret(b.door.session(r)))}
	_ = line.control.SetReadDeadline(time.Time{}) // the request has been read; the page stays open for hours
	if line.send([]byte("retry: 1000\n\n")) != nil || r.Method == http.MethodHead {
		return
	}
	breathe := time.NewTicker(heartbeat)
	defer breathe.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-breathe.C:
			if b.door.session(r) == "" { // it ended
				return
			}
			err = line.send([]byte(": \n\n"))
		case <-v.news:
			pending, sum := b.hub.take(v)
			err = line.send(eventsOf(pending, sum))
		}
		if err != nil {
			return
		}
	}
}

// sender writes to one browser, which may be slow.
type sender struct {
	w             http.ResponseWriter
	control       *http.ResponseController
	stamp, secret []byte
	now           func() time.Time
}

func (s sender) send(text []byte) error {
	if err := s.control.SetWriteDeadline(s.now().Add(patience)); err != nil {
		return err
	}
	if _, err := s.w.Write(bytes.ReplaceAll(text, s.stamp, s.secret)); err != nil {
		return err
	}
	return s.control.Flush()
}

// eventsOf formats parts as events, in order of their names. The last one has the checksum of
// the page as its id.
func eventsOf(pending map[string]string, sum string) []byte {
	var b bytes.Buffer
	names := slices.Sorted(maps.Keys(pending))
	for i, name := range names {
		if i == len(names)-1 {
			fmt.Fprintf(&b, "id: %s\n", sum)
		}
		fmt.Fprintf(&b, "event: %s\n", name)
		text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(pending[name]) // each of these ends a line of an event
		for line := range strings.SplitSeq(text, "\n") {
			b.WriteString("data: " + line + "\n")
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}
