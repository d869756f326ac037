package loop

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/clone"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func TestChoose(t *testing.T) {
	list := []Candidate{
		{Issue: "d-4", Kind: KindReady, Rank: 0},
		{Issue: "d-3", Kind: KindReady, Rank: 1, Held: true},
		{Issue: "d-2", Kind: KindOwn, Rank: 7},
		{Issue: "d-1", Kind: KindAnswer, Rank: 9},
		{Issue: "d-1", Kind: KindReady, Rank: 2}, // again, for less
		{Issue: "d-5", Kind: KindReady, Rank: 3, Until: at(5)},
		{Issue: "d-6", Kind: KindReady, Rank: 4, Until: at(2)},
		{Issue: "d-7", Kind: KindReady, Rank: 5, Until: at(0)},
		{Issue: "d-9", Kind: KindReady, Rank: 6},
		{Issue: "d-8", Kind: KindReady, Rank: 6},
	}
	order, next := Choose(list, noon)
	var ids []string
	for _, c := range order {
		ids = append(ids, c.Issue)
	}
	if want := []string{"d-1", "d-2", "d-4", "d-7", "d-8", "d-9"}; !slices.Equal(ids, want) {
		t.Errorf("got %v; want %v", ids, want)
	}
	if !next.Equal(at(2)) {
		t.Errorf("next at %s; want %s", next, at(2))
	}
	if order, next := Choose(nil, noon); order != nil || !next.IsZero() {
		t.Errorf("of nothing: %v, %s", order, next)
	}
}

func run(issue string, ended int, o clone.Outcome) clone.Run {
	return clone.Run{Actor: "bo", Issue: issue, Started: at(ended - 1), Ended: at(ended), Outcome: string(o)}
}

func hooked(r clone.Run) clone.Run {
	r.Refused = "git: lint-staged: not found"
	return r
}

func TestPast(t *testing.T) {
	asked, beside := run("d-1", -20, clone.OutcomeFailed), run("d-1", 0, clone.OutcomeFailed)
	asked.Asked, beside.Task = true, clone.BestOfTask
	for _, c := range []struct {
		name             string
		runs             []clone.Run
		attempts, passes int
		until            time.Time
	}{
		{"never ran", nil, 0, 0, time.Time{}},
		{"failed once", []clone.Run{run("d-1", 0, clone.OutcomeFailed)}, 1, 0, at(1)},
		{"failed in three ways", []clone.Run{run("d-1", -9, clone.OutcomeFailed), run("d-1", -6, clone.OutcomeSilent), run("d-1", 0, clone.OutcomeTimedOut)}, 3, 0, at(4)},
		{"got on between", []clone.Run{run("d-1", -9, clone.OutcomeFailed), run("d-1", -6, clone.OutcomeAdvanced), run("d-1", 0, clone.OutcomeFailed)}, 1, 1, at(1)},
		{"rejected twice", []clone.Run{run("d-1", -9, clone.OutcomeRejected), run("d-1", -6, clone.OutcomeRejected)}, 0, 2, time.Time{}},
		{"refused twice in the same words", []clone.Run{run("d-1", -9, clone.OutcomeRejected), hooked(run("d-1", -6, clone.OutcomeRejected)), hooked(run("d-1", 0, clone.OutcomeRejected))}, 0, 3, at(1)},
		{"a person was asked", []clone.Run{run("d-1", -30, clone.OutcomeFailed), asked}, 0, 0, time.Time{}},
		{"failed after a person was asked", []clone.Run{run("d-1", -30, clone.OutcomeFailed), asked, run("d-1", 0, clone.OutcomeFailed)}, 1, 0, at(1)},
		{"waited for an answer", []clone.Run{run("d-1", -30, clone.OutcomeFailed), run("d-1", -20, clone.OutcomeWaiting)}, 0, 0, time.Time{}},
		{"later three times", []clone.Run{run("d-1", -9, clone.OutcomeLater), run("d-1", -6, clone.OutcomeLater), run("d-1", 0, clone.OutcomeLater)}, 0, 0, at(4)},
		{"stopped counts for nothing", []clone.Run{run("d-1", -9, clone.OutcomeFailed), run("d-1", -6, clone.OutcomeStopped)}, 1, 0, at(-8)},
		{"lost twice is no attempt, and waits", []clone.Run{run("d-1", -9, clone.OutcomeFailed), run("d-1", -6, clone.OutcomeLost), run("d-1", 0, clone.OutcomeLost)}, 1, 0, at(2)},
		{"another issue", []clone.Run{run("d-2", 0, clone.OutcomeFailed)}, 0, 0, time.Time{}},
		{"the clock was set back", []clone.Run{run("d-1", 900, clone.OutcomeFailed)}, 1, 0, time.Time{}},
		{"failed beside others", []clone.Run{beside}, 0, 0, time.Time{}},
		{"still runs", []clone.Run{{Issue: "d-1", Started: noon}}, 0, 0, time.Time{}},
	} {
		p := PastOf(c.runs, noon)["d-1"].Of("bo")
		if p.Attempts != c.attempts || p.Passes != c.passes || !p.Until.Equal(c.until) || len(p.Failures) != c.attempts {
			t.Errorf("%s: %d attempts, %d passes, until %s; want %d, %d, %s", c.name, p.Attempts, p.Passes, p.Until, c.attempts, c.passes, c.until)
		}
	}
}

// Tries are counted per worker: one worker's tries do not keep others from an issue until a
// person is asked about all tries.
func TestTurnAfter(t *testing.T) {
	by := func(actor string, ended int, o clone.Outcome) clone.Run {
		r := run("d-1", ended, o)
		r.Actor = actor
		return r
	}
	spared, asked := by("bo", -10, clone.OutcomeFailed), by("bo", -10, clone.OutcomeFailed)
	spared.Asked, spared.Spared, asked.Asked = true, true, true
	limits := Limits{Attempts: 2, Passes: 3}
	for _, c := range []struct {
		name   string
		runs   []clone.Run
		served bool
		spent  bool // bo's tries
		fresh  bool // cy's do not, and cy need not wait
		turn   Turn // after bo's
	}{
		{"failed once", []clone.Run{by("bo", 0, clone.OutcomeFailed)}, true, false, true, TurnOthers},
		{"failed twice beside another worker", []clone.Run{by("bo", -9, clone.OutcomeFailed), by("bo", 0, clone.OutcomeFailed)}, true, true, true, TurnOthers},
		{"failed twice alone", []clone.Run{by("bo", -9, clone.OutcomeFailed), by("bo", 0, clone.OutcomeTimedOut)}, false, true, true, TurnSpared},
		{"rejected three times alone", []clone.Run{by("bo", -9, clone.OutcomeRejected), by("bo", -5, clone.OutcomeAdvanced), by("bo", 0, clone.OutcomeRejected)}, false, true, true, TurnSpared},
		{"each failed once", []clone.Run{by("cy", -9, clone.OutcomeFailed), by("bo", 0, clone.OutcomeFailed)}, false, false, true, TurnSpared},
		{"two workers failed twice", []clone.Run{by("cy", -9, clone.OutcomeFailed), by("cy", -8, clone.OutcomeFailed), by("bo", -7, clone.OutcomeFailed), by("bo", 0, clone.OutcomeFailed)}, true, true, false, TurnPerson},
		{"three workers were rejected twice", []clone.Run{by("cy", -9, clone.OutcomeRejected), by("di", -8, clone.OutcomeRejected), by("bo", -7, clone.OutcomeRejected), by("cy", -6, clone.OutcomeRejected), by("di", -5, clone.OutcomeRejected), by("bo", 0, clone.OutcomeRejected)}, true, true, false, TurnPerson},
		{"after a person was asked about bo", []clone.Run{by("bo", -20, clone.OutcomeFailed), spared}, false, false, true, TurnSpared},
		{"after a person was asked about all", []clone.Run{by("cy", -20, clone.OutcomeFailed), by("cy", -15, clone.OutcomeFailed), asked}, false, false, true, TurnSpared},
		{"closed by another", []clone.Run{by("bo", -20, clone.OutcomeFailed), by("bo", -9, clone.OutcomeFailed), by("cy", -5, clone.OutcomeClosed)}, true, false, true, TurnOthers},
	} {
		p := PastOf(c.runs, noon)["d-1"]
		bo, cy := p.Of("bo"), p.Of("cy")
		if p.Spent("bo", limits) != c.spent || p.Spent("cy", limits) == c.fresh || p.TurnAfter("bo", limits, c.served) != c.turn {
			t.Errorf("%s: bo %+v, cy %+v, turn %d; want spent %t, cy fresh %t, turn %d", c.name, bo, cy, p.TurnAfter("bo", limits, c.served), c.spent, c.fresh, c.turn)
		}
	}
	if turn := PastOf([]clone.Run{by("bo", -20, clone.OutcomeFailed), spared}, noon)["d-1"].TurnAfter("cy", limits, true); turn != TurnPerson {
		t.Errorf("after bo was asked about and cy failed: %d; want a person", turn)
	}
}

func TestOnProbation(t *testing.T) {
	var runs []clone.Run
	add := func(actor, issue string, o clone.Outcome) {
		r := run(issue, len(runs)-60, o)
		r.Actor = actor
		runs = append(runs, r)
	}
	for i, issue := range []string{"d-1", "d-2", "d-3"} {
		add("bo", issue, []clone.Outcome{clone.OutcomeFailed, clone.OutcomeRejected, clone.OutcomeSilent}[i])
		if clone.OnProbation(runs, "bo") {
			t.Errorf("on probation before others closed %s", issue)
		}
		add("cy", issue, clone.OutcomeClosed)
	}
	if !clone.OnProbation(runs, "bo") || clone.OnProbation(runs, "cy") {
		t.Error("bo is to be on probation, and cy is not")
	}
	add("bo", "d-4", clone.OutcomeClosed)
	if clone.OnProbation(runs, "bo") {
		t.Error("on probation after it closed one")
	}
}

func TestBackOff(t *testing.T) {
	var minutes []int
	for attempts := range 10 {
		minutes = append(minutes, int(BackOff(attempts)/time.Minute))
	}
	if want := []int{0, 1, 2, 4, 8, 16, 32, 60, 60, 60}; !slices.Equal(minutes, want) {
		t.Errorf("got %v; want %v", minutes, want)
	}
}

func TestBounds(t *testing.T) {
	long := run("d-1", 0, clone.OutcomeClosed)
	long.Started, long.Cost = at(-90), 0.25
	dear := run("d-2", -5, clone.OutcomeFailed)
	dear.Cost = 0.5
	old, other := run("d-3", -25*60, clone.OutcomeClosed), run("d-4", 0, clone.OutcomeClosed)
	other.Actor = "cy"
	ahead, years := run("d-6", 23*60, clone.OutcomeClosed), run("d-7", 800*24*60, clone.OutcomeClosed)
	ahead.Started = ahead.Ended
	years.Started = years.Ended
	runs := []clone.Run{old, long, dear, other, {Actor: "bo", Issue: "d-5", Started: noon}}
	if got, want := UsedBy("bo", nil, noon, append(runs, ahead, years), noon).Runs, 4; got != want {
		t.Errorf("%d runs, with one of a clock that was ahead; want %d", got, want)
	}
	used := UsedBy("bo", nil, noon, runs, noon)
	if used.Runs != 3 || used.Time != 91*time.Minute || used.Spent.Sum() != 0.75 {
		t.Fatalf("got %+v; want 3 runs, 91 minutes, 0.75", used)
	}
	for _, c := range []struct {
		bounds  Bounds
		reached bool
	}{
		{Bounds{}, false},
		{Bounds{Runs: 4}, false}, {Bounds{Runs: 3}, true},
		{Bounds{Time: 2 * time.Hour}, false}, {Bounds{Time: 91 * time.Minute}, true},
		{Bounds{Cost: 0.76}, false}, {Bounds{Cost: 0.75}, true},
	} {
		if got := c.bounds.Reached(used); (got != "") != c.reached {
			t.Errorf("%+v: %q; want reached %v", c.bounds, got, c.reached)
		}
	}
	if got := (Bounds{Time: 2 * time.Hour}).RunLimit(time.Hour, used); got != 29*time.Minute {
		t.Errorf("a run may take %s; want 29m", got)
	}
	if got := (Bounds{}).RunLimit(time.Hour, used); got != time.Hour {
		t.Errorf("a run may take %s; want 1h", got)
	}
	if got := (Bounds{PerHour: 2}).Next("bo", runs, noon); !got.Equal(at(54)) {
		t.Errorf("next run at %s; want %s", got, at(54))
	}
	if got := (Bounds{PerHour: 3}).Next("bo", runs, noon); !got.IsZero() {
		t.Errorf("next run at %s; want now", got)
	}
}

// Loops of one stig work share their limits. A cost limit ends them after one run of unknown
// cost, or after two if others are known.
func TestSharedBounds(t *testing.T) {
	made := func(actor string, minutes int, change func(*clone.Run)) clone.Run {
		r := clone.Run{Actor: actor, Issue: "d-1", Started: at(minutes), Ended: at(minutes + 1)}
		r.Program.PID = 1
		change(&r)
		return r
	}
	said := func(r *clone.Run) { r.Cost, r.Price, r.TokensOut = 0.5, clone.PriceListed, 700 }
	free := func(r *clone.Run) { r.Price = clone.PriceSaid }
	unknown := func(r *clone.Run) { r.TokensIn = 50 }
	partly := func(r *clone.Run) { r.Cost, r.Price = 0.5, clone.PricePartly }
	none := func(r *clone.Run) { r.Program.PID = 0 }
	crew := []string{"claude-1", "claude-2"}
	for _, c := range []struct {
		runs   []clone.Run
		bounds Bounds
		want   string // start of the reached limit
	}{
		{[]clone.Run{made("claude-2", 0, said), made("claude-1", 1, said)}, Bounds{Cost: 1}, "--max-cost: runs cost 1.00 of 1.00"},
		{[]clone.Run{made("claude-2", 0, said), made("ann", 1, said)}, Bounds{Cost: 1}, ""},
		{[]clone.Run{made("claude-2", 0, said), made("claude-1", 0, said)}, Bounds{Tokens: 1400}, "--max-tokens: runs used 1400 of 1400 tokens"},
		{[]clone.Run{made("claude-2", 0, said)}, Bounds{Runs: 1}, ""}, // runs of each
		{[]clone.Run{made("claude-1", 0, unknown)}, Bounds{Cost: 1}, "--max-cost: 1 run without a known cost"},
		{[]clone.Run{made("claude-2", 0, unknown)}, Bounds{Cost: 1}, "--max-cost: 1 run without a known cost"},
		{[]clone.Run{made("claude-2", 0, partly)}, Bounds{Cost: 1}, "--max-cost: 1 run without a known cost"},
		{[]clone.Run{made("claude-1", 0, unknown)}, Bounds{Cost: 1, CostUnknown: true}, ""},
		{[]clone.Run{made("claude-1", 0, unknown)}, Bounds{}, ""},
		{[]clone.Run{made("claude-1", -30, unknown)}, Bounds{Cost: 1}, ""}, // of an earlier stig work
		{[]clone.Run{made("claude-1", 0, none), made("claude-1", 1, free)}, Bounds{Cost: 1}, ""},
		{[]clone.Run{made("claude-1", 0, said), made("claude-1", 1, unknown)}, Bounds{Cost: 1}, ""},
		{[]clone.Run{made("claude-1", 0, said), made("claude-1", 1, unknown), made("claude-2", 1, unknown)}, Bounds{Cost: 1}, "--max-cost: 2 runs without"},
	} {
		got := c.bounds.Reached(UsedBy("claude-1", crew, noon, c.runs, noon.Add(10*time.Minute)))
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q; want %q", c.bounds, got, c.want)
		}
	}
}

func TestFailsAlike(t *testing.T) {
	fails := func(actor, issue string, second int, said string) clone.Run {
		end := noon.Add(time.Duration(second) * time.Second)
		return clone.Run{Actor: actor, Issue: issue, Started: end.Add(-time.Second), Ended: end, Exit: 1, Outcome: string(clone.OutcomeFailed), Said: said}
	}
	later := func(actor, issue string, second int, said string) clone.Run {
		r := fails(actor, issue, second, said)
		r.Outcome, r.Exit = string(clone.OutcomeLater), clone.ExitLater
		return r
	}
	done := fails("cy", "d-9", -5, "")
	done.Outcome, done.Exit = string(clone.OutcomeClosed), 0
	const limit = "rate limit reached, try again in 17 s"
	refused := func(actor, issue string, minute int, by string, o clone.Outcome) clone.Run {
		r := run(issue, minute, o)
		r.Actor, r.Refused = actor, by
		return r
	}
	const hook = "git: line 2: exec: lint-staged: not found"
	for _, c := range []struct {
		name  string
		runs  []clone.Run
		pause time.Duration // after the last
	}{
		{"none", nil, 0},
		{"one", []clone.Run{fails("bo", "d-1", 0, limit)}, 0},
		{"one worker on two issues", []clone.Run{fails("bo", "d-1", -30, limit), fails("bo", "d-2", 0, "rate limit reached, try again in 3 s")}, time.Minute},
		{"one issue twice", []clone.Run{fails("bo", "d-1", -30, limit), fails("bo", "d-1", 0, limit)}, 0},
		{"in other ways", []clone.Run{fails("bo", "d-1", -30, limit), fails("bo", "d-2", 0, "no such file")}, 0},
		{"without a word", []clone.Run{fails("bo", "d-1", -30, ""), fails("bo", "d-2", 0, "")}, 0},
		{"later without a word", []clone.Run{later("bo", "d-1", -30, ""), later("bo", "d-2", 0, "")}, time.Minute},
		{"later in other words", []clone.Run{later("bo", "d-1", -30, "limit"), later("bo", "d-2", 0, "no login")}, time.Minute},
		{"later, one issue twice", []clone.Run{later("bo", "d-1", -30, ""), later("bo", "d-1", 0, "")}, 0},
		{"not within a minute", []clone.Run{fails("bo", "d-1", -90, limit), fails("bo", "d-2", 0, limit)}, 0},
		{"another worker succeeds", []clone.Run{done, fails("bo", "d-1", -3, limit), fails("bo", "d-2", 0, limit)}, 0},
		{"two workers", []clone.Run{fails("bo", "d-1", -3, limit), fails("cy", "d-2", 0, limit)}, time.Minute},
		{"a second round", []clone.Run{fails("bo", "d-1", -93, limit), fails("cy", "d-2", -90, limit), fails("bo", "d-1", -3, limit), fails("cy", "d-2", 0, limit)}, 2 * time.Minute},
		{"refused in the same words, hours apart", []clone.Run{refused("bo", "d-1", -90, hook, clone.OutcomeRejected), refused("bo", "d-2", 0, hook, clone.OutcomeAdvanced)}, time.Minute},
		{"refused on one issue", []clone.Run{refused("bo", "d-1", -90, hook, clone.OutcomeRejected), refused("bo", "d-1", 0, hook, clone.OutcomeRejected)}, 0},
		{"refused in other words", []clone.Run{refused("bo", "d-1", -90, hook, clone.OutcomeRejected), refused("bo", "d-2", 0, "go: no such file", clone.OutcomeRejected)}, 0},
		{"refused without a word", []clone.Run{refused("bo", "d-1", -90, "", clone.OutcomeRejected), refused("bo", "d-2", 0, "", clone.OutcomeRejected)}, 0},
		{"refused, and again later", []clone.Run{refused("bo", "d-1", -9, hook, clone.OutcomeRejected), refused("bo", "d-2", -5, hook, clone.OutcomeLater), refused("bo", "d-3", 0, hook, clone.OutcomeLater)}, 2 * time.Minute},
		{"one worker goes on", []clone.Run{fails("bo", "d-1", -200, limit), fails("bo", "d-2", -180, limit), fails("bo", "d-1", -100, limit), fails("bo", "d-2", 0, limit)}, 4 * time.Minute},
	} {
		got := FindCorrelated(c.runs, noon)
		want := time.Time{}
		if c.pause > 0 {
			want = noon.Add(c.pause)
		}
		if !got.Until.Equal(want) {
			t.Errorf("%s: until %s; want %s", c.name, got.Until, want)
		}
	}
}
