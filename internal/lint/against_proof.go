package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stig/checkpoint"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/gate"
)

// forged compares the results in the reason of an issue that was closed since with its present
// and earlier criteria, and with the commits of the repository.
func (c *change) forged() {
	reason := c.record.Text(beads.CloseReason)
	if said, ok := onChildren(c.record); ok && c.closedSince() {
		c.compareChildren(said)
		return
	}
	if !c.closedSince() || !strings.HasPrefix(strings.TrimSpace(reason), gate.Verified) {
		return
	}
	results, ok := gate.ParseResults(reason)
	if !ok {
		return // unshown reports it
	}
	c.compare(results)
	c.locate(results)
}

// untried reports waivers that lack what stig close --waive writes, and waivers that claim
// passing results.
func (c *change) untried() {
	reason := strings.TrimSpace(c.record.Text(beads.CloseReason))
	if _, ok := onChildren(c.record); ok || !c.closedSince() || !strings.HasPrefix(reason, gate.Unverified) {
		return
	}
	said, tried := gate.CutTried(reason)
	if gate.TellsOfResults(said) {
		c.add(RuleForged, 0, 0, "closed by a waiver that claims results: "+opening(said), c.closeAgain())
	}
	asks := slices.ContainsFunc(planOf(c.record), gate.Check.Asked)
	switch {
	case gate.WaivedBy(said) == "":
		c.add(RuleUntried, 0, 0, fmt.Sprintf("waived since %s without a name: %s", c.since, opening(said)), c.closeAgain())
	case asks && tried == "" && !c.repeats(said):
		c.add(RuleUntried, 0, 0, fmt.Sprintf("waived since %s without trying its checks: %s", c.since, opening(said)), c.closeAgain())
	}
}

// repeats reports whether a reason is that of stig close --duplicate-of, which runs nothing,
// and the issue that it names exists.
func (c *change) repeats(said string) bool {
	return slices.ContainsFunc(c.issue.Deps, func(d beads.Dep) bool {
		at, there := c.file.Index(d.On)
		return d.Type == "duplicates" && there && c.file.At(at).Status != beads.StatusTombstone && strings.HasPrefix(said, gate.Unverified+" duplicate of "+d.On+",")
	})
}

// closedSince reports whether the issue was closed since, with its present reason.
func (c *change) closedSince() bool {
	reason := c.record.Text(beads.CloseReason)
	return c.closed() && !c.closedSo(func(was string) bool { return was == reason })
}

// toProve reports whether the criteria of the issue must pass here: it was closed since, but
// not by a waiver, on its children, or as not planned.
func (c *change) toProve() bool {
	reason := strings.TrimSpace(c.record.Text(beads.CloseReason))
	_, children := onChildren(c.record)
	return c.closedSince() && !children && !strings.HasPrefix(reason, gate.Unverified) && !strings.HasPrefix(reason, gate.NotPlanned)
}

// onChildren returns what the close reason of an epic without criteria of its own says about
// its children; ok is false for any other issue.
func onChildren(r *beads.Record) (said string, ok bool) {
	said, ok = gate.ParseChildren(r.Text(beads.CloseReason))
	return said, ok && len(gate.Of(r)) == 0
}

// compareChildren compares what a close reason says about children with how they were closed.
func (c *change) compareChildren(said string) {
	at, _ := c.file.Index(c.issue.ID)
	if is := checkpoint.ChildrenOf(c.file, dag.New(c.file).Children(at)).String(); is != said {
		c.add(RuleForged, 0, 0, fmt.Sprintf("its children are %q, not %q", is, said), c.closeAgain())
	}
}

// unproven runs the criteria of issues again, and reports those that do not pass and those that
// prove nothing about the work.
func unproven(f *beads.Snapshot, ids []string, since string, rules Rules) (found []Diagnostic, err error) {
	proofs, err := rules.Prove(ids)
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		at, ok := f.Index(id)
		if !ok {
			continue
		}
		add := func(rule, message, hint string) {
			d := breach(f, rule, id, f.At(at).Line, message, hint)
			if rules.Review {
				d.Severity = Error
			}
			found = append(found, d)
		}
		did := "closed"
		if !beads.IsClosed(f.At(at).Status) {
			did = "worked on"
		}
		p, see := proofs[i], "type stig verify "+id+" to see it"
		if p.Failed != "" {
			add(RuleGate, fmt.Sprintf("%s since %s, but fails here: %s", did, since, p.Failed), see)
		}
		if p.Green {
			add(RuleGreen, fmt.Sprintf("%s since %s on checks that pass at %[2]s too", did, since), greenHint(id))
		}
		if len(p.Weakened) > 0 {
			add(RuleCheckWeakened, fmt.Sprintf("%s since %s; fails with %s of %[2]s", did, since, strings.Join(p.Weakened, ", ")),
				fmt.Sprintf("review git diff %s... -- %s", since, strings.Join(p.Weakened, " ")))
		}
	}
	return found, nil
}

// compare reports results that match neither the present criteria nor the earlier ones, such as
// criteria that were edited for the close and restored.
func (c *change) compare(results gate.Results) {
	differ := results.Differ(planOf(c.record))
	if differ == "" || c.before != nil && results.Differ(planOf(c.before)) == "" {
		return
	}
	c.add(RuleForged, 0, 0, "the close reason and the criteria differ: it "+differ, c.closeAgain())
}

// planOf returns the checks that the criteria of an issue ask for.
func planOf(r *beads.Record) []gate.Check {
	return gate.Of(r).Plan()
}

// hash matches the name of a commit in a reason.
var hash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{7,64}$`) })

// locate reports reasons that name no commit or an impossible one. A commit that git does not
// have may be of a squashed branch, or older than a shallow clone; see lookUp.
func (c *change) locate(results gate.Results) {
	switch commit := results.Commit; {
	case results.First && c.before != nil:
		c.add(RuleImpossible, 0, 0, fmt.Sprintf("its checks ran before the first commit, but %s has the issue", c.since), c.closeAgain())
	case results.First:
	case commit == "": // see unshown
	case !hash().MatchString(commit) || strings.Trim(commit, "0") == "":
		c.add(RuleImpossible, 0, 0, fmt.Sprintf("its checks ran at %q, which is not a commit", commit), c.closeAgain())
	default:
		c.commit = commit
	}
}

// lookUp reports the commits that git does not have, for all changes at once.
func lookUp(changes []*change, rules Rules) error {
	if rules.Commits == nil || len(changes) == 0 {
		return nil
	}
	var names []string
	for _, c := range changes {
		names = append(names, c.commit)
	}
	has, err := rules.Commits(names)
	if err != nil {
		return err
	}
	for i, c := range changes {
		if !has[i] {
			c.add(RuleNoCommit, 0, 0, fmt.Sprintf("its checks ran at %s, which git does not have here", c.commit),
				"squashed, rebased or not fetched: stig check --against "+c.since+" --verify runs them again")
		}
	}
	return nil
}
