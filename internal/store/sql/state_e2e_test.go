//go:build e2e

package sql

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/clone"
	"stig/internal/store/mysql"
	"stig/internal/testkit/servers"
)

// stateOn returns live state in an empty database of each kind of server, and a function that
// opens it again as another process would.
func stateOn(t *testing.T, test func(t *testing.T, open func() *state)) {
	for _, kind := range []string{servers.MariaDB, servers.Galera, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			c := servers.Need(t, kind).Database("live")
			if err := Create(t.Context(), Options{Config: c}, "demo"); err != nil {
				t.Fatal(err)
			}
			test(t, func() *state {
				s := Open(beads.Place{}, Options{Config: c})
				t.Cleanup(func() { _ = s.Close() })
				return s.State().(*state)
			})
		})
	}
}

// put returns a change that sets the text of a document.
func put(name, text string) func([]clone.Entry) ([]clone.Entry, bool, error) {
	return func(was []clone.Entry) ([]clone.Entry, bool, error) {
		for i := range was {
			if was[i].Name == name {
				was[i].Text = []byte(text)
				return was, true, nil
			}
		}
		return append(was, clone.Entry{Name: name, Text: []byte(text)}), true, nil
	}
}

func textsOf(t *testing.T, s *state, names ...string) (list []string) {
	t.Helper()
	entries, err := s.Load(t.Context(), names...)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Age <= 0 || e.Age > time.Minute {
			t.Errorf("%s: age %s", e.Name, e.Age)
		}
		list = append(list, e.Name+"="+string(e.Text))
	}
	return list
}

// TestState: documents are added, changed and removed by name or by folder; no other document
// changes.
func TestState(t *testing.T) {
	stateOn(t, func(t *testing.T, open func() *state) {
		s, ctx := open(), t.Context()
		for _, one := range [][2]string{{"a/1", "x"}, {"a/1.2", "y"}, {"a/10", "z"}, {"a", "n"}, {"b/1", "o'\\\x00"}, {"a/1", "x2"}} {
			if err := s.Change(ctx, []string{one[0]}, put(one[0], one[1])); err != nil {
				t.Fatal(err)
			}
		}
		for name, want := range map[string][]string{
			"a/1": {"a/1=x2"}, "a/": {"a/1=x2", "a/1.2=y", "a/10=z"}, "b/": {"b/1=o'\\\x00"}, "c/": nil, "c": nil,
			"b/1 a/10 c a/1 a/1": {"a/1=x2", "a/10=z", "b/1=o'\\\x00"}, "a a/": {"a=n", "a/1=x2", "a/1.2=y", "a/10=z"},
		} {
			if got := textsOf(t, s, strings.Fields(name)...); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if err := s.Change(ctx, []string{"a/"}, func(was []clone.Entry) ([]clone.Entry, bool, error) {
			was[1].Text = []byte("y2")
			return append(was[1:2], clone.Entry{Name: "a/3", Text: []byte("w")}), true, nil
		}); err != nil {
			t.Fatal(err)
		}
		if got, want := textsOf(t, open(), "a/"), []string{"a/1.2=y2", "a/3=w"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		refusal := errors.New("refused")
		if err := s.Change(ctx, []string{"a/3"}, func(was []clone.Entry) ([]clone.Entry, bool, error) { return nil, true, refusal }); !errors.Is(err, refusal) {
			t.Error(err)
		}
		if err := s.Change(ctx, []string{"a/3"}, func(was []clone.Entry) ([]clone.Entry, bool, error) { return nil, false, nil }); err != nil {
			t.Error(err)
		}
		if got := textsOf(t, s, "a/3"); !slices.Equal(got, []string{"a/3=w"}) {
			t.Errorf("%q", got)
		}
	})
}

// TestStateEnded: Ended returns the documents of its names, and the claims of agents that were
// not renewed in time, each once, and no other document.
func TestStateEnded(t *testing.T) {
	claim := func(name, rest string) string { return fmt.Sprintf(`{"issue":%q,"lease":{%s}}`, name, rest) }
	hour, moment := fmt.Sprintf(`"lasts":%d`, time.Hour), fmt.Sprintf(`"lasts":%d`, time.Millisecond)
	stateOn(t, func(t *testing.T, open func() *state) {
		s, ctx := open(), t.Context()
		set := func(name, text string) {
			t.Helper()
			if err := s.Change(ctx, []string{name}, put(name, text)); err != nil {
				t.Fatal(err)
			}
		}
		set("claim/a", claim("a", hour))
		set("claim/b", claim("b", moment))
		set("claim/c", claim("c", moment+`,"person":true`))
		set("claim/d", claim("d", hour))
		set("claim/e", claim("e", moment))
		set("claim/e", claim("e", hour)) // renewed
		set("claim/f", claim("f", hour))
		set("claim/f", `{"issue":"f"}`)
		set("other/a", claim("a", moment))
		time.Sleep(2 * time.Millisecond)
		check := func(when string, want ...string) {
			t.Helper()
			entries, err := open().Ended(ctx, "claim/b", "claim/d", "claim/x")
			var names []string
			for _, e := range entries {
				names = append(names, e.Name)
			}
			if err != nil || !slices.Equal(names, want) {
				t.Errorf("%s: %q, %v, want %q", when, names, err, want)
			}
		}
		check("new", "claim/b", "claim/d")
		if _, err := s.db().Exec("UPDATE stig_live SET changed = changed - INTERVAL 61 MINUTE"); err != nil {
			t.Fatal(err)
		}
		for range 2 { // as after an interruption
			if _, err := s.db().Exec("ALTER TABLE stig_live DROP COLUMN ends"); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := liveStep(ctx, s.db()); err != nil {
					t.Fatal(err)
				}
			}
			check("migrated", "claim/a", "claim/b", "claim/d", "claim/e")
		}
	})
}

// TestStateOfOthers: a process whose remembered document is out of date does not overwrite what
// another process wrote, removed, created again or created first.
func TestStateOfOthers(t *testing.T) {
	stateOn(t, func(t *testing.T, open func() *state) {
		a, b, ctx := open(), open(), t.Context()
		add := func(text string) func([]clone.Entry) ([]clone.Entry, bool, error) {
			return func(was []clone.Entry) ([]clone.Entry, bool, error) {
				if len(was) == 0 {
					return []clone.Entry{{Name: "a/1", Text: []byte(text)}}, true, nil
				}
				was[0].Text = append(slices.Clone(was[0].Text), text...)
				return was, true, nil
			}
		}
		gone := func([]clone.Entry) ([]clone.Entry, bool, error) { return nil, true, nil }
		for _, step := range []struct {
			by   *state
			do   func([]clone.Entry) ([]clone.Entry, bool, error)
			want string
		}{
			{a, add("1"), "1"}, {a, add("2"), "12"}, {b, add("3"), "123"}, {a, add("4"), "1234"}, {b, add("5"), "12345"},
			{b, gone, ""}, {b, add("6"), "6"}, {a, add("7"), "67"}, {b, gone, ""}, {a, add("8"), "8"}, {b, add("9"), "89"},
		} {
			if err := step.by.Change(ctx, []string{"a/1"}, step.do); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(textsOf(t, a, "a/1"), ""); got != "a/1="+step.want && step.want != "" || step.want == "" && got != "" {
				t.Fatalf("%q, want %q", got, step.want)
			}
		}
		// A decision not to write is never based on remembered documents.
		if err := a.Change(ctx, []string{"a/1"}, add("x")); err != nil {
			t.Fatal(err)
		}
		if err := b.Change(ctx, []string{"a/1"}, gone); err != nil {
			t.Fatal(err)
		}
		// A process does not remember that a document is missing after another one created it.
		if got := textsOf(t, a, "a/"); len(got) > 0 {
			t.Fatalf("%q", got)
		}
		if err := b.Change(ctx, []string{"a/1"}, add("b")); err != nil {
			t.Fatal(err)
		}
		if err := a.Change(ctx, []string{"a/1"}, add("c")); err != nil {
			t.Fatal(err)
		}
		if got := textsOf(t, b, "a/1"); !slices.Equal(got, []string{"a/1=bc"}) {
			t.Errorf("%q", got)
		}
		if err := b.Change(ctx, []string{"a/1"}, gone); err != nil {
			t.Fatal(err)
		}
		seen := -1
		if err := a.Change(ctx, []string{"a/1"}, func(was []clone.Entry) ([]clone.Entry, bool, error) { seen = len(was); return nil, false, nil }); err != nil || seen != 0 {
			t.Errorf("%d, %v", seen, err)
		}
	})
}

// TestStateAtOnce: no concurrent change is lost, in one document and in several.
func TestStateAtOnce(t *testing.T) {
	const writers, rounds = 8, 12
	stateOn(t, func(t *testing.T, open func() *state) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var all sync.WaitGroup
		for range writers {
			s := open()
			all.Go(func() {
				for n := range rounds {
					name := []string{"n/1", "n/"}[n%2]
					if err := s.Change(ctx, []string{name}, func(was []clone.Entry) ([]clone.Entry, bool, error) {
						for i := range was {
							was[i].Text = append(slices.Clone(was[i].Text), '.')
						}
						if len(was) == 0 {
							was = []clone.Entry{{Name: "n/1", Text: []byte(".")}}
						}
						return was, true, nil
					}); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if got := textsOf(t, open(), "n/"); len(got) != 1 || len(got[0]) != len("n/1=")+writers*rounds {
			t.Errorf("%d of %d", len(got[0])-len("n/1="), writers*rounds)
		}
	})
}

// TestStateTrips counts the statements for a document that one process writes repeatedly: one
// each, unless another process writes it.
func TestStateTrips(t *testing.T) {
	stateOn(t, func(t *testing.T, open func() *state) {
		s := open()
		db := s.db()
		db.SetMaxOpenConns(1)
		asked := func() (n int) {
			var name string
			if err := db.QueryRow("SHOW SESSION STATUS LIKE 'Questions'").Scan(&name, &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		sign := func(n int) {
			for i := range n {
				if err := s.Change(t.Context(), []string{"actor/bo"}, put("actor/bo", fmt.Sprint(n, i))); err != nil {
					t.Fatal(err)
				}
			}
		}
		sign(1)
		before := asked()
		sign(10)
		if n := asked() - before - 1; n != 10 {
			t.Errorf("%d statements for 10 changes", n)
		}
		before = asked()
		if _, err := s.Ended(t.Context(), "claim/a"); err != nil {
			t.Fatal(err)
		}
		if err := s.Change(t.Context(), []string{"claim/a"}, put("claim/a", "1")); err != nil {
			t.Fatal(err)
		}
		if n := asked() - before - 1; n != 2 {
			t.Errorf("%d statements to read a missing document and add it", n)
		}
	})
}

// TestStateWithoutServer: an unreachable server is asked once, not by each part of a command.
func TestStateWithoutServer(t *testing.T) {
	asked := 0
	s := &state{db: func() *sql.DB { asked++; return sql.OpenDB(unable{errors.New("no route")}) }, explain: func(err error) error { return err }}
	for range 3 {
		if _, err := s.Load(t.Context(), "a/"); err == nil || err.Error() != "no route" {
			t.Error(err)
		}
		if err := s.Change(t.Context(), []string{"a"}, put("a", "")); err == nil || err.Error() != "no route" {
			t.Error(err)
		}
	}
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// TestStateOfSilentServer: if the network drops all packets, a call returns when its time is
// over, and the calls after it return at once.
func TestStateOfSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	store := Open(beads.Place{}, Options{Config: mysql.Config{Host: "127.0.0.1", Port: l.Addr().(*net.TCPAddr).Port, User: "mara", Database: "harbor"}})
	defer store.Close()
	const most = time.Second
	for n := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), most)
		began := time.Now()
		_, err := store.State().Load(ctx, "claim/")
		if took := time.Since(began); err == nil || took > 10*time.Second || n > 0 && took > most {
			t.Errorf("%d: %v after %s", n, err, took)
		}
		cancel()
	}
}
