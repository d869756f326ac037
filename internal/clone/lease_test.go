package clone_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/process"
)

var noonLease = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// The processes of the tests: a running one and an ended one on this machine, and one that
// cannot be seen.
var (
	alive  = process.ID{PID: 1, Host: "here"}
	dead   = process.ID{PID: 2, Host: "here"}
	remote = process.ID{PID: 3, Host: "there"}
	self   = process.ID{PID: 4, Host: "here"}
)

func running(id process.ID) (running, known bool) {
	return id == alive || id == self, id.Host == "here"
}

// judge sees these processes, and a store in which s-1 is in progress.
func judge(status, holder string) clone.Judge {
	return clone.Judge{Now: noonLease, Host: "here", Tree: "/main", Running: running,
		InStore: func(string) (string, string) { return status, holder }}
}

// held returns a lease of an actor in another work tree, one hour old.
func held(actor string, change func(*clone.Lease)) clone.Lease {
	l := clone.Lease{Issue: "s-1", Actor: actor, Host: "here", Worktree: "/side", Tree: "/side",
		Since: noonLease.Add(-time.Hour), Until: noonLease.Add(time.Hour), Lasts: 2 * time.Hour}
	change(&l)
	return l
}

// TestAsk: what a claim gets, by who has a lease.
func TestAsk(t *testing.T) {
	as := func(id process.ID) func(*clone.Lease) { return func(l *clone.Lease) { l.Process, l.Run = id, "r-1" } }
	late := func(l *clone.Lease) { l.Until = noonLease }
	plain := func(*clone.Lease) {}
	for _, c := range []struct {
		name         string
		lease        clone.Lease
		claimant     clone.Claimant
		status, whom string // in this store
		want         clone.LeaseAnswer
	}{
		{"another's", held("bo", plain), clone.Claimant{}, "open", "", clone.LeaseRefused},
		{"another's, late", held("bo", late), clone.Claimant{}, "open", "", clone.LeaseFree},
		{"a person's, late", held("bo", func(l *clone.Lease) { late(l); l.Person = true }), clone.Claimant{}, "open", "", clone.LeaseRefused},
		{"a person's, late, taken", held("bo", func(l *clone.Lease) { late(l); l.Person = true }), clone.Claimant{Take: true}, "open", "", clone.LeaseFree},
		{"another's, which it may take", held("bo", plain), clone.Claimant{MayTake: func(h string) bool { return h == "bo" }}, "open", "", clone.LeaseFree},
		{"its own elsewhere", held("ann", plain), clone.Claimant{}, "open", "", clone.LeaseFree},
		{"a program that runs", held("bo", as(alive)), clone.Claimant{}, "open", "", clone.LeaseRefused},
		{"a program that runs, and is late", held("bo", func(l *clone.Lease) { as(alive)(l); late(l) }), clone.Claimant{}, "open", "", clone.LeaseRefused},
		{"a program that runs, which it may take", held("bo", as(alive)), clone.Claimant{MayTake: func(string) bool { return true }}, "open", "", clone.LeaseRefused},
		{"a program that runs, taken", held("bo", as(alive)), clone.Claimant{Take: true}, "open", "", clone.LeaseFree},
		{"a program that has ended", held("bo", as(dead)), clone.Claimant{}, "open", "", clone.LeaseFree},
		{"a program elsewhere", held("bo", func(l *clone.Lease) { as(remote)(l); l.Host = "there"; late(l) }), clone.Claimant{}, "open", "", clone.LeaseRefused},
		{"a claim elsewhere", held("bo", func(l *clone.Lease) { l.Host = "there"; late(l) }), clone.Claimant{}, "open", "", clone.LeaseRefused},
		{"a program elsewhere that a server heard of", held("bo", func(l *clone.Lease) { as(remote)(l); l.Host, l.Age = "there", l.Lasts-1; late(l) }), clone.Claimant{}, "open", "", clone.LeaseRefused},
		{"a program elsewhere that a server did not hear of", held("bo", func(l *clone.Lease) { as(remote)(l); l.Host, l.Age = "there", l.Lasts }), clone.Claimant{}, "open", "", clone.LeaseFree},
		{"a claim elsewhere that a server heard of", held("bo", func(l *clone.Lease) { l.Host, l.Tree, l.Age = "there", "/main", 1; late(l) }), clone.Claimant{}, "in_progress", "bo", clone.LeaseRefused},
		{"a claim elsewhere that a server did not hear of", held("bo", func(l *clone.Lease) { l.Host, l.Age = "there", l.Lasts }), clone.Claimant{}, "in_progress", "bo", clone.LeaseFree},
		{"a person's elsewhere that a server did not hear of", held("bo", func(l *clone.Lease) { l.Host, l.Age, l.Person = "there", l.Lasts, true }), clone.Claimant{}, "in_progress", "bo", clone.LeaseRefused},
		{"which the store on a server does not show any more", held("bo", func(l *clone.Lease) { l.Age = time.Minute }), clone.Claimant{}, "open", "", clone.LeaseFree},
		{"which a reading of the store on a server may be too old to show", held("bo", func(l *clone.Lease) { l.Age = 1 }), clone.Claimant{}, "open", "", clone.LeaseRefused},
		{"a program that runs, and that a server did not hear of", held("bo", func(l *clone.Lease) { as(alive)(l); l.Age = l.Lasts }), clone.Claimant{}, "open", "", clone.LeaseRefused},
		{"its own, in another process", held("ann", as(alive)), clone.Claimant{}, "in_progress", "ann", clone.LeaseRefused},
		{"its own, in a process that has ended", held("ann", as(dead)), clone.Claimant{}, "in_progress", "ann", clone.LeaseFree},
		{"its own, in this process", held("ann", as(self)), clone.Claimant{}, "in_progress", "ann", clone.LeaseFree},
		{"of the loop that started it", held("ann", as(alive)), clone.Claimant{Run: "r-1"}, "in_progress", "ann", clone.LeaseInside},
		{"of a loop above it", held("ann", as(alive)), clone.Claimant{Above: func() []process.ID { return []process.ID{dead, alive} }}, "in_progress", "ann", clone.LeaseInside},
		{"of a loop that started it, and has ended", held("ann", as(dead)), clone.Claimant{Run: "r-1"}, "in_progress", "ann", clone.LeaseFree},
		{"of another run", held("ann", as(alive)), clone.Claimant{Run: "r-2"}, "in_progress", "ann", clone.LeaseRefused},
		{"another's run by its name", held("bo", as(alive)), clone.Claimant{Run: "r-1"}, "in_progress", "bo", clone.LeaseRefused},
		{"which the store does not show any more", held("bo", func(l *clone.Lease) { l.Tree = "/main" }), clone.Claimant{}, "open", "", clone.LeaseFree},
		{"which the store shows as another's", held("bo", func(l *clone.Lease) { l.Tree = "/main" }), clone.Claimant{}, "in_progress", "cy", clone.LeaseFree},
		{"which the store shows", held("bo", func(l *clone.Lease) { l.Tree = "/main" }), clone.Claimant{}, "in_progress", "bo", clone.LeaseRefused},
		{"of a program, which the store does not show", held("bo", func(l *clone.Lease) { as(alive)(l); l.Tree = "/main" }), clone.Claimant{}, "open", "", clone.LeaseRefused},
	} {
		c.claimant.Actor, c.claimant.Process = "ann", self
		if c.claimant.MayTake == nil {
			c.claimant.MayTake = func(string) bool { return false }
		}
		if c.claimant.Above == nil {
			c.claimant.Above = func() []process.ID { return nil }
		}
		if got := judge(c.status, c.whom).Ask(c.lease, c.claimant); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// TestObserver: a lease of another machine ends when its counter did not change for its
// duration by the observer's clock, whatever its times say.
func TestObserver(t *testing.T) {
	now := noonLease
	o := &clone.Observer{Now: func() time.Time { return now }}
	j := judge("open", "")
	j.Foreign = o
	l := held("bo", func(l *clone.Lease) { l.Process, l.Lasts, l.Until = remote, 10*time.Minute, noonLease.Add(-time.Hour) })
	for _, c := range []struct {
		later    time.Duration
		renewals int
		want     bool
	}{
		{0, 0, false}, {9 * time.Minute, 0, false}, {time.Second, 1, false}, {9 * time.Minute, 1, false}, {time.Minute, 1, true},
		{0, 2, false}, {9 * time.Minute, 2, false}, {time.Minute, 2, true}, {time.Minute, 2, true},
	} {
		now, l.Renewals = now.Add(c.later), c.renewals
		if got := j.Ended(l); got != c.want {
			t.Errorf("at %s with %d renewals: ended %t", now.Sub(noonLease), c.renewals, got)
		}
	}
	l.Since, now = l.Since.Add(time.Second), now.Add(time.Second)
	if j.Ended(l) {
		t.Error("a new lease of the same actor has ended at once")
	}
	if j.Foreign = nil; j.Ended(l) {
		t.Error("it has ended for whoever does not observe it")
	}
}

// TestRenewed: a lease is renewed up to its cap.
func TestRenewed(t *testing.T) {
	l := clone.Lease{Since: noonLease, Lasts: 10 * time.Minute, Cap: noonLease.Add(25 * time.Minute)}
	for _, c := range []struct {
		at, until time.Duration
		ok        bool
	}{{3 * time.Minute, 13 * time.Minute, true}, {20 * time.Minute, 25 * time.Minute, true}, {25 * time.Minute, 25 * time.Minute, false}} {
		was := l.Renewals
		var ok bool
		l, ok = clone.Renewed(l, noonLease.Add(c.at))
		if ok != c.ok || l.Until != noonLease.Add(c.until) || (l.Renewals > was) != c.ok {
			t.Errorf("after %s: %t until %s, %d renewals", c.at, ok, l.Until.Sub(noonLease), l.Renewals)
		}
	}
	if l, ok := clone.Renewed(clone.Lease{Lasts: time.Hour}, noonLease.AddDate(1, 0, 0)); !ok || l.Until != noonLease.AddDate(1, 0, 0).Add(time.Hour) {
		t.Error("without a cap it is not renewed")
	}
}

// TestFollow: the effect of edits on a lease of ann, and on a mark.
func TestFollow(t *testing.T) {
	mine := held("ann", func(l *clone.Lease) { l.Until = noonLease.Add(time.Minute) })
	loop := held("ann", func(l *clone.Lease) { l.Process = alive })
	for _, c := range []struct {
		name           string
		lease          *clone.Lease
		marked         bool
		by             string
		change         clone.Handover
		until          time.Duration // 0: the lease is gone
		marks, change2 bool
	}{
		{"her comment renews", &mine, false, "ann", clone.Handover{Status: "in_progress", NewStatus: "in_progress", Holder: "ann", NewHolder: "ann"}, 2 * time.Hour, false, true},
		{"her comment in a work tree that shows it open", &mine, false, "ann", clone.Handover{Status: "open", NewStatus: "open"}, 2 * time.Hour, false, true},
		{"another's comment does not", &mine, false, "bo", clone.Handover{Status: "in_progress", NewStatus: "in_progress", Holder: "ann", NewHolder: "ann"}, time.Minute, false, false},
		{"a program renews by itself", &loop, false, "ann", clone.Handover{Status: "in_progress", NewStatus: "in_progress", Holder: "ann", NewHolder: "ann"}, time.Hour, false, false},
		{"released", &mine, false, "bo", clone.Handover{Status: "in_progress", NewStatus: "open", Holder: "ann"}, 0, false, true},
		{"given to another", &loop, false, "bo", clone.Handover{Status: "in_progress", NewStatus: "in_progress", Holder: "ann", NewHolder: "cy"}, 0, false, true},
		{"put off", &mine, false, "ann", clone.Handover{Status: "in_progress", NewStatus: "deferred", Holder: "ann", NewHolder: "ann"}, 0, false, true},
		{"another's claim of old is released", &mine, false, "bo", clone.Handover{Status: "in_progress", NewStatus: "open", Holder: "cy"}, time.Minute, false, false},
		{"closed", &mine, false, "ann", clone.Handover{Status: "in_progress", NewStatus: "closed", Holder: "ann", NewHolder: "ann"}, 0, true, true},
		{"closed by another", &loop, false, "bo", clone.Handover{Status: "in_progress", NewStatus: "closed", Holder: "ann", NewHolder: "ann"}, 0, true, true},
		{"closed without a claim", nil, false, "bo", clone.Handover{Status: "open", NewStatus: "closed"}, 0, true, true},
		{"deleted", &mine, false, "bo", clone.Handover{Status: "in_progress", NewStatus: "tombstone", Holder: "ann", NewHolder: "ann"}, 0, false, true},
		{"opened again", nil, true, "bo", clone.Handover{Status: "closed", NewStatus: "open"}, 0, false, true},
		{"changed while it is closed", nil, true, "bo", clone.Handover{Status: "closed", NewStatus: "closed"}, 0, true, false},
	} {
		claims := clone.Claims{}
		if c.lease != nil {
			claims.Hold(*c.lease)
		}
		if c.marked {
			claims.Close(clone.Done{Issue: "s-1", Branch: "main"})
		}
		c.change.Issue = "s-1"
		edit := clone.ClaimEdit{Actor: c.by, Now: noonLease, Before: copied(claims), Branch: "main", Commit: "c0ffee"}
		if changed := edit.Follow(&claims, c.change); changed != c.change2 {
			t.Errorf("%s: changed %t", c.name, changed)
		}
		l, ok := claims.Lease("s-1")
		if ok != (c.until != 0) || ok && l.Until != noonLease.Add(c.until) {
			t.Errorf("%s: leased %t until %s", c.name, ok, l.Until.Sub(noonLease))
		}
		if _, marked := claims.Mark("s-1"); marked != c.marks {
			t.Errorf("%s: marked %t", c.name, marked)
		}
	}
}

func copied(c clone.Claims) clone.Claims {
	return clone.Claims{Leases: slices.Clone(c.Leases), Done: slices.Clone(c.Done)}
}

// TestFollowLate: a claim between an edit and its Follow stays.
func TestFollowLate(t *testing.T) {
	before, claims := clone.Claims{}, clone.Claims{}
	before.Hold(held("ann", func(*clone.Lease) {}))
	claims.Hold(held("ann", func(l *clone.Lease) { l.Since = noonLease }))
	edit := clone.ClaimEdit{Actor: "bo", Now: noonLease, Before: before}
	if edit.Follow(&claims, clone.Handover{Issue: "s-1", Status: "in_progress", NewStatus: "open", Holder: "ann"}) || len(claims.Leases) != 1 {
		t.Error("the lease of a later claim was ended")
	}
}

// TestClosed: when the mark of a close prevents claims.
func TestClosed(t *testing.T) {
	c := clone.Claims{}
	c.Close(clone.Done{Issue: "s-1", Branch: "side"})
	for here, want := range map[string]bool{"main": true, "": true, "side": false} {
		if _, closed := clone.ClosedElsewhere(&c, "s-1", here, func(string) bool { return true }); closed != want {
			t.Errorf("on %q: %t", here, closed)
		}
	}
	if _, closed := clone.ClosedElsewhere(&c, "s-1", "main", func(string) bool { return false }); closed {
		t.Error("the branch is gone")
	}
	if _, closed := clone.ClosedElsewhere(&c, "s-2", "main", func(string) bool { return true }); closed {
		t.Error("another issue was closed")
	}
}

// TestPruneLeases: Prune removes what nobody needs and keeps the rest, up to the limit.
func TestPruneLeases(t *testing.T) {
	old := noonLease.Add(-clone.LeaseKept - time.Hour)
	c := clone.Claims{}
	for i, change := range []func(*clone.Lease){
		func(l *clone.Lease) { l.Until = old },
		func(l *clone.Lease) { l.Until, l.Person = old, true },
		func(l *clone.Lease) { l.Until = noonLease.Add(-time.Hour) },
		func(l *clone.Lease) { l.Until, l.Process = old, alive },
	} {
		l := held("ann", change)
		l.Issue = fmt.Sprint("s-", i)
		c.Hold(l)
	}
	for i := range 1200 {
		c.Close(clone.Done{Issue: fmt.Sprint("d-", i), Branch: "main", At: noonLease.Add(-time.Duration(i) * time.Second)})
	}
	c.Close(clone.Done{Issue: "old", At: old})
	j := judge("closed", "")
	j.Prune(&c)
	if _, ok := c.Lease("s-0"); ok || len(c.Leases) != 3 {
		t.Errorf("%d leases stay", len(c.Leases))
	}
	if _, ok := c.Mark("d-999"); !ok || len(c.Done) != 1000 {
		t.Errorf("%d marks stay", len(c.Done))
	}
	few := clone.Claims{Done: []clone.Done{{Issue: "old", At: old}, {Issue: "new", At: noonLease}}}
	open := judge("open", "")
	if open.Prune(&few); len(few.Done) != 2 {
		t.Error("the mark of an issue is gone that the store does not show closed")
	}
	if j.Prune(&few); len(few.Done) != 1 {
		t.Error("the mark of an issue stays that the store has shown closed for long")
	}
}

// TestRefusal: the message for a claim that came second.
func TestRefusal(t *testing.T) {
	for _, c := range []struct {
		lease      clone.Lease
		want, hint string
	}{
		{held("bo", func(*clone.Lease) {}), "s-1: is claimed by bo in /side until 2026-11-20T13:00:00Z", "type stig orient to see what is ready"},
		{held("bo", func(l *clone.Lease) { l.Process, l.Run = alive, "r-1" }), "s-1: is claimed by bo in /side by process 1 until 2026-11-20T13:00:00Z", "type stig orient to see what is ready"},
		{held("bo", func(l *clone.Lease) { l.Host = "there" }), "s-1: is claimed by bo in /side on there until 2026-11-20T13:00:00Z", "type stig orient to see what is ready"},
		{held("bo", func(l *clone.Lease) { l.Host, l.Until = "there", noonLease.Add(-time.Hour) }), "s-1: is claimed by bo in /side on there, not renewed since 2026-11-20T09:00:00Z",
			"if that work was given up, type stig claim s-1 --take"},
		{held("bo", func(l *clone.Lease) { l.Process, l.Host, l.Until = remote, "there", noonLease.Add(-time.Hour) }), "s-1: is claimed by bo in /side on there, not renewed since 2026-11-20T09:00:00Z",
			"if that work was given up, type stig claim s-1 --take"},
		{held("bo", func(l *clone.Lease) { l.Person, l.Until = true, noonLease.AddDate(5, 0, 0) }), "s-1: is claimed by bo in /side until 2031-11-20T12:00:00Z, by a clock that was ahead",
			"if that work was given up, type stig claim s-1 --take"},
		{held("bo", func(l *clone.Lease) { l.Person, l.Until = true, noonLease.Add(-time.Hour) }), "s-1: is claimed by bo in /side, not renewed since 2026-11-20T09:00:00Z",
			"if that work was given up, type stig claim s-1 --take"},
	} {
		e := judge("open", "").Refusal("s-1", "bo", c.lease, true)
		if e.Error() != c.want || e.Hint != c.hint || !fault.Is(e, fault.Conflict) {
			t.Errorf("got %s; %s, want %s; %s", e, e.Hint, c.want, c.hint)
		}
	}
}

// TestAsRead: a process that hands over its lease and ends after a read has not lost the lease,
// and one that ends later counts as it was seen.
func TestAsRead(t *testing.T) {
	claiming := held("bo", func(l *clone.Lease) { l.Process = self })
	kept := held("bo", func(*clone.Lease) {})
	for _, c := range []struct {
		name     string
		readings []clone.Lease
		running  []bool // on each read
		ended    bool
	}{
		{"it runs", []clone.Lease{claiming}, []bool{true, false}, false},
		{"it ended, and left the lease", []clone.Lease{claiming, claiming}, []bool{false}, true},
		{"it put the lease in order and ended", []clone.Lease{claiming, kept}, []bool{false}, false},
	} {
		reads, looks := 0, 0
		j := judge("in_progress", "bo")
		j.Running = func(process.ID) (bool, bool) { looks++; return c.running[looks-1], true }
		claims, j, err := j.AsRead(func() (clone.Claims, error) {
			reads++
			return clone.Claims{Leases: c.readings[reads-1 : reads]}, nil
		})
		l, _ := claims.Lease("s-1")
		if got := j.Ended(l); err != nil || got != c.ended || reads != len(c.readings) {
			t.Errorf("%s: ended %v after %d readings, %v; want %v after %d", c.name, got, reads, err, c.ended, len(c.readings))
		}
	}
}
