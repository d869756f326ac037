//go:build e2e && unix

package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/fault"
	"stig/internal/loop"
	"stig/internal/loop/actors"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/service/traces"
	"stig/internal/store/sql"
	"stig/internal/testkit/servers"
	"stig/internal/workspace"
)

// onMachines returns front ends of n machines, each with its own clone and home, on one
// database with those issues.
func onMachines(t *testing.T, machines int, issues ...string) (list []*yard) {
	t.Helper()
	o := sql.Options{Config: servers.Need(t, servers.MariaDB).Database("machines")}
	if err := sql.Create(t.Context(), o, "pier"); err != nil {
		t.Fatal(err)
	}
	for n := range machines {
		y := newYard(t, issues...)
		place := beads.Place{Path: filepath.Join(y.dir, ".beads", "issues.jsonl"), Dir: filepath.Join(y.dir, ".beads")}
		store := sql.Open(place, o)
		t.Cleanup(func() { _ = store.Close() })
		y.app.OpenStore = func(beads.Place) beads.Store { return store }
		if n == 0 {
			text, err := os.ReadFile(place.Path)
			if err == nil {
				err = store.Fill(t.Context(), text, "", nil)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var err error
		if y.place, err = y.app.Live(place); err != nil {
			t.Fatal(err)
		}
		list = append(list, y)
	}
	return list
}

// as returns the front end of a machine for one command of an actor.
func (y *yard) as(t *testing.T, name string) *workspace.Run {
	a := y.app.Fresh(t.Context(), "test")
	a.Actor = name
	return a
}

// TestActorsOfMachines: signs of life, states set for an actor and its acknowledgments are the
// same on two machines with a clone each.
func TestActorsOfMachines(t *testing.T) {
	y := onMachines(t, 2, "pier-1", "pier-2")
	pier, quay := y[0], y[1]
	if err := actors.SignOfLife(pier.as(t, "bo"), "bo", func(p *clone.Presence) { p.Kind, p.Issue = "agent", "pier-1" }); err != nil {
		t.Fatal(err)
	}
	if err := actors.SignOfLife(quay.as(t, "mara"), "mara", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := actors.Say(t.Context(), quay.as(t, "mara"), actors.SayRequest{State: "maintenance", Why: "the crane is out"}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Claim(t.Context(), pier.as(t, "bo"), service.ClaimRequest{ID: "pier-1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Claim(t.Context(), quay.as(t, "cy"), service.ClaimRequest{ID: "pier-1"}); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "is claimed by bo in "+pier.dir) {
		t.Errorf("%v", err)
	}
	same(t, "actors", func(a *workspace.Run) (any, error) { return actors.List(a, actors.ListRequest{All: true}) }, pier.as(t, "mara"), quay.as(t, "mara"))
	for n := range 2 {
		if _, err := traces.Add(t.Context(), y[n].as(t, "mara"), traces.AddRequest{Drafts: []traces.Draft{{Issue: "pier-2", Type: "notification", Summary: fmt.Sprint("look at ", n), Content: map[string]any{"to": "bo", "payload": fmt.Sprint("crane ", n)}}}}); err != nil {
			t.Fatal(err)
		}
	}
	list := func(a *workspace.Run) (any, error) {
		return traces.ListInbox(t.Context(), a, traces.InboxRequest{Actor: "bo", Acked: true})
	}
	same(t, "inbox", list, pier.as(t, "bo"), quay.as(t, "bo"))
	in, err := traces.ListInbox(t.Context(), pier.as(t, "bo"), traces.InboxRequest{})
	if err != nil || len(in) != 2 {
		t.Fatalf("%+v, %v", in, err)
	}
	if _, err := traces.Ack(t.Context(), quay.as(t, "bo"), traces.AckRequest{Items: []string{in[0].ID}}); err != nil {
		t.Fatal(err)
	}
	if in, err := traces.ListInbox(t.Context(), pier.as(t, "bo"), traces.InboxRequest{}); err != nil || len(in) != 1 {
		t.Errorf("%+v, %v", in, err)
	}
	same(t, "acknowledged", list, pier.as(t, "bo"), quay.as(t, "bo"))
	if matches, _ := filepath.Glob(filepath.Join(pier.dir, ".beads", ".stig", "a[ck]*")); len(matches) > 0 {
		t.Errorf("in files: %q", matches)
	}
}

// same fails unless a service returns the same on two machines.
func same(t *testing.T, what string, ask func(*workspace.Run) (any, error), machines ...*workspace.Run) {
	t.Helper()
	var texts []string
	for _, a := range machines {
		v, err := ask(a)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("%s:\n%s\n%s", what, texts[0], texts[1])
	}
}

// TestLoopsBeginAtOnce: a loop does not begin if a loop of another machine registers under the
// same name at that moment. The clock is read in between.
func TestLoopsBeginAtOnce(t *testing.T) {
	self, _ := process.Self()
	other := self.ID
	other.Host, other.Boot = "quay", "another"
	for moment := range 4 {
		y := onMachines(t, 1, "pier-1")[0]
		asked, registered := 0, false
		clock := y.app.Now
		y.app.Now = func() time.Time {
			if asked++; asked == moment+1 {
				err := y.place.ChangePresence("bo", func(p *clone.Presence) bool {
					registered = p.Boots == 0
					p.Process, p.Host = other, "quay"
					return registered
				})
				if err != nil {
					t.Error(err)
				}
			}
			return clock()
		}
		_, err := y.work(t, "touch pier-1", func(r *loop.Request) { r.Once = true })
		if registered != fault.Is(err, fault.Conflict) {
			t.Errorf("moment %d: %v", moment, err)
		}
	}
}

// TestLoopOfAnotherClone: a loop does not begin while one of that name works in another clone
// on this machine. Here that is the test process.
func TestLoopOfAnotherClone(t *testing.T) {
	above := process.Ancestors()
	if len(above) == 0 {
		t.Fatal("nothing is known of other processes")
	}
	y := onMachines(t, 1, "pier-1")[0]
	if err := y.place.ChangePresence("bo", func(p *clone.Presence) bool {
		p.Process, p.Host = above[0].ID, above[0].Host
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := y.work(t, "touch pier-1", nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("%v", err)
	}
}

// TestLoopOfAnotherMachine: a loop does not begin under a name that works on another machine.
// That machine is listed while it gives signs of life; once it gives none, the loop does its
// work here.
func TestLoopOfAnotherMachine(t *testing.T) {
	y := onMachines(t, 1, "pier-1")[0]
	self, _ := process.Self()
	other := self.ID
	other.Host, other.Boot = "quay", "another"
	if err := y.place.ChangePresence("bo", func(p *clone.Presence) bool {
		p.Process, p.Host, p.Kind, p.Seen = other, "quay", "agent", noon.Add(-time.Hour)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := y.work(t, "touch pier-1", nil); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "another loop is working as bo on quay") {
		t.Errorf("%v", err)
	}
	if w, err := actors.Status(t.Context(), y.as(t, "mara"), "bo"); err == nil && !w.Running {
		t.Errorf("%+v", w)
	}
	store := y.app.OpenStore(beads.Place{}).(*sql.Store)
	for _, c := range []struct{ later, state string }{{"170", "active"}, {"10", "inactive"}} {
		if _, err := store.DB().Exec("UPDATE stig_live SET changed = changed - INTERVAL " + c.later + " SECOND"); err != nil {
			t.Fatal(err)
		}
		if listed, err := actors.List(y.as(t, "mara"), actors.ListRequest{}); err != nil || len(listed.Actors) != 1 || listed.Actors[0].State != c.state {
			t.Errorf("%s s later, want %s: %+v, %v", c.later, c.state, listed, err)
		}
		if w, err := actors.Status(t.Context(), y.as(t, "mara"), "bo"); err != nil || w.Running != (c.state == "active") {
			t.Errorf("%s s later: %+v, %v", c.later, w, err)
		}
	}
	done, err := y.work(t, "touch pier-1", nil)
	if listed, err := actors.List(y.as(t, "mara"), actors.ListRequest{}); err != nil || len(listed.Actors) == 0 || listed.Actors[0].Done != 1 {
		t.Errorf("%+v, %v", listed, err)
	}
	if err != nil || len(done.Runs) != 1 || done.Runs[0].Outcome != "closed" {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestIdleOnServer counts the queries of ten idle loops to the server.
func TestIdleOnServer(t *testing.T) {
	const loops, span = 10, 10 * time.Second
	list := onMachines(t, loops)
	store := list[0].app.OpenStore(beads.Place{}).(*sql.Store)
	asked := func() (n int) {
		var name string
		if err := store.DB().QueryRow("SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	ctx, cancel := context.WithTimeout(t.Context(), span+3*time.Second)
	defer cancel()
	for n, y := range list {
		a := y.app.Fresh(ctx, "work")
		a.Actor, a.Now = fmt.Sprint("w", n), time.Now
		go func() { _, _ = loop.Work(ctx, a, loop.Request{Command: []string{"true"}}) }()
	}
	time.Sleep(3 * time.Second)
	before := asked()
	time.Sleep(span)
	t.Logf("%d statements a minute and loop", (asked()-before)*6/loops)
}
