package swarm_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/swarm"
	"stig/internal/trace"
)

// FuzzReplay replays operations made of random bytes. The state does not depend on their order,
// every figure is in [0, 1], and their record reads back as written.
func FuzzReplay(f *testing.F) {
	f.Add([]byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09"), uint64(1))
	f.Add([]byte(strings.Repeat("deposit stop probe finding settle ", 20)), uint64(7))
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		list := operationsOf(data)
		state := swarm.Replay(list)
		inRange(t, state)
		want := asJSON(t, state)
		random := rand.New(rand.NewPCG(seed, 1))
		random.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
		again := swarm.Replay(list)
		if got := asJSON(t, again); got != want {
			t.Fatalf("another order:\n%s\n%s", got, want)
		}
		for _, a := range again.Agents {
			again.Choose(a, began)
			_ = again.SeenBy(a.Name)
		}
		report := swarm.NewReport(again, began)
		_, _ = report.Text(), report.SVG()
	})
}

func inRange(t *testing.T, s *swarm.State) {
	t.Helper()
	check := func(what string, f swarm.Figure) {
		if !(f >= 0 && f <= 1) {
			t.Fatalf("%s: %v", what, float64(f))
		}
	}
	for _, d := range s.Directions {
		check(d.Name, d.Concentration)
	}
	c := s.Convergence
	for what, f := range map[string]swarm.Figure{"diversity": c.Diversity, "coverage": c.Coverage, "orthogonality": c.Orthogonality, "entropy": c.Entropy, "share": c.Share} {
		check(what, f)
	}
}

// operationsOf makes operations from bytes, most of them plausible.
func operationsOf(data []byte) (list []swarm.Operation) {
	next := func() int {
		if len(data) == 0 {
			return 0
		}
		b := data[0]
		data = data[1:]
		return int(b)
	}
	names := append(swarm.Names(5), "mara", "", "x-9")
	kinds := []swarm.Kind{swarm.Deposit, swarm.Stop, swarm.Probe, swarm.Find, swarm.Host, swarm.Settle, swarm.End, swarm.Role, swarm.Start, "odd", swarm.Deposit, swarm.Find}
	words := []string{"north", "south", "探微者", "", " a  b ", strings.Repeat("x", 3001), "North"}
	amounts := []float64{0, 0.1, 1, 0.5, -1, 2, math.NaN(), math.Inf(1), 5e-324}
	list = begin(5).list
	for len(data) > 0 && len(list) < 400 {
		agent, word := names[next()%len(names)], words[next()%len(words)]
		o := swarm.Operation{
			Swarm: "s-1", Kind: kinds[next()%len(kinds)], Agent: agent, Round: next()%5 + (next()%7)/6 - 1, ID: fmt.Sprintf("%s-%d", agent, next()%4),
			At: began.Add(time.Duration(next()-20) * 9 * time.Second), Amount: amounts[next()%len(amounts)],
			Direction: word, Target: word, Reason: swarm.Reasons[0], Evidence: "e", Subtask: word, Idea: word, Details: words[next()%len(words)], Note: "n",
			AgreesWith: []string{words[next()%len(words)]}, Perspective: word,
		}
		if o.Kind == swarm.Settle {
			o.Agent, o.Missing = "mara", []string{names[next()%len(names)]}
			o.Config = []*swarm.Config{nil, {MaxRounds: 3}}[next()%2]
		}
		list = append(list, o)
	}
	return list
}

// The record of a round reads back as written, however many traces it takes.
func TestRecord(t *testing.T) {
	s := begin(6)
	for i := range 60 {
		agent := swarm.Names(6)[i%6]
		s.find(agent, fmt.Sprintf("idea %d", i%7), strings.Repeat("```\nstig: finding/1\n", i%40)+"line\n\nkey: value")
	}
	state := s.settle(time.Second)
	list := append(s.list, state.Drawn(1, s.at)...)
	drafts, err := swarm.Record("s-1", 1, "round 1", list)
	if err != nil || len(drafts) < 2 {
		t.Fatalf("%d parts, %v", len(drafts), err)
	}
	var left []trace.Entry
	for i, d := range drafts {
		made, err := d.Trace()
		if err != nil {
			t.Fatal(err)
		}
		text := made.Text()
		left = append(left, trace.Read("demo-1", i, beads.Comment{Author: "mara", Text: text}))
		left = append(left, trace.Read("demo-1", i, beads.Comment{Author: "eve", Text: text})) // says of the swarm what is hers to say
	}
	past := swarm.ReadRecord(left)
	if len(past.Swarms) != 1 || len(past.Flaws) > 0 || len(past.Swarms[0].Operations) != len(list) {
		t.Fatalf("%d swarms, %v", len(past.Swarms), past.Flaws)
	}
	if got, want := asJSON(t, swarm.Replay(past.Swarms[0].Operations)), asJSON(t, state); got != want {
		t.Errorf("%s\n%s", got, want)
	}
}

// many makes a full swarm: 12 agents, 10 rounds, 10,000 operations.
func many() []swarm.Operation {
	s := begin(12)
	names := swarm.Names(12)
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 10 {
		for i := range 1000 {
			agent, direction := names[random.IntN(12)], fmt.Sprintf("direction %d", random.IntN(30))
			switch i % 4 {
			case 0:
				s.find(agent, fmt.Sprintf("idea %d", round%2*100+random.IntN(40)), fmt.Sprintf("words of %s about %s number %d", agent, direction, i))
			case 1:
				s.stop(agent, direction)
			case 2:
				s.add(swarm.Operation{Kind: swarm.Probe, Agent: agent, Subtask: direction})
			default:
				s.deposit(agent, direction, 0.1)
			}
		}
		s.settle(time.Second)
	}
	return s.list
}

func BenchmarkReplay(b *testing.B) {
	list := many()
	if state := swarm.Replay(list); state.Settled != 10 && state.Ended == "" {
		b.Fatal(state.Settled)
	}
	for b.Loop() {
		swarm.Replay(list)
	}
}

// Two clones that settled a round in one second wrote different settlements of it: whichever
// order a merge gives them, one state comes of it.
func TestSettledTwice(t *testing.T) {
	s := begin(3)
	s.find("tanwei", "well", "wet")
	settle := swarm.Operation{Swarm: "s-1", Round: 1, Agent: "mara", ID: "mara-2", Kind: swarm.Settle, At: s.at}
	settle.Missing = []string{"tanwei"}
	judged, other := settle, settle
	judged.Kind, judged.Verdict = swarm.Judge, &swarm.Verdict{Agent: "tanwei", Commit: "abc"}
	other.Kind, other.Verdict = swarm.Judge, &swarm.Verdict{Agent: "tanwei", Commit: "def"}
	a := swarm.Replay(append(slices.Clone(s.list), settle, judged, other))
	b := swarm.Replay(append(slices.Clone(s.list), other, judged, settle))
	if len(a.Verdicts) != 2 {
		t.Errorf("%v", a.Verdicts)
	}
	if a, b := asJSON(t, a), asJSON(t, b); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

// What others leave on an issue that looks like a swarm hides no swarm, and takes none over.
func TestRecordOfOthers(t *testing.T) {
	mine := begin(3).list
	comments := func(author string, list ...swarm.Operation) (left []trace.Entry) {
		drafts, err := swarm.Record(list[0].Swarm, 0, "begins", list)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range drafts {
			made, err := d.Trace()
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, trace.Read("demo-1", i, beads.Comment{Author: author, Text: made.Text()}))
		}
		return left
	}
	forge := func(change func(*swarm.Operation)) swarm.Operation {
		o := mine[0]
		o.Agent, o.ID, o.At = "eve", "eve-9", began.AddDate(50, 0, 0)
		change(&o)
		return o
	}
	for name, o := range map[string]swarm.Operation{
		"the same swarm":  forge(func(*swarm.Operation) {}),
		"no agents":       forge(func(o *swarm.Operation) { o.Swarm, o.Agents = "s-2", nil }),
		"one agent":       forge(func(o *swarm.Operation) { o.Swarm, o.Agents = "s-2", []string{"eve"} }),
		"one name twice":  forge(func(o *swarm.Operation) { o.Swarm, o.Agents = "s-2", []string{"eve", "eve", "bo"} }),
		"a hidden name":   forge(func(o *swarm.Operation) { o.Swarm, o.Agents = "s-2", []string{"eve\u202e", "bo"} }),
		"no rounds":       forge(func(o *swarm.Operation) { o.Swarm, o.Config = "s-2", &swarm.Config{} }),
		"of somebody":     forge(func(o *swarm.Operation) { o.Swarm, o.Agent = "s-2", "mara" }),
		"an empty option": forge(func(o *swarm.Operation) { o.Swarm, o.Mode, o.Directions = "s-2", swarm.Hybrid, []string{" "} }),
	} {
		past := swarm.ReadRecord(append(comments("mara", mine...), comments("eve", o)...))
		if len(past.Swarms) != 1 || past.Swarms[0].Swarm != "s-1" || swarm.Replay(past.Swarms[0].Operations).StartedBy != "mara" {
			t.Errorf("%s: %+v", name, past)
		}
	}
}

// An operation counts with what its kind takes, so that nothing else gets into the record.
func TestNormal(t *testing.T) {
	all := swarm.Operation{
		Swarm: "s-1", Round: 1, Agent: "tanwei", ID: "tanwei-1", At: began, Task: "t", Agents: []string{"a"}, Mode: swarm.Hybrid, Directions: []string{"d"},
		Config: &swarm.Config{}, Direction: " a\xff  b ", Amount: 0.5, Target: "t", Reason: swarm.Reasons[0], Evidence: "e", Subtask: "s", Idea: "I dea",
		Perspective: "p", Details: "d", AgreesWith: []string{"X y", "x-y", ""}, Branch: "b", Commit: "c", Exploring: "x", Claimed: "c", Note: "n",
		NewRole: "r", Warning: "w", Suggestions: []string{"s"}, Missing: []string{"m"}, Verdict: &swarm.Verdict{Agent: "tanwei", Passed: true},
	}
	const head = `{"swarm":"s-1","round":1,"agent":"tanwei","op":"tanwei-1","operation":"%s","created_at":"2026-11-20T09:00:00Z"%s}`
	for kind, want := range map[swarm.Kind]string{
		swarm.Deposit: `,"direction":"a` + "\uFFFD" + ` b","amount":0.5`,
		swarm.Stop:    `,"target":"t","reason":"contradictory_evidence","evidence":"e"`,
		swarm.Probe:   `,"subtask":"s"`,
		swarm.Find:    `,"direction":"a` + "\uFFFD" + ` b","core_idea":"i-dea","perspective":"p","details":"d","agrees_with":["x-y"],"branch":"b","commit":"c"`,
		swarm.Host:    `,"exploring":"x","claimed":"c","note":"n"`,
		swarm.Role:    "", swarm.Settle: "", swarm.End: "", swarm.Start: "",
	} {
		o := all
		o.Kind = kind
		if got, want := asJSON(t, o.Normal()), fmt.Sprintf(head, kind, want); got != want {
			t.Errorf("%s\n%s", got, want)
		}
	}
}
