package clone_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stig/internal/clone"
)

// blocked puts a file in place of stig's directory in git's, and returns a function that
// removes it.
func blocked(t *testing.T, dir string) (free func()) {
	t.Helper()
	own := filepath.Join(dir, ".git", "stig")
	if err := errors.Join(os.Rename(own, own+".away"), os.WriteFile(own, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := errors.Join(os.Remove(own), os.Rename(own+".away", own)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestClaimsBeside: claims changed while git's directory could not be written are valid once it
// can be again, ended leases included; of two changes the later wins.
func TestClaimsBeside(t *testing.T) {
	dir, store := cloneAt(t)
	p := at(t, store)
	change := func(wantBeside bool, issues []string, do func(c *clone.Claims)) {
		t.Helper()
		beside, err := p.ChangeClaims(func(c *clone.Claims) (bool, error) { do(c); return true, nil }, issues...)
		if err != nil || beside != wantBeside {
			t.Fatalf("beside %t, %v", beside, err)
		}
	}
	held := func(want ...string) {
		t.Helper()
		var got []string
		c, err := p.Claims()
		for _, l := range c.Leases {
			got = append(got, l.Issue+" "+l.Actor)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	hold := func(issue, actor string) func(c *clone.Claims) {
		return func(c *clone.Claims) { c.Hold(clone.Lease{Issue: issue, Actor: actor}) }
	}
	change(false, nil, hold("a-1", "ann"))
	change(false, []string{"a-2"}, hold("a-2", "ann"))
	change(false, []string{"a-3"}, hold("a-3", "ann"))
	inGit, err := os.ReadFile(filepath.Join(dir, ".git", "stig", "leases.json"))
	if err != nil {
		t.Fatal(err)
	}
	free := blocked(t, dir)
	// A read-only sandbox sees what git's directory has.
	near := filepath.Join(filepath.Dir(store), ".stig", "leases.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(near), 0o700), os.WriteFile(near, inGit, 0o600)); err != nil {
		t.Fatal(err)
	}
	change(true, []string{"a-1"}, func(c *clone.Claims) { c.End("a-1") })
	change(true, []string{"a-2"}, hold("a-2", "bo"))
	held("a-2 bo", "a-3 ann")
	free()
	held("a-2 bo", "a-3 ann")
	change(false, []string{"a-4"}, hold("a-4", "bo"))
	held("a-2 bo", "a-3 ann", "a-4 bo")
	change(false, []string{"a-1"}, hold("a-1", "bo"))
	held("a-1 bo", "a-2 bo", "a-3 ann", "a-4 bo")
}

// TestClaimsFile: leases.json has the format of other versions of stig.
func TestClaimsFile(t *testing.T) {
	dir, store := cloneAt(t)
	p, path := at(t, store), filepath.Join(dir, ".git", "stig", "leases.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	const theirs = `{".beads/issues.jsonl":[{"issue":"a-1","turn":3,"lease":{"issue":"a-1","actor":"ann","worktree":"/w","tree":"/w","since":"2026-11-01T00:00:00Z","until":"2026-11-01T01:00:00Z","lasts":1}}],"other.jsonl":[{"issue":"x","turn":1}]}`
	if err := os.WriteFile(path, []byte(theirs), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.ChangeClaims(func(c *clone.Claims) (bool, error) { c.Close(clone.Done{Issue: "a-2", At: noon}); return true, nil }, "a-2"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	var all map[string][]struct {
		Issue       string
		Turn        int
		Lease, Done *struct{ Issue, Actor string }
	}
	if err = errors.Join(err, json.Unmarshal(text, &all)); err != nil {
		t.Fatal(err)
	}
	ours := all[".beads/issues.jsonl"]
	if len(all["other.jsonl"]) != 1 || len(ours) != 2 || ours[0].Turn != 3 || ours[0].Lease.Actor != "ann" || ours[1].Turn != 1 || ours[1].Done.Issue != "a-2" {
		t.Errorf("%s", text)
	}
}

// TestSwarmRound changes, refuses and forgets a round, in files.
func TestSwarmRound(t *testing.T) {
	_, store := cloneAt(t)
	swarmRound(t, at(t, store), at(t, store))
}

// swarmRound has two users of one round change it, get an error and forget it.
func swarmRound(t *testing.T, places ...clone.Place) {
	t.Helper()
	add := func(p clone.Place, operation string) error {
		return p.ChangeSwarmRound("odd/ü", func(r *clone.SwarmRound) error {
			if len(r.Operations) == 2 {
				return errors.New("full")
			}
			r.Swarm, r.Operations = "s-1", append(r.Operations, json.RawMessage(operation))
			return nil
		})
	}
	for i, want := range []string{"", "", "full"} {
		if err := add(places[i%2], "1"); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%d: %v", i, err)
		}
	}
	if r, err := places[0].SwarmRound("odd/ü"); err != nil || len(r.Operations) != 2 || r.Issue != "odd/ü" {
		t.Errorf("%+v, %v", r, err)
	}
	for range 2 {
		if err := places[1].ForgetSwarmRound("odd/ü"); err != nil {
			t.Error(err)
		}
	}
	if r, err := places[0].SwarmRound("odd/ü"); err != nil || r.Swarm != "" {
		t.Errorf("forgotten: %+v, %v", r, err)
	}
}
