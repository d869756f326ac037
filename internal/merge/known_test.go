package merge

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"stig/internal/beads"
	"stig/internal/testkit/sample"
)

// knownKeys are keys with values of their type: those of known programs, and unknown ones.
var knownKeys = map[beads.Key][]string{
	beads.Title: {`"t"`, `"u"`}, beads.Description: {`"d"`, `"e\nf"`}, beads.Design: {`"d"`}, "spec_id": {`"s"`, `"r"`},
	beads.Notes: {`"n"`, `"n\n\nm"`, `""`}, beads.Status: {`"open"`, `"closed"`, `"in_progress"`, `"tombstone"`, `"odd"`, `null`},
	beads.Priority: {"0", "1", "4"}, beads.Assignee: {`"ann"`, `"bo"`, `""`}, "owner": {`"ann"`}, "estimated_minutes": {"30", "0", "60"},
	beads.UpdatedAt: {`"2026-11-01T00:00:00Z"`, `"2026-11-02T00:00:00Z"`, `"2026-11-02T07:00:00+09:00"`, `"soon"`},
	beads.ClosedAt:  {`"2026-11-01T00:00:00Z"`, `"2026-11-03T00:00:00Z"`, `"late"`}, beads.CloseReason: {`"done"`, `"Verified: done"`, `"two\n\nlines"`, `"Closed"`},
	closedBySession: {`"s1"`, `"s2"`}, "due_at": {`"2026-12-01T00:00:00Z"`}, "external_ref": {`"gh-1"`, `null`}, deletedAt: {`"2026-11-02T00:00:00Z"`},
	"deleted_by": {`"ann"`, `"bo"`}, "delete_reason": {`"twice"`, `"wrong"`}, originalType: {`"task"`}, "metadata": {`{"a":1}`, `{"b":{"c":2}}`, `{"b":{"d":2}}`, `{}`},
	"labels": {`["x"]`, `["x","y"]`, `[]`}, "pinned": {"true", "false"}, "content_hash": {`"1"`, `"2"`}, "odd": {`1`, `"x"`, `[1]`, `{"y":2}`, `null`},
	"Close_Reason": {`"x"`}, "": {`"nameless"`},
}

// knownLine is an issue with some of the keys, in some order.
func knownLine(r *rand.Rand, keys []beads.Key, like map[beads.Key]string) (string, map[beads.Key]string) {
	has := map[beads.Key]string{}
	members := []string{`"id":"p"`, `"created_at":"2026-10-01T00:00:00Z"`}
	for _, at := range r.Perm(len(keys)) {
		k := keys[at]
		value, ok := like[k]
		if r.IntN(3) == 0 {
			value, ok = knownKeys[k][r.IntN(len(knownKeys[k]))], r.IntN(2) == 0
		}
		if ok {
			has[k] = value
			name, _ := json.Marshal(string(k))
			members = append(members, string(name)+":"+value)
		}
	}
	return "{" + strings.Join(members, ",") + "}\n", has
}

// TestKnownStays: a value that one side has, and neither base nor the other side, is in the
// result: as a key, or in the merged estimate if an open or undeleted issue cannot have it. The
// same is true of members of objects and elements of lists.
func TestKnownStays(t *testing.T) {
	var keys []beads.Key
	for k := range knownKeys {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	merges, asked := 0, 0
	for seed := range uint64(sample.Rounds(1500)) {
		r := rand.New(rand.NewPCG(seed, 5))
		base, was := knownLine(r, keys, nil)
		ours, mine := knownLine(r, keys, was)
		theirs, yours := knownLine(r, keys, was)
		before, sides := base, map[string][2]map[beads.Key]string{"ours": {mine, yours}, "theirs": {yours, mine}}
		if r.IntN(8) == 0 && mine[beads.Title] == yours[beads.Title] { // otherwise two issues were created
			before, was = "", map[beads.Key]string{}
		}
		for _, turned := range []bool{false, true} {
			o, th := ours, theirs
			if turned {
				o, th = theirs, ours
			}
			merged := merged(before, o, th)
			merges++
			if len(merged.Conflicts) > 0 {
				asked++
				continue
			}
			result, err := beads.ParseRecord([]byte(strings.TrimSuffix(merged.Text, "\n")))
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, merged.Text)
			}
			for name, side := range sides {
				for _, k := range keys {
					if lost := lostOf(result, k, was[k], side[0][k], side[1][k]); lost != "" {
						t.Fatalf("seed %d, turned %v: %s of %s is lost: %s\nbase   %sours   %stheirs %sresult %s", seed, turned, k, name, lost, before, o, th, merged.Text)
					}
				}
			}
			if err := misplaced(result); err != nil && before != ours && before != theirs && ours != theirs {
				t.Fatalf("seed %d: %v\nours   %stheirs %sresult %s", seed, err, o, th, merged.Text)
			}
		}
	}
	t.Logf("%d merges, %d left to a person", merges, asked)
}

// lostOf returns what a side had and the merge lost of one key, "" for nothing.
func lostOf(result *beads.Record, k beads.Key, base, mine, other string) string {
	if none([]byte(mine)) || !none([]byte(base)) || !none([]byte(other)) || equal([]byte(mine), result.Raw(k)) {
		return ""
	}
	written, kept := result.Text(beads.Notes), ""
	if json.Unmarshal([]byte(mine), &kept) != nil {
		return mine
	}
	if none(result.Raw(k)) && slices.Contains(closing, k) {
		kept = fmt.Sprintf("- %s: %s", k, kept)
	} else if k != beads.Notes {
		return mine
	}
	if strings.Contains(written, kept) {
		return ""
	}
	return mine
}

// misplaced checks a line by bd's rules: closed_at only on closed issues, deleted_at only on
// deleted ones.
func misplaced(r *beads.Record) error {
	status := r.Text(beads.Status)
	for _, k := range closing {
		deletion := strings.Contains(string(k), "delete") || k == originalType
		if !none(r.Raw(k)) && (!beads.IsClosed(status) || deletion && status != beads.StatusTombstone) {
			return fmt.Errorf("%s of an issue that is %q", k, status)
		}
	}
	return nil
}
