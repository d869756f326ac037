package swarm_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"stig/internal/swarm"
)

// began is when the swarms of these tests start.
var began = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// script creates operations of the swarm s-1, one a second.
type script struct {
	list  []swarm.Operation
	round int
	at    time.Time
	n     map[string]int
}

func begin(agents int, change ...func(*swarm.Operation)) *script {
	s := &script{at: began, n: map[string]int{}}
	start := swarm.Operation{Kind: swarm.Start, Agent: "mara", Task: "where to dig", Agents: swarm.Names(agents)}
	for _, edit := range change {
		edit(&start)
	}
	s.add(start)
	s.round = 1
	return s
}

func (s *script) add(o swarm.Operation) {
	s.n[o.Agent]++
	o.Swarm, o.Round, o.At, o.ID = "s-1", s.round, s.at, fmt.Sprintf("%s-%d", o.Agent, s.n[o.Agent])
	s.at = s.at.Add(time.Second)
	s.list = append(s.list, o)
}

func (s *script) deposit(agent, direction string, amount float64) {
	s.add(swarm.Operation{Kind: swarm.Deposit, Agent: agent, Direction: direction, Amount: amount})
}

func (s *script) stop(agent, target string) {
	s.add(swarm.Operation{Kind: swarm.Stop, Agent: agent, Target: target, Reason: swarm.Reasons[0], Evidence: "it is wet"})
}

func (s *script) find(agent, idea, details string, agrees ...string) {
	s.add(swarm.Operation{Kind: swarm.Find, Agent: agent, Idea: idea, Direction: "north", Perspective: agent, Details: details, AgreesWith: agrees})
}

// settle ends the round, some seconds after its last operation.
func (s *script) settle(after time.Duration, missing ...string) *swarm.State {
	s.at = s.at.Add(after - time.Second)
	s.add(swarm.Operation{Kind: swarm.Settle, Agent: "mara", Missing: missing})
	s.round++
	return swarm.Replay(s.list)
}

func near(t *testing.T, what string, got swarm.Figure, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 1e-12 {
		t.Errorf("%s: got %.12f, want %.12f", what, got, want)
	}
}

// The concentrations of the seed, worked by hand.
func TestConcentrations(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(*script) *swarm.State
		want float64
	}{
		// Five deposits of the default 0.1 make 0.5. Evaporation: 0.5 × 0.95 = 0.475.
		{"default amount", func(s *script) *swarm.State {
			for range 5 {
				s.deposit("tanwei", "north", 0)
			}
			return s.settle(time.Second)
		}, 0.475},
		// Twelve deposits would make 1.2; the cap is 1. 1 × 0.95 = 0.95.
		{"cap", func(s *script) *swarm.State {
			for range 12 {
				s.deposit("tanwei", "north", 0.1)
			}
			return s.settle(time.Second)
		}, 0.95},
		// One deposit of 0.8 and one of 0.5: the cap of 1 applies before evaporation; the other
		// order would give 0.8 × 0.95 + 0.5 = 1.26, capped at 1.
		{"cap before evaporation", func(s *script) *swarm.State {
			s.deposit("tanwei", "north", 0.8)
			s.deposit("suyuan", "north", 0.5)
			return s.settle(time.Second)
		}, 0.95},
		// 0.6 × 0.95 = 0.57; one stop signal: 0.57 × 0.7 = 0.399.
		{"a stop signal", func(s *script) *swarm.State {
			s.deposit("tanwei", "north", 0.6)
			s.stop("suyuan", "north")
			return s.settle(time.Second)
		}, 0.399},
		// Three signals one after the other: 0.7 × 0.7 × 0.7 = 0.343. 1 × 0.95 × 0.343 = 0.32585.
		{"three stop signals", func(s *script) *swarm.State {
			s.deposit("tanwei", "north", 1)
			for _, agent := range []string{"suyuan", "dongcha", "qiusuo"} {
				s.stop(agent, "north")
			}
			return s.settle(time.Second)
		}, 0.32585},
		// The signal counts for two settlements: 1 × 0.95 × 0.7 = 0.665; 0.665 × 0.95 × 0.7 =
		// 0.442225.
		{"each round again", func(s *script) *swarm.State {
			s.deposit("tanwei", "north", 1)
			s.stop("suyuan", "north")
			s.settle(time.Second)
			return s.settle(time.Minute)
		}, 0.442225},
		// Settled 300 s after the signal it still counts: 1 × 0.95 × 0.7 = 0.665.
		{"300 seconds", func(s *script) *swarm.State {
			s.deposit("tanwei", "north", 1)
			s.stop("suyuan", "north")
			return s.settle(300 * time.Second)
		}, 0.665},
		// One second later it does not: 1 × 0.95 = 0.95.
		{"301 seconds", func(s *script) *swarm.State {
			s.deposit("tanwei", "north", 1)
			s.stop("suyuan", "north")
			return s.settle(301 * time.Second)
		}, 0.95},
		// The order of operations counts: a signal before the deposit of its round works as one
		// after it, since both come before the settlement: (0.2 + 0.4) × 0.95 × 0.7 = 0.399. Of
		// two rounds it does not: 0.2 × 0.95 × 0.7 = 0.133, + 0.4 = 0.533, × 0.95 × 0.7 = 0.354445.
		{"order of rounds", func(s *script) *swarm.State {
			s.deposit("tanwei", "north", 0.2)
			s.stop("suyuan", "north")
			s.settle(time.Second)
			s.deposit("tanwei", "north", 0.4)
			return s.settle(time.Second)
		}, 0.354445},
	} {
		s := c.run(begin(6))
		near(t, c.name, s.Directions[0].Concentration, c.want)
	}
}

// Expired signals are dropped before roles are drawn, so they make no debater.
func TestExpiredSignalMakesNoDebater(t *testing.T) {
	for after, want := range map[time.Duration]string{300 * time.Second: swarm.Debater, 301 * time.Second: swarm.Explorer} {
		s := begin(4)
		s.stop("suyuan", "north")
		if got := s.settle(after).Agent("tanwei").Role; got != want {
			t.Errorf("after %s: %s, want %s", after, got, want)
		}
	}
}

// Roles of the seed. θ and the draws of these agents were computed with another program.
func TestRoles(t *testing.T) {
	deposits := func(s *script, agent string, amounts ...float64) {
		for _, amount := range amounts {
			s.deposit(agent, "north", amount)
		}
	}
	t.Run("deep analyst", func(t *testing.T) {
		// 0.74 × 0.95 = 0.703, which is at least 0.7. s² = 0.494209. suyuan has θ = 0.42241781,
		// θ² = 0.17843680, so that p = 0.494209 ÷ 0.67264580 = 0.73472… and it draws 0.529.
		s := begin(4)
		deposits(s, "suyuan", 0.3, 0.3, 0.14)
		if got := s.settle(time.Second).Agent("suyuan"); got.Role != swarm.DeepAnalyst || len(got.History) != 1 {
			t.Errorf("%+v", got)
		}
		// tanwei has θ = 0.43923343: p = 0.494209 ÷ (0.494209 + 0.19292601) = 0.71923…, and draws 0.841.
		s = begin(4)
		deposits(s, "tanwei", 0.3, 0.3, 0.14)
		if got := s.settle(time.Second).Agent("tanwei").Role; got != swarm.Explorer {
			t.Error(got)
		}
		// 0.73 × 0.95 = 0.6935 is under 0.7: evaporation comes before roles.
		s = begin(4)
		deposits(s, "suyuan", 0.3, 0.3, 0.13)
		if got := s.settle(time.Second).Agent("suyuan").Role; got != swarm.Explorer {
			t.Error(got)
		}
		// Two deposits are not three.
		s = begin(4)
		deposits(s, "suyuan", 0.5, 0.5)
		if got := s.settle(time.Second).Agent("suyuan").Role; got != swarm.Explorer {
			t.Error(got)
		}
	})
	t.Run("first rule that draws true", func(t *testing.T) {
		s := begin(4)
		deposits(s, "suyuan", 0.3, 0.3, 0.4)
		deposits(s, "tanwei", 0.1, 0.1, 0.1)
		s.stop("dongcha", "south") // another direction
		state := s.settle(time.Second)
		for agent, want := range map[string]string{"suyuan": swarm.DeepAnalyst, "tanwei": swarm.Debater, "qiusuo": swarm.Debater} {
			if got := state.Agent(agent).Role; got != want {
				t.Errorf("%s: %s, want %s", agent, got, want)
			}
		}
	})
	t.Run("synthesizer at round 3", func(t *testing.T) {
		// Rounds are counted after roles: two are complete when round 3 is settled. The draws
		// are 0.858 of tanwei and 0.760 of suyuan; 0.8 is the chance.
		s := begin(4)
		for range 2 {
			for _, a := range s.settle(time.Second).Agents {
				if a.Role != swarm.Explorer {
					t.Errorf("round %d: %s is %s", s.round-1, a.Name, a.Role)
				}
			}
		}
		state := s.settle(time.Second)
		if a, b := state.Agent("tanwei").Role, state.Agent("suyuan").Role; a != swarm.Explorer || b != swarm.Synthesizer {
			t.Errorf("%s, %s", a, b)
		}
	})
}

func TestChance(t *testing.T) {
	// SHA-256 of the four words separated by NUL bytes, computed with another program.
	for _, c := range []struct {
		round          int
		agent, purpose string
		want           float64
	}{
		{0, "tanwei", "theta", 0.46411143001159905},
		{3, "suyuan", "role-SYNTHESIZER", 0.7597734875044919},
		{1, "探微者", "choose", 0.4158581653941288},
	} {
		if got := swarm.Chance("s-1", c.round, c.agent, c.purpose); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.agent, c.purpose, got, c.want)
		}
	}
	// θ = 0.3 + 0.3 × 0.464111… = 0.439233…
	near(t, "theta", begin(4).settle(time.Second).Agent("tanwei").Threshold, 0.4392334290034797)
}

// Quorums in integers: ⌈2 × active ÷ 3⌉.
func TestQuorum(t *testing.T) {
	for _, c := range []struct {
		agents, support int
		missing         int // agents that are degraded
		want            bool
	}{
		{6, 4, 0, true}, // 2 × 6 ÷ 3 = 4; as 0.67 × 6 = 4.02 it would take 5
		{6, 3, 0, false},
		{3, 2, 0, true},  // as 0.67 × 3 = 2.01 it would take all three
		{4, 3, 0, true},  // 8 ÷ 3 = 2.67, so that 3 are needed
		{4, 2, 0, false}, // the same
		{5, 3, 0, false}, // 10 ÷ 3 = 3.33: 4
		{5, 4, 0, true},
		{6, 3, 2, true}, // two degraded agents are in neither number: 3 of 4
		{6, 2, 2, false},
	} {
		s := begin(c.agents)
		names := swarm.Names(c.agents)
		missing := names[c.agents-c.missing:]
		var state *swarm.State
		for range 2 {
			for i, agent := range names[:c.agents-c.missing] {
				idea := "well"
				if i >= c.support {
					idea = "river"
				}
				s.find(agent, idea, "seen by "+agent)
			}
			state = s.settle(time.Second, missing...)
		}
		if got := state.Convergence; got.Quorum != c.want || got.Converged != c.want || !got.Stable {
			t.Errorf("%d of %d, %d missing: %+v", c.support, c.agents, c.missing, got)
		}
	}
}

// Who counts as a supporter.
func TestSupporters(t *testing.T) {
	s := begin(6)
	s.find("tanwei", "Dig a well", "the ground is wet at two metres")
	s.find("suyuan", "river", "the river is near", "dig a WELL") // agrees, with details of its own
	s.find("dongcha", "dig-a-well", "The ground is  wet at two metres")
	s.find("qiusuo", "rain", "it rains in autumn", "glacier") // agrees with what nobody found
	state := s.settle(time.Second)
	got := map[string][]string{}
	for _, idea := range state.Convergence.Ideas {
		got[idea.Idea] = idea.Supporters
	}
	want := map[string][]string{"dig-a-well": {"suyuan", "tanwei"}, "river": {"suyuan"}, "rain": {"qiusuo"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Stability looks at the last two rounds that had findings.
func TestStability(t *testing.T) {
	s := begin(3)
	for _, agent := range swarm.Names(3) {
		s.find(agent, "well", "seen by "+agent)
	}
	if c := s.settle(time.Second).Convergence; c.Stable || c.StableRounds != 1 || !c.Quorum {
		t.Errorf("after one round: %+v", c)
	}
	if c := s.settle(time.Second).Convergence; c.Stable {
		t.Errorf("a round without findings counts: %+v", c)
	}
	s.find("tanwei", "well", "seen again")
	if state := s.settle(time.Second); !state.Convergence.Stable || state.Ended != swarm.Converged {
		t.Errorf("%+v", state.Convergence)
	}
}

// Diversity is the mean of three.
func TestDiversity(t *testing.T) {
	s := begin(4)
	s.deposit("tanwei", "north", 0.5)
	s.deposit("tanwei", "east", 0.25)
	s.deposit("tanwei", "south", 0.25)
	s.find("tanwei", "well", "Wet ground below")
	s.find("suyuan", "river", "wet ground ahead")
	c := swarm.Replay(s.list).Convergence
	// Two perspectives of four agents.
	near(t, "coverage", c.Coverage, 0.5)
	// wet and ground are in both, of wet, ground, below, ahead: 2 ÷ 4; 1 − 0.5.
	near(t, "orthogonality", c.Orthogonality, 0.5)
	// −(½ ln ½ + ½ ln ¼) ÷ ln 3 = 1.5 × 0.693147180560 ÷ 1.098612288668.
	near(t, "entropy", c.Entropy, 1.5*0.6931471805599453/1.0986122886681098)
	near(t, "diversity", c.Diversity, (0.5+0.5+0.946394630357186)/3)
}

func TestWords(t *testing.T) {
	if got := swarm.Words("Wet ground, 2m: 探微者x 水"); !slices.Equal(got, []string{"wet", "ground", "2m", "探微", "微者", "x", "水"}) {
		t.Errorf("%q", got)
	}
}

// A second round in a row without answer degrades; an answer before that resets.
func TestDegraded(t *testing.T) {
	s := begin(4)
	s.settle(time.Second, "tanwei", "suyuan")
	s.settle(time.Second, "suyuan")
	state := s.settle(time.Second, "tanwei")
	if a, b := state.Agent("tanwei"), state.Agent("suyuan"); a.Status != swarm.Active || a.Misses != 1 || b.Status != swarm.Degraded {
		t.Errorf("%+v, %+v", a, b)
	}
	s = begin(3)
	s.settle(time.Second, "tanwei", "suyuan")
	if state := s.settle(time.Second, "tanwei", "suyuan"); state.Ended != swarm.Insufficient {
		t.Errorf("%s", state.Ended)
	}
}

// Three rounds without change are a warning, three more the end.
func TestStagnation(t *testing.T) {
	s := begin(4)
	s.find("tanwei", "well", "wet")
	s.find("suyuan", "river", "near")
	for round := 1; round <= 7; round++ {
		state := s.settle(time.Second)
		warned := slices.ContainsFunc(state.Warnings, func(w swarm.Warned) bool { return w.Kind == "stagnation" })
		if warned != (round >= 4) || (state.Ended == swarm.Stagnant) != (round == 7) {
			t.Errorf("round %d: %v, %q", round, warned, state.Ended)
		}
	}
}

func TestEnds(t *testing.T) {
	set := func(change func(*swarm.Config)) func(*swarm.Operation) {
		return func(o *swarm.Operation) {
			c := swarm.Defaults()
			change(&c)
			o.Config = &c
		}
	}
	if got := begin(3, set(func(c *swarm.Config) { c.MaxRounds = 1 })).settle(time.Second).Ended; got != swarm.Exhausted {
		t.Errorf("rounds: %s", got)
	}
	if got := begin(3, set(func(c *swarm.Config) { c.Timeout = 60 })).settle(time.Minute).Ended; got != swarm.TimedOut {
		t.Errorf("time: %s", got)
	}
	s := begin(3)
	s.add(swarm.Operation{Kind: swarm.Judge, Agent: "tanwei", Verdict: &swarm.Verdict{Agent: "tanwei", Passed: true}}) // not hers to say
	s.add(swarm.Operation{Kind: swarm.Judge, Agent: "mara", Verdict: &swarm.Verdict{Agent: "xili", Passed: true}})     // no agent
	s.add(swarm.Operation{Kind: swarm.Judge, Agent: "mara"})
	if state := swarm.Replay(s.list); len(state.Verdicts) != 0 {
		t.Errorf("%v", state.Verdicts)
	}
	s.add(swarm.Operation{Kind: swarm.Judge, Agent: "mara", Verdict: &swarm.Verdict{Agent: "tanwei", Commit: "abc", Passed: true}})
	if state := s.settle(time.Second); state.Ended != swarm.Proved || len(state.Verdicts) != 1 {
		t.Errorf("%s, %v", state.Ended, state.Verdicts)
	}
	s = begin(3)
	s.add(swarm.Operation{Kind: swarm.End, Agent: "tanwei"})
	s.add(swarm.Operation{Kind: swarm.Settle, Agent: "tanwei"})
	if state := swarm.Replay(s.list); state.Ended != "" || state.Settled != 0 {
		t.Errorf("an agent ended or settled: %+v", state)
	}
	s.add(swarm.Operation{Kind: swarm.End, Agent: "mara"})
	if got := swarm.Replay(s.list).Ended; got != swarm.Stopped {
		t.Errorf("%s", got)
	}
}

// A classic swarm has one round side by side, and one in which an agent concludes.
func TestClassic(t *testing.T) {
	s := begin(4, func(o *swarm.Operation) { o.Mode = swarm.Classic })
	s.find("tanwei", "well", "wet")
	s.find("suyuan", "river", "near")
	state := s.settle(time.Second)
	expected := state.Expected()
	if len(expected) != 1 || state.Agent(expected[0]).Found != 1 {
		t.Fatalf("%q", expected)
	}
	s.find(expected[0], "well", "it is to be a well")
	if state := s.settle(time.Second); state.Ended != swarm.Exhausted || swarm.NewReport(state, s.at).Conclusion != "well: it is to be a well" {
		t.Errorf("%s, %+v", state.Ended, swarm.NewReport(state, s.at))
	}
}

// Duplicates and excess from a merge of two clones do not count.
func TestMerged(t *testing.T) {
	s := begin(5)
	for _, agent := range swarm.Names(5) {
		s.add(swarm.Operation{Kind: swarm.Probe, Agent: agent, Subtask: "map the ground"})
		s.add(swarm.Operation{Kind: swarm.Probe, Agent: agent, Subtask: "map  the ground"})
	}
	s.deposit("tanwei", "north", 0.3)
	s.deposit("xili", "north", 0.3)
	once := s.settle(time.Second)
	if c := once.Claims[0]; len(once.Claims) != 1 || !slices.Equal(c.Agents, []string{"tanwei", "suyuan", "dongcha"}) {
		t.Errorf("%+v", once.Claims)
	}
	again := s.list[len(s.list)-1]
	again.At = again.At.Add(time.Hour)
	twice := swarm.Replay(append(slices.Clone(s.list), append(slices.Clone(s.list), again)...))
	if a, b := asJSON(t, once), asJSON(t, twice); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Stop signals on a direction take at most half of it from followers.
func TestInhibited(t *testing.T) {
	s := begin(4)
	s.deposit("tanwei", "north", 0.8)
	at := s.at
	for n, want := range map[int]float64{0: 0.8, 1: 0.8 * 0.7, 2: 0.8 * 0.5, 3: 0.8 * 0.5} { // 0.3, then 0.6 and 0.9, of which 0.5 counts
		list := slices.Clone(s.list)
		for i := range n {
			list = append(list, swarm.Operation{Swarm: "s-1", Round: 1, Agent: "suyuan", ID: fmt.Sprintf("suyuan-%d", i+1), Kind: swarm.Stop, At: at,
				Target: "north", Reason: swarm.Reasons[1], Evidence: "wet"})
		}
		state := swarm.Replay(list)
		got, inhibiting := state.Effective("north", at)
		if near(t, fmt.Sprint(n), got, want); inhibiting != (n > 0) {
			t.Errorf("%d signals: %v", n, inhibiting)
		}
		// suyuan draws 0.786 in round 1 and has θ² = 0.17844. With one signal s² = 0.3136, p =
		// 0.637: inhibited. dongcha draws 0.905: inhibited. xili is no agent here. Without a
		// signal nobody is.
		for _, agent := range []string{"suyuan", "dongcha"} {
			if got := state.Inhibited(state.Agent(agent), "north", at); got != (n > 0) {
				t.Errorf("%d signals: %s inhibited: %v", n, agent, got)
			}
		}
		// tanwei draws 0.487 and has θ² = 0.19293: with s² = 0.3136 p = 0.619, with 0.16 p = 0.453.
		if got := state.Inhibited(state.Agent("tanwei"), "north", at); got != (n > 1) {
			t.Errorf("%d signals: tanwei inhibited: %v", n, got)
		}
	}
}

// Choices by the draws of round 1: tanwei 0.251, suyuan 0.059, dongcha 0.340, qiusuo 0.852.
func TestChoose(t *testing.T) {
	s := begin(4, func(o *swarm.Operation) { o.Mode, o.Directions = swarm.Hybrid, []string{"north", "south"} })
	s.deposit("xili", "south", 0.5) // no agent: counts for nothing
	state := swarm.Replay(s.list)
	if c := state.Choose(state.Agent("tanwei"), s.at); c.Kind != swarm.Uncovered || c.Direction == "" {
		t.Errorf("nothing to follow: %+v", c)
	}
	s.deposit("tanwei", "north", 0.5)
	state = swarm.Replay(s.list)
	if c := state.Choose(state.Agent("tanwei"), s.at); c.Kind != swarm.Follow || c.Direction != "north" {
		t.Errorf("%+v", c)
	}
	// qiusuo follows below 0.85 − 0.1596 = 0.6904 and takes what nobody covered below 0.8404.
	if c := state.Choose(state.Agent("qiusuo"), s.at); c.Kind != swarm.Random {
		t.Errorf("%+v", c)
	}
	// dongcha draws 0.905 against the signal, and its follow becomes random.
	s.stop("suyuan", "north")
	state = swarm.Replay(s.list)
	if c := state.Choose(state.Agent("dongcha"), s.at); c.Kind != swarm.Random || !c.Inhibited {
		t.Errorf("%+v", c)
	}
}

// Until the first round is settled an agent sees only its own work.
func TestBlind(t *testing.T) {
	s := begin(4)
	s.deposit("tanwei", "north", 0.5)
	s.find("tanwei", "well", "wet")
	s.find("suyuan", "river", "near")
	seen := swarm.Replay(s.list).SeenBy("suyuan")
	if len(seen.Directions) > 0 || len(seen.Findings) != 1 || seen.Agent("tanwei").Found > 0 || len(seen.Convergence.Ideas) != 1 {
		t.Errorf("%s", asJSON(t, seen))
	}
	if c := seen.Choose(seen.Agent("suyuan"), s.at); c.Kind != swarm.Uncovered || c.Direction != "" {
		t.Errorf("%+v", c)
	}
	if seen := s.settle(time.Second).SeenBy("suyuan"); len(seen.Findings) != 2 || len(seen.Directions) != 1 {
		t.Errorf("%s", asJSON(t, seen))
	}
}
