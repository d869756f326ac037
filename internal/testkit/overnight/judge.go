package overnight

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stig/internal/clone"
)

// Judge lists what went wrong in a night, with the issues, runs and actors concerned; nil if
// nothing did.
func Judge(n Night) (problems []string) {
	for _, rule := range []func(Night) []string{lost, unproved, unshown, closedTwice, atOnce, withoutWork, heldByDead, withoutEvidence, unexplained, unlogged, anothers, unsaid, unpriced, miscounted} {
		problems = append(problems, rule(n)...)
	}
	return problems
}

// lost: no issue is gone, and no acceptance criteria changed.
func lost(n Night) (problems []string) {
	for _, before := range n.Before {
		after, ok := n.issue(before.ID)
		switch {
		case !ok:
			problems = append(problems, before.ID+": lost")
		case after.Criteria != before.Criteria:
			problems = append(problems, before.ID+": its acceptance criteria changed")
		}
	}
	return problems
}

func (n Night) issue(id string) (Issue, bool) {
	at := slices.IndexFunc(n.After, func(i Issue) bool { return i.ID == id })
	if at < 0 {
		return Issue{}, false
	}
	return n.After[at], true
}

// closed lists the closed issues except epics.
func (n Night) closed() []Issue {
	return slices.DeleteFunc(slices.Clone(n.After), func(i Issue) bool { return i.Type == "epic" || i.Status != "closed" })
}

// unproved: every closed issue has a passing verdict, and its criteria pass again on the
// merged branch.
func unproved(n Night) (problems []string) {
	for _, i := range n.closed() {
		failure, repeated := n.Repeated[i.ID]
		switch {
		case !strings.HasPrefix(i.Reason, "Verified: "):
			problems = append(problems, fmt.Sprintf("%s: closed without a verdict: %q", i.ID, i.Reason))
		case !repeated:
			problems = append(problems, i.ID+": closed, but its criteria were not rerun")
		case failure != "":
			problems = append(problems, fmt.Sprintf("%s: closed, but its criteria fail on the merged branch: %s", i.ID, failure))
		}
	}
	return problems
}

// unshown: no issue was closed whose checks passed before the work on it.
func unshown(n Night) (problems []string) {
	for _, i := range n.closed() {
		if IsGreen(i.ID) {
			problems = append(problems, fmt.Sprintf("%s: closed, but its checks passed before the work: %q", i.ID, i.Reason))
		}
	}
	return problems
}

// closedTwice: no issue was closed twice.
func closedTwice(n Night) (problems []string) {
	by := map[string][]string{}
	for _, e := range n.Log {
		for _, c := range e.Changes {
			if c.Kind == "key" && c.Name == "status" && c.Now == `"closed"` && e.Result == string(clone.Written) {
				by[c.Issue] = append(by[c.Issue], fmt.Sprintf("%s in %s at %s", e.Actor, e.Worktree, e.At.Format(time.TimeOnly)))
			}
		}
	}
	for _, i := range n.After {
		if who := by[i.ID]; len(who) > 1 {
			problems = append(problems, fmt.Sprintf("%s: closed %d times: %s", i.ID, len(who), strings.Join(who, "; ")))
		}
	}
	return problems
}

// atOnce: no two workers ran for an issue at the same time, by the loops' records and by the
// workers' own.
func atOnce(n Night) (problems []string) {
	last := map[string]clone.Run{} // by issue, the run with the latest end
	for _, r := range slices.SortedStableFunc(slices.Values(n.Runs), func(a, b clone.Run) int { return a.Started.Compare(b.Started) }) {
		if r.Issue == "" {
			continue
		}
		if before, ok := last[r.Issue]; ok && r.Started.Before(before.Ended) {
			problems = append(problems, fmt.Sprintf("%s: run %s of %s began before run %s of %s ended", r.Issue, r.ID, r.Actor, before.ID, before.Actor))
		}
		if before, ok := last[r.Issue]; !ok || r.Ended.After(before.Ended) {
			last[r.Issue] = r
		}
	}
	for _, s := range n.Starts {
		if s.Beside {
			problems = append(problems, fmt.Sprintf("%s: %s (run %s) found another worker at it", s.Issue, s.Actor, s.Run))
		}
	}
	return problems
}

// withoutWork: no worker was started for an issue that was not ready, nor when nothing was
// ready.
func withoutWork(n Night) (problems []string) {
	for _, s := range n.Starts {
		if s.Wrong != "" {
			problems = append(problems, fmt.Sprintf("%s: %s (run %s) should not have been started: %s", s.Issue, s.Actor, s.Run, s.Wrong))
		}
	}
	for _, s := range n.Idle {
		problems = append(problems, fmt.Sprintf("%s was started for %q when nothing was ready", s.Actor, cmp.Or(s.Issue, "no issue")))
	}
	return problems
}

// heldByDead: the assignee of an issue in progress has a lease on it, and is alive or died less
// than a lease ago.
func heldByDead(n Night) (problems []string) {
	for _, i := range n.After {
		if i.Status != "in_progress" {
			continue
		}
		at := slices.IndexFunc(n.Leases, func(l clone.Lease) bool { return l.Issue == i.ID && l.Actor == i.Assignee })
		if at < 0 {
			problems = append(problems, fmt.Sprintf("%s: claimed by %s, who has no lease", i.ID, i.Assignee))
		} else if l := n.Leases[at]; !l.Person && !n.Alive(l) && n.Now.After(l.Since.Add(n.Lease)) {
			problems = append(problems, fmt.Sprintf("%s: claimed by %s, who is dead (process %d), since %s", i.ID, i.Assignee, l.Process.PID, l.Since.Format(time.TimeOnly)))
		}
	}
	return problems
}

// withoutEvidence: a worker's question has the worker's words, and a loop's question names a
// failed run.
func withoutEvidence(n Night) (problems []string) {
	for _, i := range n.After {
		for _, q := range questions(i.Notes) {
			names := func(r clone.Run) bool { return r.Issue == i.ID && strings.Contains(q, r.ID) }
			if !strings.Contains(q, Question(i.ID)) && !slices.ContainsFunc(n.Runs, names) {
				problems = append(problems, fmt.Sprintf("%s: a question without evidence: %q", i.ID, q))
			}
		}
	}
	return problems
}

// Question is what a worker asks a person.
func Question(id string) string { return "Which stone for " + id + "?" }

// Request is what a worker asks another worker.
func Request(id string) string { return "Which stone is there for " + id + "?" }

// Debris returns the name of the file that the worker of a run leaves when it crashes.
func Debris(run string) string { return "debris-" + run + ".txt" }

// questions returns the texts of the questions in notes, answered or not.
func questions(notes string) (texts []string) {
	_, context, ok := strings.Cut(notes, "<!-- escalation-context -->\n")
	context, _, closed := strings.Cut(context, "<!-- /escalation-context -->")
	if !ok || !closed {
		return nil
	}
	for _, part := range strings.Split("\n"+context, "\n## ")[1:] {
		heading, text, _ := strings.Cut(part, "\n") // those of answers begin with Resolved
		if strings.HasPrefix(heading, "Pending") {
			texts = append(texts, text)
		}
	}
	return texts
}

// reasons are the words with which a briefing explains why nobody works on an issue.
var reasons = []string{"Question that waits for a person", "Questions that wait for a person", "Blocked by", "Waits for", "back-off"}

// unexplained: the briefing of an unclosed issue explains why it is not closed.
func unexplained(n Night) (problems []string) {
	for _, i := range n.After {
		text, asked := n.Explained[i.ID]
		says := slices.ContainsFunc(reasons, func(reason string) bool { return strings.Contains(text, reason) })
		if i.Type != "epic" && i.Status != "closed" && !(asked && says) {
			problems = append(problems, fmt.Sprintf("%s: %s, but stig orient does not say why: %.300q", i.ID, i.Status, text))
		}
	}
	return problems
}

// unlogged: the output of stig log leads from the initial store to the current one. For an edit
// whose writer was killed, the log does not say whether it was made.
func unlogged(n Night) (problems []string) {
	may := map[string][]string{} // by issue, the states in which it can be
	for _, i := range n.Before {
		may[i.ID] = []string{i.Status}
	}
	for _, e := range n.Log {
		for _, c := range e.Changes {
			switch now := strings.Trim(c.Now, `"`); {
			case c.Kind != "key" || c.Name != "status" || e.Result == string(clone.Failed):
			case e.Result == string(clone.Written):
				may[c.Issue] = []string{now}
			default:
				may[c.Issue] = append(may[c.Issue], now)
			}
		}
	}
	for _, i := range n.After {
		if !slices.Contains(may[i.ID], i.Status) {
			problems = append(problems, fmt.Sprintf("%s: %s, but by stig log it is %s", i.ID, i.Status, strings.Join(may[i.ID], " or ")))
		}
	}
	return problems
}

// anothers: no commit contains what another worker left. The debris of a crash names its owner.
func anothers(n Night) (problems []string) {
	owner := map[string]string{}
	for _, s := range n.Starts {
		owner[Debris(s.Run)] = s.Actor
	}
	for _, c := range n.Commits {
		for _, file := range c.Files {
			if of, ok := owner[file]; ok && of != c.Author {
				problems = append(problems, fmt.Sprintf("commit %s of %s contains %s of %s", c.Hash, c.Author, file, of))
			}
		}
	}
	return problems
}

// unsaid: the state that all work trees share is unchanged, and every run that changed it is
// recorded: in its own record, or in that of an overlapping run which restored the setting. It
// is unknown whether a killed worker set the identity.
func unsaid(n Night) (problems []string) {
	if n.Stash != "" && !n.Kept {
		problems = append(problems, "no reference leads to "+n.Stash+", which a person stashed")
	}
	if n.Config != n.ConfigAs {
		problems = append(problems, fmt.Sprintf("the configuration was %q, and is %q", n.ConfigAs, n.Config))
	}
	said := func(r clone.Run) bool { return strings.Contains(n.record(r.ID), n.Stash) }
	if n.Popped && !slices.ContainsFunc(n.Runs, said) {
		problems = append(problems, "what a person stashed was popped, but no record says so")
	}
	for _, s := range n.Starts {
		says := func(r clone.Run) bool {
			return (r.ID == s.Run || slices.Contains(r.Overlaps, s.Run)) && strings.Contains(n.record(r.ID), "user.name")
		}
		if s.End && s.Temper == Signs && !slices.ContainsFunc(n.Runs, says) {
			problems = append(problems, fmt.Sprintf("%s: run %s of %s set user.name, but no record says so: %s", s.Issue, s.Run, s.Actor, n.record(s.Run)))
		}
	}
	return problems
}

// record returns the record of a run as JSON; "" if there is none.
func (n Night) record(run string) string {
	at := slices.IndexFunc(n.Runs, func(r clone.Run) bool { return r.ID == run })
	if at < 0 {
		return ""
	}
	text, _ := json.Marshal(n.Runs[at]) // it was parsed from JSON
	return string(text)
}

// Cost is the cost that each worker reports for its run, in USD.
const Cost = 0.01

// unpriced: the cost of each run whose worker ended by itself is recorded.
func unpriced(n Night) (problems []string) {
	for _, s := range n.Starts {
		at := slices.IndexFunc(n.Runs, func(r clone.Run) bool { return r.ID == s.Run })
		if s.End && at >= 0 && (n.Runs[at].Cost != Cost || n.Runs[at].Currency != "USD") {
			problems = append(problems, fmt.Sprintf("run %s of %s cost %v USD, but its record says %v %s", s.Run, s.Actor, Cost, n.Runs[at].Cost, n.Runs[at].Currency))
		}
	}
	return problems
}

// miscounted: stig morning agrees with the store and the run records of the night: what was
// done, what waits for a person, the failed runs of issues that are neither closed nor waiting
// for a person, and the cost.
func miscounted(n Night) (problems []string) {
	m := n.Morning
	printed := map[string]int{"cost": cents(m.Cost.Amounts["USD"]), "runs": m.Cost.Runs, "runs of unknown cost": m.Cost.Unknown}
	for _, d := range m.Done {
		printed["done "+d.ID]++
	}
	for _, w := range m.Waits {
		printed["waits "+w.ID] = 1 // an issue with two questions is listed twice
	}
	for _, f := range m.Failed {
		printed["failed "+f.ID] += f.Times
	}
	for outcome, runs := range m.Outcomes {
		printed["outcome "+outcome] = runs
	}
	counted := n.count()
	for _, what := range slices.Sorted(maps.Keys(counted)) {
		if printed[what] != counted[what] {
			problems = append(problems, fmt.Sprintf("stig morning: %s: %d; want %d", what, printed[what], counted[what]))
		}
		delete(printed, what)
	}
	for _, what := range slices.Sorted(maps.Keys(printed)) {
		problems = append(problems, fmt.Sprintf("stig morning: %s: %d; want none", what, printed[what]))
	}
	return problems
}

// count returns what stig morning must say, from the store and the run records.
func (n Night) count() map[string]int {
	counted, over, cost := map[string]int{"runs": len(n.Runs), "runs of unknown cost": 0}, map[string]bool{}, 0.0
	for _, i := range n.After {
		switch over[i.ID] = true; {
		case i.Status == "closed":
			counted["done "+i.ID]++
		case Asked(i.Notes):
			counted["waits "+i.ID] = 1
		default:
			over[i.ID] = false
		}
	}
	for _, r := range n.Runs {
		counted["outcome "+cmp.Or(r.Outcome, "running")]++
		cost += r.Cost
		if r.Cost == 0 && r.Program.PID != 0 && !r.Ended.IsZero() { // otherwise no program ran, or it has not ended
			counted["runs of unknown cost"]++
		}
		if slices.Contains([]string{"failed", "timed-out", "silent", "rejected"}, r.Outcome) && !over[r.Issue] {
			counted["failed "+r.Issue]++
		}
	}
	counted["cost"] = cents(cost)
	return counted
}

func cents(usd float64) int { return int(usd*100 + 0.5) }
