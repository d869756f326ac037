package clone_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"stig/internal/clone"
)

func acksPlace(t *testing.T) (p clone.Place, dir string) {
	t.Helper()
	dir = t.TempDir()
	p, err := clone.At(filepath.Join(dir, "issues.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return p, filepath.Join(dir, ".stig")
}

// TestAcksAtOnce: concurrent acknowledgements are not lost, and actors do not share them.
func TestAcksAtOnce(t *testing.T) {
	p, _ := acksPlace(t)
	var wait sync.WaitGroup
	for n := range 20 {
		wait.Go(func() {
			err := p.ChangeAcks([]string{"ann", "bo"}[n%2], func(a *clone.Acks) bool {
				a.Add(clone.Ack{Item: fmt.Sprint("t-", n/2), Issue: "pier-1"}, clone.Ack{Item: "t-0", Issue: "pier-1"})
				return true
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, name := range []string{"ann", "bo"} {
		if all, err := p.Acks(name); err != nil || len(all.Items) != 10 {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
	if all, err := p.Acks("cy"); err != nil || len(all.Items) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestAcksAreBounded: above the limit the oldest acknowledgements are dropped, and items up to
// their time count as acknowledged.
func TestAcksAreBounded(t *testing.T) {
	p, dir := acksPlace(t)
	begin := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	var many []clone.Ack
	for n := range 4100 {
		many = append(many, clone.Ack{Item: fmt.Sprintf("ready/pier-%d/2026-11-01T00:00:00Z", n), Issue: fmt.Sprint("pier-", n), At: begin.Add(time.Duration(n) * time.Minute)})
	}
	for _, some := range [][]clone.Ack{many[2000:], many[:2000]} {
		if err := p.ChangeAcks("ann", func(a *clone.Acks) bool { a.Add(some...); return true }); err != nil {
			t.Fatal(err)
		}
	}
	all, err := p.Acks("ann")
	if err != nil || len(all.Items) != 1000 || !all.Floor.Equal(many[3099].At) {
		t.Fatalf("%d items, floor %v, %v", len(all.Items), all.Floor, err)
	}
	if err := p.ChangeAcks("bo", func(a *clone.Acks) bool { a.Add(many[0]); return true }); err != nil {
		t.Fatal(err)
	}
	if bo, err := p.Acks("bo"); err != nil || len(bo.Items) != 1 || !bo.Floor.IsZero() {
		t.Errorf("%+v of the second actor, %v", bo, err)
	}
	known := all.Known()
	for _, ack := range many {
		if !known(ack.Item, ack.At) {
			t.Fatalf("%v is acknowledged no more", ack)
		}
	}
	if known("t-new", many[4099].At) || !known("t-old", many[3050].At) {
		t.Error("the floor is elsewhere")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "acks-*.json"))
	if len(files) != 2 {
		t.Fatal(files)
	}
	for _, path := range files {
		if info, err := os.Stat(path); err != nil || info.Size() > 150<<10 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

// TestAcksOfOld: the acknowledgements of an actor are removed 90 days after the last one.
func TestAcksOfOld(t *testing.T) {
	p, dir := acksPlace(t)
	add := func(name string) {
		t.Helper()
		if err := p.ChangeAcks(name, func(a *clone.Acks) bool { a.Add(clone.Ack{Item: "t-" + name}); return true }); err != nil {
			t.Fatal(err)
		}
	}
	add("ann")
	files, _ := filepath.Glob(filepath.Join(dir, "acks-*.json"))
	for _, age := range []time.Duration{89 * 24 * time.Hour, 91 * 24 * time.Hour} {
		now, err := os.Stat(files[0])
		if err != nil {
			t.Fatal(err)
		}
		old := now.ModTime().Add(-age)
		if err := os.Chtimes(files[0], old, old); err != nil {
			t.Fatal(err)
		}
		add("bo" + age.String())
		_, err = os.Stat(files[0])
		if _, lock := os.Stat(files[0] + ".lock"); (err != nil) != (age > 90*24*time.Hour) || (lock != nil) != (err != nil) {
			t.Errorf("after %s: %v, %v", age, err, lock)
		}
		if age < 90*24*time.Hour {
			fresh := now.ModTime()
			if err := os.Chtimes(files[0], fresh, fresh); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRenameAcks: acknowledgements survive a rename.
func TestRenameAcks(t *testing.T) {
	p, _ := acksPlace(t)
	first := time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)
	for _, name := range []string{"ann", "bo"} {
		if err := p.ChangeAcks(name, func(a *clone.Acks) bool { a.Add(clone.Ack{Item: "t-" + name}); a.First = first; return true }); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // repeated after an interruption
		if err := p.RenameAcks("ann", "bo"); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.RenameAcks("nobody", "cy"); err != nil {
		t.Fatal(err)
	}
	if all, err := p.Acks("bo"); err != nil || len(all.Items) != 2 || !all.First.Equal(first) {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestAcksUnreadable: an unreadable file is set aside and replaced.
func TestAcksUnreadable(t *testing.T) {
	p, dir := acksPlace(t)
	add := func(item string) {
		if err := p.ChangeAcks("ann", func(a *clone.Acks) bool { a.Add(clone.Ack{Item: item}); return true }); err != nil {
			t.Fatal(err)
		}
	}
	add("t-1")
	files, _ := filepath.Glob(filepath.Join(dir, "acks-*.json"))
	if err := os.WriteFile(files[0], []byte(`{"items":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := p.Acks("ann"); err == nil || len(all.Items) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	add("t-2")
	if all, err := p.Acks("ann"); err != nil || len(all.Items) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := os.Stat(files[0] + ".unreadable"); err != nil {
		t.Error(err)
	}
}
