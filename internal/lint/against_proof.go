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

// forged validates the results in the reason of an issue that was closed since:
// against its criteria, as they stand and as they stood, and against the commits
// that there are.
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
		return // which is said already
	}
	c.compare(results)
	c.locate(results)
}

// untried finds waivers that lack what stig close --waive writes, and those that tell of
// results that passed.
func (c *change) untried() {
	reason := strings.TrimSpace(c.record.Text(beads.CloseReason))
	if _, ok := onChildren(c.record); ok || !c.closedSince() || !strings.HasPrefix(reason, gate.Unverified) {
		return
	}
	said, tried := gate.CutTried(reason)
	if gate.TellsOfResults(said) {
		c.add(RuleForged, 0, 0, "closed by a waiver, with words of results: "+opening(said), c.closeAgain())
	}
	asks := slices.ContainsFunc(planOf(c.record), gate.Check.Asked)
	switch {
	case !gate.NamesWho(said):
		c.add(RuleUntried, 0, 0, fmt.Sprintf("waived since %s, by nobody: %s", c.since, opening(said)), c.closeAgain())
	case asks && tried == "" && !c.repeats(said):
		c.add(RuleUntried, 0, 0, fmt.Sprintf("waived since %s, and its checks were not tried: %s", c.since, opening(said)), c.closeAgain())
	}
}

// repeats reports whether a reason is that of stig close --duplicate-of, which runs nothing, and the
// issue that it names is there.
func (c *change) repeats(said string) bool {
	return slices.ContainsFunc(c.issue.Deps, func(d beads.Dep) bool {
		at, there := c.file.Index(d.On)
		return d.Type == "duplicates" && there && c.file.At(at).Status != beads.StatusTombstone && strings.HasPrefix(said, gate.Unverified+" duplicate of "+d.On+",")
	})
}

// closedSince reports whether the issue was closed since, for the reason that it has.
func (c *change) closedSince() bool {
	reason := c.record.Text(beads.CloseReason)
	return c.closed() && !c.closedSo(func(was string) bool { return was == reason })
}

// toProve reports whether the criteria of the issue have to pass here: it was closed
// since, and neither by a waiver, nor on its children, nor as not planned.
func (c *change) toProve() bool {
	reason := strings.TrimSpace(c.record.Text(beads.CloseReason))
	_, children := onChildren(c.record)
	return c.closedSince() && !children && !strings.HasPrefix(reason, gate.Unverified) && !strings.HasPrefix(reason, gate.NotPlanned)
}

// onChildren is what the close reason of an epic without criteria of its own says of its
// children; ok is false for any other issue.
func onChildren(r *beads.Record) (said string, ok bool) {
	said, ok = gate.ParseChildren(r.Text(beads.CloseReason))
	return said, ok && len(gate.Of(r)) == 0
}

// compareChildren compares what a close reason says of children with how they were closed.
func (c *change) compareChildren(said string) {
	at, _ := c.file.Index(c.issue.ID)
	if is := checkpoint.ChildrenOf(c.file, dag.New(c.file).Children(at)).String(); is != said {
		c.add(RuleForged, 0, 0, fmt.Sprintf("its children are %q, not %q", is, said), c.closeAgain())
	}
}

// unproven runs the criteria of issues again, and reports those that do not pass, and those
// that show nothing of the work.
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
			found = append(found, breach(f, rule, id, f.At(at).Line, message, hint))
		}
		p, see := proofs[i], "type stig verify "+id+" to see it"
		if p.Failed != "" {
			add(RuleGate, fmt.Sprintf("closed since %s, and fails here: %s", since, p.Failed), see)
		}
		if p.Green {
			add(RuleGreen, fmt.Sprintf("closed since %s on checks that pass at %[1]s too", since), greenHint(id))
		}
		if len(p.Weakened) > 0 {
			add(RuleCheckWeakened, fmt.Sprintf("closed since %s; fails with %s of %[1]s", since, strings.Join(p.Weakened, ", ")),
				fmt.Sprintf("read git diff %s... -- %s", since, strings.Join(p.Weakened, " ")))
		}
	}
	return found, nil
}

// compare finds results that are those of neither the present criteria nor the ones
// before. Criteria that were edited for the close and restored are among them.
func (c *change) compare(results gate.Results) {
	differ := results.Differ(planOf(c.record))
	if differ == "" || c.before != nil && results.Differ(planOf(c.before)) == "" {
		return
	}
	c.add(RuleForged, 0, 0, "the close reason and the criteria differ: it "+differ, c.closeAgain())
}

// planOf is what the criteria of an issue ask for.
func planOf(r *beads.Record) []gate.Check {
	return gate.Of(r).Plan()
}

// hash is how a reason names a commit.
var hash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{7,64}$`) })

// locate finds reasons that name no commit, or one that cannot be. One that git has not
// may be of a branch that was squashed, or lie deeper than a shallow clone reaches; see
// lookUp.
func (c *change) locate(results gate.Results) {
	switch commit := results.Commit; {
	case results.First && c.before != nil:
		c.add(RuleImpossible, 0, 0, fmt.Sprintf("its checks ran before the first commit, and %s has the issue", c.since), c.closeAgain())
	case results.First:
	case commit == "": // see unshown
	case !hash().MatchString(commit) || strings.Trim(commit, "0") == "":
		c.add(RuleImpossible, 0, 0, fmt.Sprintf("its checks ran at %q, which is no commit", commit), c.closeAgain())
	default:
		c.commit = commit
	}
}

// lookUp finds the commits that git does not have, of all changes at once.
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
