package board

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"stig/internal/workspace"
)

// part is a piece of a page that is sent again when it changed.
type part struct {
	Name  string // unique on its page: letters
	HTML  string
	Typed bool // it holds what somebody wrote into a form that was refused, and stays as it is
}

// sumOf is a checksum of what a page shows.
func sumOf(parts []part) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p.Name + "\x00" + p.HTML + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// hub knows which pages are open, and sends what changed on each: a page that many have open
// is rendered once.
type hub struct {
	make    func(ctx context.Context, address string) (page, reading, error)
	state   func(ctx context.Context) (reading, error) // of the store
	trouble func(error) part

	warmed reading // of the store, in which the pages were made that people open first

	mu    sync.Mutex
	rooms map[string]*room // by the address of the page
	wake  chan struct{}
}

// room is one page that somebody has open.
type room struct {
	parts   []part
	sum     string
	of      reading       // of the store
	every   time.Duration // see page.Every
	at      time.Time     // when it was made
	visitor map[*visitor]bool
}

// visitor is one open page. What it did not take yet is replaced by newer parts, so a slow
// one costs no more than a page.
type visitor struct {
	news    chan struct{}
	pending map[string]string // parts by their names; guarded by the hub's mu
	sum     string            // of the page, once those are shown
}

// recheck is how often pages are checked though the store did not change: what actors do is
// kept elsewhere.
const recheck = 800 * time.Millisecond

func newBell() chan struct{} { return make(chan struct{}, 1) }

// changed has the open pages checked now.
func (h *hub) changed() {
	select {
	case h.wake <- struct{}{}:
	default: // they will be
	}
}

// watch checks the open pages when the store changed, and otherwise from time to time, until
// ctx ends.
func (h *hub) watch(ctx context.Context, a *workspace.Run) {
	changes, stop := (<-chan struct{})(nil), func() {}
	if store, err := a.Discover(); err == nil {
		changes, stop = store.Watch()
	}
	defer stop()
	tick := time.NewTicker(recheck)
	defer tick.Stop()
	h.warm(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-changes:
			rest(ctx, 30*time.Millisecond) // several changes in a row are shown at once
		case <-h.wake:
		case <-tick.C:
		}
		began := a.Now()
		h.refresh(ctx, began)
		rest(ctx, min(a.Now().Sub(began), recheck)) // half of the time is for those who load pages
	}
}

// rest waits, until ctx ends at most.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// refresh renders again the open pages that may have changed, and tells their visitors what
// changed.
func (h *hub) refresh(ctx context.Context, now time.Time) {
	due := h.due(now)
	if len(due) == 0 {
		return
	}
	is, broken := h.state(ctx)
	for address, of := range due {
		if broken == nil && of.reading == is && !of.late {
			continue
		}
		made, state, err := h.make(ctx, address)
		if ctx.Err() != nil {
			return
		}
		h.publish(address, made, state, err, now)
	}
	if broken == nil && is != h.warmed {
		h.warmed = is
		h.warm(ctx)
	}
}

// warm makes the pages that people open first and that take longest, so that what they
// show is found before somebody waits for it: at the start, and while somebody looks.
func (h *hub) warm(ctx context.Context) {
	for _, address := range []string{"/", "/check"} {
		if ctx.Err() == nil {
			_, _, _ = h.make(ctx, address) // whoever opens it sees why it cannot be made
		}
	}
}

// last says of an open page how it was made last.
type last struct {
	reading
	late bool // it is to be made anew, whatever the store holds
}

// due lists the open pages.
func (h *hub) due(now time.Time) map[string]last {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := map[string]last{}
	for address, room := range h.rooms {
		list[address] = last{room.of, room.every > 0 && now.Sub(room.at) >= room.every-recheck/4}
	}
	return list
}

// publish tells the visitors of a page what changed on it, or why it cannot be rendered.
func (h *hub) publish(address string, made page, of reading, err error, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := h.rooms[address]
	if room == nil {
		return
	}
	parts := made.Parts
	if err != nil {
		parts = slices.Clone(room.parts)
		for i := range parts {
			if parts[i].Name == troublePart {
				parts[i] = h.trouble(err)
			}
		}
	} else {
		room.every = made.Every
	}
	before := map[string]string{}
	for _, p := range room.parts {
		before[p.Name] = p.HTML
	}
	room.parts, room.sum, room.of, room.at = parts, sumOf(parts), of, now
	for v := range room.visitor {
		for _, p := range parts {
			if before[p.Name] != p.HTML {
				v.pending[p.Name] = p.HTML
			}
		}
		v.tell(room.sum)
	}
}

// tell wakes a visitor for which something is pending.
func (v *visitor) tell(sum string) {
	if v.sum = sum; len(v.pending) == 0 {
		return
	}
	select {
	case v.news <- struct{}{}:
	default: // it was told, and has not looked yet
	}
}

// enter adds a visitor that shows a page of that sum; the page as it is now is pending
// where it differs.
func (h *hub) enter(ctx context.Context, address, shows string, now time.Time) (*visitor, error) {
	if v := h.join(address, shows); v != nil {
		return v, nil
	}
	made, of, err := h.make(ctx, address)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.rooms[address]
	if at == nil {
		at = &room{parts: made.Parts, sum: sumOf(made.Parts), of: of, every: made.Every, at: now, visitor: map[*visitor]bool{}}
		h.rooms[address] = at
	}
	v := &visitor{news: newBell(), pending: map[string]string{}}
	at.visitor[v] = true
	if at.sum != shows { // others may have opened the page meanwhile: all see the same
		for _, p := range at.parts {
			v.pending[p.Name] = p.HTML
		}
		v.tell(at.sum)
	}
	return v, nil
}

// join adds a visitor to an open page that shows what it does; nil where it does not.
func (h *hub) join(address, shows string) *visitor {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.rooms[address]
	if at == nil || at.sum != shows {
		return nil
	}
	v := &visitor{news: newBell(), pending: map[string]string{}, sum: shows}
	at.visitor[v] = true
	return v
}

// leave takes a visitor away.
func (h *hub) leave(address string, v *visitor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := h.rooms[address]
	delete(room.visitor, v)
	if len(room.visitor) == 0 {
		delete(h.rooms, address)
	}
}

// take gives what is pending for a visitor, and the sum of the page with it.
func (h *hub) take(v *visitor) (pending map[string]string, sum string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pending, v.pending = v.pending, map[string]string{}
	return pending, v.sum
}
