package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
	"stig/internal/swarm"
	"stig/internal/visible"
)

var began = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

func start(agents int) swarm.Operation {
	return swarm.Operation{Swarm: "s-1", Agent: "mara", ID: "mara-1", Kind: swarm.Start, At: began, Task: "where to dig", Agents: swarm.Names(agents)}
}

func by(agent string, round, n int) swarm.Operation {
	return swarm.Operation{Swarm: "s-1", Round: round, Agent: agent, ID: fmt.Sprintf("%s-%d", agent, n), Kind: swarm.Deposit, At: began, Direction: "north"}
}

func roundOf(t *testing.T, list ...swarm.Operation) clone.SwarmRound {
	t.Helper()
	r := clone.SwarmRound{Issue: "demo-1", Swarm: "s-1", Round: list[0].Round}
	for _, o := range list {
		line, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		r.Operations = append(r.Operations, line)
	}
	return r
}

// A settlement that was killed after its write to the store left the round unchanged. What came
// while it ran is not in the store and counts in the next round; the rest counts once.
func TestForward(t *testing.T) {
	settle := swarm.Operation{Swarm: "s-1", Round: 1, Agent: "mara", ID: "mara-2", Kind: swarm.Settle, At: began}
	s := &session{settled: []swarm.Operation{start(3), by("tanwei", 1, 1), settle}}
	s.state = swarm.Replay(s.settled)
	r := roundOf(t, by("tanwei", 1, 1), by("tanwei", 1, 2), by("suyuan", 1, 1))
	r.Done, r.Refused = []string{"tanwei"}, map[string][]string{"suyuan": {"fly"}}
	s.forward(&r)
	if r.Round != 2 || len(r.Done) > 0 || len(r.Operations) != 2 || r.Refused["suyuan"] == nil {
		t.Fatalf("%+v", r)
	}
	if got := s.replay(r).Agent("tanwei").Deposits + s.replay(r).Agent("suyuan").Deposits; got != 3 {
		t.Errorf("%d deposits, want 3", got)
	}
	newer := roundOf(t, by("tanwei", 3, 3))
	s.forward(&newer)
	if newer.Round != 3 || len(newer.Operations) != 1 {
		t.Errorf("a newer round: %+v", newer)
	}
	other := clone.SwarmRound{Issue: "demo-1", Swarm: "s-0", Round: 4, Operations: r.Operations, Refused: r.Refused}
	s.forward(&other)
	if other.Swarm != "s-1" || other.Round != 2 || len(other.Operations)+len(other.Refused) > 0 {
		t.Errorf("another swarm: %+v", other)
	}
}

// Whatever twelve agents say in a round fits into traces, so that each round can be settled.
func TestRoundHasRoom(t *testing.T) {
	long := func(n int) string { return strings.Repeat("é", n/2) }
	list, verdicts := []swarm.Operation{start(12)}, []swarm.Verdict{}
	settle := swarm.Operation{Swarm: "s-1", Round: 1, Agent: "mara", ID: "mara-2", Kind: swarm.Settle, At: began}
	for _, agent := range swarm.Names(12) {
		find := by(agent, 1, 1)
		find.Kind, find.Idea, find.Direction, find.Perspective = swarm.Find, agent+long(280), long(300), long(300)
		find.Details, find.Branch, find.Commit = long(1200)+"\n"+long(1200), long(240), long(40)
		for size := 0; ; size++ {
			more := find
			more.AgreesWith = append(append([]string{}, find.AgreesWith...), fmt.Sprint(size))
			if more.Normal().Validate() != nil {
				break
			}
			find = more
		}
		deposit := by(agent, 1, 2)
		deposit.Direction = long(300)
		stop := by(agent, 1, 3)
		stop.Kind, stop.Target, stop.Reason, stop.Evidence = swarm.Stop, long(300), swarm.Reasons[0], long(2500)
		for _, o := range []swarm.Operation{find, deposit, stop} {
			if err := o.Normal().Validate(); err != nil {
				t.Fatal(err)
			}
			list = append(list, o.Normal())
		}
		verdicts = append(verdicts, swarm.Verdict{Agent: agent, Idea: find.Idea, Branch: find.Branch, Commit: find.Commit, Why: visible.ClippedBytes(long(3000), mostWhy)})
		settle.Missing = append(settle.Missing, agent)
	}
	list = append(append(list, judged(settle, verdicts)...), settle)
	state := swarm.Replay(list)
	if state.Settled != 1 || len(state.Verdicts) != 12 {
		t.Fatalf("%d rounds settled, %d verdicts", state.Settled, len(state.Verdicts))
	}
	if _, err := comments("mara", 1, state.String(), append(list, state.Drawn(1, began)...)); err != nil {
		t.Error(err)
	}
}
