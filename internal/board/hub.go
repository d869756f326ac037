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

// part is a piece of a page that is sent again when it changes.
type part struct {
	Name  string // unique on its page; letters only
	HTML  string
	Typed bool // it has what was typed into a rejected form, and must not be replaced
	Place where
}

// where is the place of a part on its page.
type where int

const (
	inMain where = iota
	onTop        // above both columns
	atSide       // in the narrow column, which is the last one on a telephone
)

// sumOf returns a checksum of the parts of a page.
func sumOf(parts []part) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p.Name + "\x00" + p.HTML + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// hub tracks the open pages and sends what changes on each. It renders a page once for all
// browsers that show it.
type hub struct {
	make    func(ctx context.Context, address string) (page, reading, error)
	state   func(ctx context.Context) (reading, error) // of the store
	trouble func(error) part

	warmed reading // the store for which the first pages were rendered in advance

	mu    sync.Mutex
	rooms map[string]*room // by the address of the page
	wake  chan struct{}
}

// room is a page that is open in one or more browsers.
type room struct {
	parts   []part
	sum     string
	of      reading       // of the store
	every   time.Duration // see page.Every
	at      time.Time     // when it was rendered
	visitor map[*visitor]bool
}

// visitor is one open page. Newer parts replace pending ones, so a slow browser costs at most
// one page of memory.
type visitor struct {
	news    chan struct{}
	pending map[string]string // by part name; guarded by hub.mu
	sum     string            // of the page, after the pending parts
}

// recheck is how often pages are rendered again if the store does not change, since the state
// of actors is stored elsewhere.
const recheck = 800 * time.Millisecond

func newBell() chan struct{} { return make(chan struct{}, 1) }

// changed requests a check of the open pages now.
func (h *hub) changed() {
	select {
	case h.wake <- struct{}{}:
	default: // already requested
	}
}

// watch checks the open pages when the store changes, and at least every recheck, until ctx
// ends.
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
			rest(ctx, 30*time.Millisecond) // coalesces bursts of changes
		case <-h.wake:
		case <-tick.C:
		}
		began := a.Now()
		h.refresh(ctx, began)
		rest(ctx, min(a.Now().Sub(began), recheck)) // leaves half of the time for page loads
	}
}

// rest waits for d, or until ctx ends.
func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// refresh renders the open pages that may have changed, and sends the changed parts.
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

// warm renders the first and slowest pages, so that their results are cached before somebody
// opens them: at the start, and after changes while pages are open.
func (h *hub) warm(ctx context.Context) {
	for _, address := range []string{"/", "/check", "/issues"} {
		if ctx.Err() == nil {
			_, _, _ = h.make(ctx, address) // whoever opens the page sees the error
		}
	}
}

// last is the state for which an open page was rendered.
type last struct {
	reading
	late bool // it is due, whether or not the store changed
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

// publish sends the changed parts of a page, or why it cannot be rendered.
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

// tell wakes a visitor that has pending parts.
func (v *visitor) tell(sum string) {
	if v.sum = sum; len(v.pending) == 0 {
		return
	}
	select {
	case v.news <- struct{}{}:
	default: // already woken
	}
}

// enter adds a visitor of a page whose browser shows the state with checksum shows. If the
// current one differs, all its parts are pending.
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
	if at.sum != shows { // others may have opened the page meanwhile, and all see the same
		for _, p := range at.parts {
			v.pending[p.Name] = p.HTML
		}
		v.tell(at.sum)
	}
	return v, nil
}

// join adds a visitor to an open page with checksum shows; it returns nil if there is none.
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

// leave removes a visitor.
func (h *hub) leave(address string, v *visitor) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := h.rooms[address]
	delete(room.visitor, v)
	if len(room.visitor) == 0 {
		delete(h.rooms, address)
	}
}

// take returns and clears the pending parts of a visitor, and the checksum of the page with
// them.
func (h *hub) take(v *visitor) (pending map[string]string, sum string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	pending, v.pending = v.pending, map[string]string{}
	return pending, v.sum
}
