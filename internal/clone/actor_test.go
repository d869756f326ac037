package clone_test

import (
	"slices"
	"testing"

	"stig/internal/clone"
)

func TestFlaw(t *testing.T) {
	for _, name := range []string{"ann", "Ann Lee", "田中", "ann/claude-3f2a", "nonesuch", "me", "-"} {
		if flaw := clone.ActorFlaw(name); flaw != "" {
			t.Errorf("%q: %s", name, flaw)
		}
	}
	for _, name := range []string{"", "  ", "a\nb", "a\x00", "\xff", "\x1b[31m", "\u00a0", "\u0085", "none", "@me"} {
		if clone.ActorFlaw(name) == "" {
			t.Errorf("%q has no flaw", name)
		}
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"ann": "ann", "Ann Lee": "ann-lee", "  A. O'Neil, Jr. ": "a-o-neil-jr", "Åsa": "sa", "田中": "", "$(rm -rf /)": "rm-rf",
		"abcdefghijklmnopqrstuvw xyz": "abcdefghijklmnopqrstuvw",
	} {
		if got := clone.Slug(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestSession(t *testing.T) {
	var names []string
	taken := func(name string) bool { return slices.Contains(names, name) }
	for _, c := range []struct{ host, id, want string }{
		{"claude", "3f2a9c1e-3b7d-4c62-9e58-0d1f6a2b8c47", "ann/claude-3f2a"},
		{"claude", "3f2a9d00-3b7d-4c62-9e58-0d1f6a2b8c47", "ann/claude-3f2a9"},
		{"claude", "3f2a9d11-3b7d-4c62-9e58-0d1f6a2b8c47", "ann/claude-3f2a9d"},
		{"codex", "019f2c11-4a7e-7b30-8d52-6e90c3a1f7d4", "ann/codex-6e90"}, // starts with the time
		{"gemini", "x", "ann/gemini-x"},
		{"gemini", "'; rm -rf ~; #", "ann/gemini-rmrf"},
		{"gemini", "田", "ann/gemini-0"},
		{"gemini", "x", "ann/gemini-x"}, // no characters left
	} {
		got := clone.SessionName("ann", c.host, c.id, taken)
		if got != c.want {
			t.Errorf("%s %s: got %s, want %s", c.host, c.id, got, c.want)
		}
		names = append(names, got)
	}
}

// TestWhose compares pairs of names: who asks, and the assignee.
func TestWhose(t *testing.T) {
	for _, c := range []struct {
		who, name     string
		of, take, one bool // BelongsTo, MayTake, SamePerson
	}{
		{"ann", "ann", true, true, true},
		{"ann", "bo", false, false, false},
		{"ann", "", false, false, false},
		{"ann", "ann/claude-3f2a", true, false, true},
		{"ann", "ann/claude-3f2a/2", true, false, true},
		{"Ann Lee", "ann-lee/claude-3f2a", true, false, true},
		{"Ann Lee", "ann-lee", false, false, false}, // names of two people
		{"ann", "anna/claude-3f2a", false, false, false},
		{"ann/claude-3f2a", "ann", false, true, true},
		{"ann-lee/claude-3f2a", "Ann Lee", false, true, true},
		{"ann/claude-3f2a", "ann/claude-3f2a", true, true, true},
		{"ann/claude-3f2a", "ann/claude-3f2a/1", true, true, true},
		{"ann/claude-3f2a", "ann/claude-3f2a9", false, false, true},
		{"ann/claude-3f2a", "ann/codex-6e90", false, false, true},
		{"ann/claude-3f2a", "bo", false, false, false},
		{"ann/claude-3f2a/1", "ann", false, true, true},
		{"ann/claude-3f2a/1", "ann/claude-3f2a", false, false, true},
		{"team/bo", "team", false, false, false}, // a name that a person chose
	} {
		if got := clone.BelongsTo(c.name, c.who); got != c.of {
			t.Errorf("Of(%q, %q) is %t", c.name, c.who, got)
		}
		if got := clone.MayTake(c.who, c.name); got != c.take {
			t.Errorf("MayTake(%q, %q) is %t", c.who, c.name, got)
		}
		if got := clone.SamePerson(c.who, c.name); got != c.one {
			t.Errorf("SamePerson(%q, %q) is %t", c.who, c.name, got)
		}
	}
}

func TestParent(t *testing.T) {
	for name, want := range map[string]string{
		"ann": "ann", "ann/claude-3f2a": "ann/claude-3f2a", "ann/claude-3f2a/2": "ann/claude-3f2a", "a/b/c": "a/b/c",
	} {
		if got := clone.ParentActor(name); got != want || clone.IsSubagent(name) != (got != name) {
			t.Errorf("%s: got %s, a subagent %t", name, got, clone.IsSubagent(name))
		}
	}
}
