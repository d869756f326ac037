//go:build e2e

package clone_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/store/sql"
	"stig/internal/testkit/servers"
)

// machines returns the live state of one store as seen by machines of these names, each with
// its own clone.
func machines(t *testing.T, names ...string) (places []clone.Place, store *sql.Store) {
	t.Helper()
	o := sql.Options{Config: servers.Need(t, servers.MariaDB).Database("live")}
	if err := sql.Create(t.Context(), o, "demo"); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		p, err := clone.At(filepath.Join(t.TempDir(), "issues.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		store = sql.Open(beads.Place{}, o)
		t.Cleanup(func() { _ = store.Close() })
		p.Documents, p.Host, p.Now = store.State(), name, func() time.Time { return noon }
		places = append(places, p)
	}
	return places, store
}

// TestClaimsOfMachines: machines see each other's changes of claims, by their own clocks, and a
// change for one issue leaves those of others unchanged.
func TestClaimsOfMachines(t *testing.T) {
	p, _ := machines(t, "pier", "quay")
	const odd = "odd/ü '\\"
	hold := func(p clone.Place, issue, actor string) error {
		_, err := p.ChangeClaims(func(c *clone.Claims) (bool, error) {
			if l, ok := c.Lease(issue); ok {
				return false, errors.New("held by " + l.Actor)
			}
			c.Hold(clone.Lease{Issue: issue, Actor: actor, Host: p.Host, Lasts: time.Hour, Since: noon.Add(-24 * time.Hour), Until: noon.Add(-23 * time.Hour)})
			return true, nil
		}, issue)
		return err
	}
	for i, issue := range []string{"demo-1", "demo-1.2", "demo-10", odd} {
		if err := hold(p[i%2], issue, "bo"); err != nil {
			t.Fatal(err)
		}
		if err := hold(p[1-i%2], issue, "cy"); err == nil || err.Error() != "held by bo" {
			t.Errorf("%s: %v", issue, err)
		}
	}
	_, err := p[1].ChangeClaims(func(c *clone.Claims) (bool, error) {
		c.End("demo-1.2")
		c.Close(clone.Done{Issue: odd, At: noon})
		return true, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := p[0].Claims()
	if err != nil || len(claims.Leases) != 3 || len(claims.Done) != 1 {
		t.Fatalf("%+v, %v", claims, err)
	}
	for _, l := range claims.Leases {
		until := noon.Add(-23 * time.Hour) // by the clock of the holder
		if l.Host == "quay" {
			until = noon.Add(time.Hour)
		}
		if early := until.Sub(l.Until); early < 0 || early > time.Minute || l.Age <= 0 || l.Age > time.Minute || !l.Since.Equal(noon.Add(-24*time.Hour)) {
			t.Errorf("%s: until %s, want %s, age %s", l.Issue, l.Until, until, l.Age)
		}
	}
	if one, err := p[0].Claims(odd); err != nil || len(one.Leases) != 1 || len(one.Done) != 1 || one.Leases[0].Issue != odd {
		t.Errorf("%+v, %v", one, err)
	}
}

// TestClaimsUnread: an unreadable claim, which a newer stig may have written, is named, kept,
// and does not block changes of others.
func TestClaimsUnread(t *testing.T) {
	p, store := machines(t, "pier")
	if _, err := store.DB().Exec("INSERT INTO stig_live (name, text, version, changed) VALUES ('claim/demo-1', '[', 7, UTC_TIMESTAMP(6))"); err != nil {
		t.Fatal(err)
	}
	if _, err := p[0].ChangeClaims(func(c *clone.Claims) (bool, error) { c.Hold(clone.Lease{Issue: "demo-2"}); return true, nil }); err != nil {
		t.Error(err)
	}
	claims, err := p[0].Claims()
	if len(claims.Leases) != 1 || err == nil || !strings.Contains(err.Error(), "claim/demo-1 cannot be read") {
		t.Errorf("%+v, %v", claims, err)
	}
	if _, err := p[0].ChangeClaims(func(c *clone.Claims) (bool, error) { c.Hold(clone.Lease{Issue: "demo-1"}); return true, nil }, "demo-1"); err != nil {
		t.Error(err)
	}
	if claims, err := p[0].Claims(); len(claims.Leases) != 2 || err != nil {
		t.Errorf("%+v, %v", claims, err)
	}
}

// TestPresenceOfMachines: all machines know an actor, which was last seen when the server heard
// of it.
func TestPresenceOfMachines(t *testing.T) {
	p, _ := machines(t, "pier", "quay")
	for i, name := range []string{"bo", "mara/claude-3f2a", "cy"} {
		if err := p[i%2].ChangePresence(name, func(one *clone.Presence) bool {
			one.Host, one.Seen, one.Kind = p[i%2].Host, noon.Add(-48*time.Hour), "agent"
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p[1].ChangePresence("bo", func(one *clone.Presence) bool { one.State = clone.Paused; return true }); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]time.Duration{{48 * time.Hour, 48 * time.Hour, 0}, {0, 0, 48 * time.Hour}} {
		all, err := p[i].Presences()
		if err != nil || len(all) != 3 {
			t.Fatalf("%+v, %v", all, err)
		}
		for k, one := range all {
			if ago := noon.Sub(one.Seen); ago < want[k] || ago > want[k]+time.Minute {
				t.Errorf("on %s: %s was seen %s ago, want %s", p[i].Host, one.Name, ago, want[k])
			}
		}
	}
	if one, ok := p[0].Presence("bo"); !ok || one.State != clone.Paused || one.Kind != "agent" || one.Changes != 2 {
		t.Errorf("%+v, %t", one, ok)
	}
	if err := p[0].PrunePresences(noon.Add(91*24*time.Hour), func(name string) bool { return name == "cy" }); err != nil {
		t.Error(err)
	}
	if err := p[1].ForgetPresence("cy"); err != nil {
		t.Error(err)
	}
	if all, err := p[1].Presences(); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestAcksOfMachines: machines share acknowledgements, which are limited in number and removed
// when nothing was added for long.
func TestAcksOfMachines(t *testing.T) {
	p, store := machines(t, "pier", "quay")
	for n := range 1010 {
		if n > 2 && n < 1008 {
			continue
		}
		acks := []clone.Ack{{Item: fmt.Sprint("t-", n), Issue: "demo-1", At: noon.Add(time.Duration(n) * time.Minute)}}
		if n == 2 {
			for k := range 1005 {
				acks = append(acks, clone.Ack{Item: fmt.Sprint("t-", k+3), At: noon.Add(time.Duration(k+3) * time.Minute)})
			}
		}
		if err := p[n%2].ChangeAcks("bo", func(a *clone.Acks) bool { a.Add(acks...); return true }); err != nil {
			t.Fatal(err)
		}
	}
	a, err := p[0].Acks("bo")
	b, _ := p[1].Acks("bo")
	a.Store, b.Store = "", "" // each clone has its own
	if err != nil || len(a.Items) != 1000 || !a.Floor.Equal(noon.Add(9*time.Minute)) || !reflect.DeepEqual(a, b) {
		t.Errorf("%d from %s, %v", len(a.Items), a.Floor, err)
	}
	if _, err := store.DB().Exec("UPDATE stig_live SET changed = changed - INTERVAL 91 DAY WHERE name = 'acks/bo'"); err != nil {
		t.Fatal(err)
	}
	if err := p[1].ChangeAcks("cy", func(a *clone.Acks) bool { a.Add(clone.Ack{Item: "t-1"}); return true }); err != nil {
		t.Fatal(err)
	}
	var names []string
	entries, err := store.State().Load(t.Context(), "acks/")
	for _, e := range entries {
		names = append(names, e.Name)
	}
	if err != nil || !slices.Equal(names, []string{"acks/cy"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// TestSwarmRoundOnServer is TestSwarmRound with the round on a server.
func TestSwarmRoundOnServer(t *testing.T) {
	places, _ := machines(t, "pier", "quay")
	swarmRound(t, places...)
}
