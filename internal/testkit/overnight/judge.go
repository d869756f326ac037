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

// Judge lists what went wrong in a night, each with the issues, runs and actors that it
// is about; none where all is well.
func Judge(n Night) (problems []string) {
	for _, rule := range []func(Night) []string{lost, unproved, unshown, closedTwice, atOnce, withoutWork, heldByDead, withoutEvidence, unexplained, unlogged, anothers, unsaid, unpriced, miscounted} {
		problems = append(problems, rule(n)...)
	}
	return problems
}

// lost: no issue is gone, and nobody changed its criteria.
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

// closed lists the closed issues that are no epics.
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
			problems = append(problems, i.ID+": closed, and its criteria were not repeated")
		case failure != "":
			problems = append(problems, fmt.Sprintf("%s: closed, and its criteria fail on the merged branch: %s", i.ID, failure))
		}
	}
	return problems
}

// unshown: no issue was closed whose checks passed before anybody worked on it.
func unshown(n Night) (problems []string) {
	for _, i := range n.closed() {
		if IsGreen(i.ID) {
			problems = append(problems, fmt.Sprintf("%s: closed, and its checks were green before the work: %q", i.ID, i.Reason))
		}
	}
	return problems
}

// closedTwice: no issue was closed a second time.
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

// atOnce: no issue was run by two workers at the same time, by what the loops recorded
// and by what the workers saw.
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

// withoutWork: no worker was started for an issue that was not to be worked on, nor when
// there was none.
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

// heldByDead: who has an issue in progress has a lease on it, and lives, or died less
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

// withoutEvidence: a question says what it is about: a worker's own has its words, that
// of a loop names a run that failed.
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

// Question is what a worker that asks a person asks.
func Question(id string) string { return "Which stone for " + id + "?" }

// Request is what a worker asks another for.
func Request(id string) string { return "Which stone is there for " + id + "?" }

// Debris is the file that the worker of a run leaves when it crashes.
func Debris(run string) string { return "debris-" + run + ".txt" }

// questions are the texts of the questions in notes, answered or not.
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

// reasons are the words with which a briefing says why nobody works on an issue.
var reasons = []string{"Question that waits for a person", "Questions that wait for a person", "Blocked by", "Waits for", "back-off"}

// unexplained: the briefing of an unclosed issue says why it is not closed.
func unexplained(n Night) (problems []string) {
	for _, i := range n.After {
		text, asked := n.Explained[i.ID]
		says := slices.ContainsFunc(reasons, func(reason string) bool { return strings.Contains(text, reason) })
		if i.Type != "epic" && i.Status != "closed" && !(asked && says) {
			problems = append(problems, fmt.Sprintf("%s: %s, and stig orient does not say why: %.300q", i.ID, i.Status, text))
		}
	}
	return problems
}

// unlogged: what stig log prints leads from the store as it was made to the store as it
// is. Of an edit whose writer was killed it does not say whether it was made.
func unlogged(n Night) (problems []string) {
	may := map[string][]string{} // by issue, the states that it can be in
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
			problems = append(problems, fmt.Sprintf("%s: %s, and by stig log it is %s", i.ID, i.Status, strings.Join(may[i.ID], " or ")))
		}
	}
	return problems
}

// anothers: no commit holds what another worker left. The debris of a crash says whose it is.
func anothers(n Night) (problems []string) {
	owner := map[string]string{}
	for _, s := range n.Starts {
		owner[Debris(s.Run)] = s.Actor
	}
	for _, c := range n.Commits {
		for _, file := range c.Files {
			if of, ok := owner[file]; ok && of != c.Author {
				problems = append(problems, fmt.Sprintf("commit %s of %s holds %s of %s", c.Hash, c.Author, file, of))
			}
		}
	}
	return problems
}

// unsaid: what all work trees share is as it was, and a record says so of a run that changed it:
// its own, or that of a run which named it as one that ran meanwhile and put the setting back
// before it ended. Whether a run set the identity whose worker was killed is not known.
func unsaid(n Night) (problems []string) {
	if n.Stash != "" && !n.Kept {
		problems = append(problems, "nothing leads to "+n.Stash+", which a person stashed")
	}
	if n.Config != n.ConfigAs {
		problems = append(problems, fmt.Sprintf("the configuration was %q, and is %q", n.ConfigAs, n.Config))
	}
	said := func(r clone.Run) bool { return strings.Contains(n.record(r.ID), n.Stash) }
	if n.Popped && !slices.ContainsFunc(n.Runs, said) {
		problems = append(problems, "what a person stashed was popped, and no record says so")
	}
	for _, s := range n.Starts {
		says := func(r clone.Run) bool {
			return (r.ID == s.Run || slices.Contains(r.Overlaps, s.Run)) && strings.Contains(n.record(r.ID), "user.name")
		}
		if s.End && s.Temper == Signs && !slices.ContainsFunc(n.Runs, says) {
			problems = append(problems, fmt.Sprintf("%s: run %s of %s set user.name, and no record says so: %s", s.Issue, s.Run, s.Actor, n.record(s.Run)))
		}
	}
	return problems
}

// record is that of a run in JSON; "" for none.
func (n Night) record(run string) string {
	at := slices.IndexFunc(n.Runs, func(r clone.Run) bool { return r.ID == run })
	if at < 0 {
		return ""
	}
	text, _ := json.Marshal(n.Runs[at]) // it was read from such text
	return string(text)
}

// Cost is what each worker says that its run cost, in USD.
const Cost = 0.01

// unpriced: what each run cost is known whose worker came to its end.
func unpriced(n Night) (problems []string) {
	for _, s := range n.Starts {
		at := slices.IndexFunc(n.Runs, func(r clone.Run) bool { return r.ID == s.Run })
		if s.End && at >= 0 && (n.Runs[at].Cost != Cost || n.Runs[at].Currency != "USD") {
			problems = append(problems, fmt.Sprintf("run %s of %s cost %v USD, and its record says %v %s", s.Run, s.Actor, Cost, n.Runs[at].Cost, n.Runs[at].Currency))
		}
	}
	return problems
}

// miscounted: stig morning counts what the store and the run records of the night say: what
// was done, what waits for a person, the runs that failed where nobody is asked, and the cost.
func miscounted(n Night) (problems []string) {
	m := n.Morning
	printed := map[string]int{"cost": cents(m.Cost.Amounts["USD"]), "runs": m.Cost.Runs, "runs of unknown cost": m.Cost.Unknown}
	for _, d := range m.Done {
		printed["done "+d.ID]++
	}
	for _, w := range m.Waits {
		printed["waits "+w.ID] = 1 // an issue with two questions is there twice
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
			problems = append(problems, fmt.Sprintf("stig morning: %s: %d, and it is %d", what, printed[what], counted[what]))
		}
		delete(printed, what)
	}
	for _, what := range slices.Sorted(maps.Keys(printed)) {
		problems = append(problems, fmt.Sprintf("stig morning: %s: %d, and it is none", what, printed[what]))
	}
	return problems
}

// count is what a morning has to say, by the store and the run records.
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
		if r.Cost == 0 && r.Program.PID != 0 && !r.Ended.IsZero() { // else no program ran, or it has not ended
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
