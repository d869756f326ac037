package lease

import (
	"sync"
	"time"

	"stig/live"
)

// Observer watches leases of other machines, whose processes cannot be seen and whose
// clocks are not believed: such a lease has ended when its counter has not moved for as
// long as the lease lasts, on the clock of whoever observes.
type Observer struct {
	Now func() time.Time // with a monotonic reading, as time.Now gives it

	mu   sync.Mutex
	seen map[string]sighting
}

// sighting is how a lease stood when it was first seen so.
type sighting struct {
	actor    string
	since    time.Time // of the lease
	renewals int
	first    time.Time
}

// silent reports whether a lease has stood still for as long as it lasts, and remembers
// how it stands. A nil Observer has seen nothing.
func (o *Observer) silent(l live.Lease) bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now, was := o.Now(), o.seen[l.Issue]
	if was.actor != l.Actor || !was.since.Equal(l.Since) || was.renewals != l.Renewals {
		if o.seen == nil {
			o.seen = map[string]sighting{}
		}
		o.seen[l.Issue] = sighting{l.Actor, l.Since, l.Renewals, now}
		return false
	}
	return l.Lasts > 0 && now.Sub(was.first) >= l.Lasts
}
