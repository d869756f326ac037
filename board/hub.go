package board

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"stig/app"
)

// part is a piece of a page that is sent anew when it changed.
type part struct {
	Name string // unique on its page: letters
	HTML string
}

// sumOf names what a page shows.
func sumOf(parts []part) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p.Name + "\x00" + p.HTML + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// hub knows which pages are open, and sends what changed on each: a page that many look
// at is made once.
type hub struct {
	make func(ctx context.Context, address string) ([]part, error)

	mu    sync.Mutex
	rooms map[string]*room // by the address of the page
	wake  chan struct{}
}

// room is one page that somebody looks at.
type room struct {
	parts   []part
	sum     string
	visitor map[*visitor]bool
}

// visitor is one open page. What was not taken yet is replaced by what is newer, so a slow
// one costs no more than a page.
type visitor struct {
	news    chan struct{}
	pending map[string]string // parts by their names; guarded by the hub's mu
	sum     string            // of the page, once those are shown
}

// beat is how often pages are looked at whose store did not change: what actors do is kept
// elsewhere.
const beat = 2 * time.Second

func newHub(make func(context.Context, string) ([]part, error)) *hub {
	return &hub{make: make, rooms: map[string]*room{}, wake: newBell()}
}

func newBell() chan struct{} { return make(chan struct{}, 1) }

// changed has the open pages looked at now.
func (h *hub) changed() {
	select {
	case h.wake <- struct{}{}:
	default: // they will be
	}
}

// watch looks at the open pages when the store changed, and else from time to time, until
// ctx ends.
func (h *hub) watch(ctx context.Context, a *app.App) error {
	store, err := a.Discover()
	if err != nil {
		return err
	}
	changes, stop := store.Watch()
	defer stop()
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changes:
			time.Sleep(30 * time.Millisecond) // several changes in a row are shown at once
		case <-h.wake:
		case <-tick.C:
		}
		h.refresh(ctx)
	}
}

// refresh makes the open pages anew and tells their visitors what changed.
func (h *hub) refresh(ctx context.Context) {
	for _, address := range h.open() {
		parts, err := h.make(ctx, address)
		if err != nil {
			continue // who loads the page sees why; the next change may set it right
		}
		h.publish(address, parts)
	}
}

// open lists the pages that somebody looks at.
func (h *hub) open() (list []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for address := range h.rooms {
		list = append(list, address)
	}
	return list
}

// publish tells the visitors of a page what changed on it.
func (h *hub) publish(address string, parts []part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := h.rooms[address]
	if room == nil {
		return
	}
	before := map[string]string{}
	for _, p := range room.parts {
		before[p.Name] = p.HTML
	}
	room.parts, room.sum = parts, sumOf(parts)
	for v := range room.visitor {
		for _, p := range parts {
			if before[p.Name] != p.HTML {
				v.pending[p.Name] = p.HTML
			}
		}
		v.tell(room.sum)
	}
}

// tell wakes a visitor that something is pending for.
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
func (h *hub) enter(ctx context.Context, address, shows string) (*visitor, error) {
	parts, err := h.make(ctx, address)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.rooms[address]
	if at == nil {
		at = &room{parts: parts, sum: sumOf(parts), visitor: map[*visitor]bool{}}
		h.rooms[address] = at
	}
	v := &visitor{news: newBell(), pending: map[string]string{}}
	at.visitor[v] = true
	if sum := sumOf(parts); sum != shows {
		for _, p := range parts {
			v.pending[p.Name] = p.HTML
		}
		v.tell(sum)
	}
	return v, nil
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
