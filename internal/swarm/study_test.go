package swarm_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/swarm"
	"stig/internal/testkit/sample"
)

var (
	seeds = flag.Int("study", 0, "how many seeds an arm of the study has")
	write = flag.Bool("study-write", false, "write the figures of the study into docs/workers.md")
)

// landscape is a question with a known answer: option 0 is best, or tied with option 1. A
// reading of an option is its value plus noise.
type landscape struct {
	options int
	equal   bool // option 1 is as good as option 0
	noise   float64
}

// value is 0.7 for the best, and 0.55 down to 0.3 for the others.
func (l landscape) value(option int) float64 {
	if option == 0 || l.equal && option == 1 {
		return 0.7
	}
	return 0.55 - 0.25*float64(option-1)/float64(max(1, l.options-2))
}

func (l landscape) read(r *rand.Rand, option int) float64 {
	return l.value(option) + l.noise*r.NormFloat64()
}

func (l landscape) isBest(option int) bool { return option == 0 || l.equal && option == 1 }

// arm is one setting of the study.
type arm struct {
	landscape
	agents  int
	quorum  swarm.Fraction
	stops   bool
	scouts  bool // like bees: each supports where it was last sent, and signals against the strongest other
	failing int  // agents that do nothing
	lying   int  // agents that praise the worst option
}

// outcome is the result of one run.
type outcome struct {
	right, converged bool
	rounds, readings int
}

func nameOf(option int) string { return fmt.Sprintf("option-%d", option) }

func optionOf(name string) (option int) {
	if _, err := fmt.Sscanf(name, "option-%d", &option); err != nil {
		return -1
	}
	return option
}

// mind is a scripted explorer's own knowledge.
type mind struct {
	sum, n []float64
}

func (m *mind) learn(option int, reading float64) {
	m.sum[option] += reading
	m.n[option]++
}

// best is the option with the highest mean of its own readings; -1 before any.
func (m *mind) best() int {
	best, highest := -1, 0.0
	for option, n := range m.n {
		if n > 0 && (best < 0 || m.sum[option]/n > highest) {
			best, highest = option, m.sum[option]/n
		}
	}
	return best
}

func (m *mind) mean(option int) (float64, bool) {
	if m.n[option] == 0 {
		return 0, false
	}
	return m.sum[option] / m.n[option], true
}

// explore runs one swarm. Each honest explorer takes one reading a round where choose sends it,
// deposits in proportion, supports its best option, and optionally sends a stop signal on a
// leading direction that it read as worse.
func (a arm) explore(seed uint64) (out outcome) {
	r := rand.New(rand.NewPCG(seed, uint64(a.options*100+a.agents)))
	names, at := swarm.Names(a.agents), began
	minds := make([]mind, a.agents)
	var given []string
	for option := range a.options {
		given = append(given, nameOf(option))
	}
	for i := range minds {
		minds[i] = mind{make([]float64, a.options), make([]float64, a.options)}
	}
	config := swarm.Defaults()
	config.Quorum = a.quorum
	id := fmt.Sprintf("s-%d", seed)
	list := []swarm.Operation{{Swarm: id, Agent: "mara", ID: "mara-1", Kind: swarm.Start, At: at, Task: "which", Agents: names, Mode: swarm.Hybrid, Directions: given, Config: &config}}
	held := make([]int, a.agents)
	state, n := swarm.Replay(list), 0
	for state.Ended == "" {
		round := state.Round
		add := func(o swarm.Operation) {
			n++
			o.Swarm, o.Round, o.At, o.ID = id, round, at, fmt.Sprintf("%s-%d", o.Agent, n)
			list = append(list, o)
		}
		missing := []string{}
		for i, name := range names {
			agent := state.Agent(name)
			switch {
			case agent.Status != swarm.Active:
				continue
			case i >= a.agents-a.failing:
				missing = append(missing, name)
				continue
			case i < a.lying:
				worst := nameOf(a.options - 1)
				add(swarm.Operation{Kind: swarm.Deposit, Agent: name, Direction: worst, Amount: 0.2})
				add(swarm.Operation{Kind: swarm.Find, Agent: name, Idea: worst, Direction: worst, Details: fmt.Sprintf("it is best, says %s %d", name, n)})
				continue
			}
			option := optionOf(state.Choose(agent, at).Direction)
			if option < 0 {
				option = r.IntN(a.options)
			}
			reading := a.read(r, option)
			minds[i].learn(option, reading)
			out.readings++
			if amount := min(1, max(0, reading)) * 0.2; amount > 0 {
				add(swarm.Operation{Kind: swarm.Deposit, Agent: name, Direction: nameOf(option), Amount: amount})
			}
			if a.scouts {
				held[i] = option
			}
			if leading := state.Leading(); a.stops && a.scouts {
				for _, d := range state.Directions {
					if d.Concentration > 0 && d.Name != nameOf(option) {
						add(swarm.Operation{Kind: swarm.Stop, Agent: name, Target: d.Name, Reason: "better_alternative", Evidence: "read"})
						break
					}
				}
			} else if a.stops && leading != nil {
				own, known := minds[i].mean(optionOf(leading.Name))
				best, _ := minds[i].mean(minds[i].best())
				if known && nameOf(minds[i].best()) != leading.Name && best > own {
					add(swarm.Operation{Kind: swarm.Stop, Agent: name, Target: leading.Name, Reason: "better_alternative", Evidence: "read"})
				}
			}
			idea := nameOf(minds[i].best())
			if a.scouts {
				idea = nameOf(held[i])
			}
			add(swarm.Operation{Kind: swarm.Find, Agent: name, Idea: idea, Direction: idea, Perspective: name, Details: fmt.Sprintf("%s read %.6f of %s %d", name, reading, idea, n)})
		}
		at = at.Add(time.Minute)
		add(swarm.Operation{Kind: swarm.Settle, Agent: "mara", Missing: missing})
		state = swarm.Replay(list)
	}
	out.rounds, out.converged = state.Settled, state.Ended == swarm.Converged
	if ideas := state.Convergence.Ideas; len(ideas) > 0 {
		out.right = a.isBest(optionOf(ideas[0].Idea))
	}
	return out
}

// alone is one explorer that takes so many readings, evenly.
func (a arm) alone(seed uint64, readings int) bool {
	r := rand.New(rand.NewPCG(seed, 77))
	m := mind{make([]float64, a.options), make([]float64, a.options)}
	for i := range readings {
		m.learn(i%a.options, a.read(r, i%a.options))
	}
	return a.isBest(m.best())
}

// vote lets each explorer take its share of the readings evenly, starting at its own option,
// and returns the majority's option; on a tie the first drawn.
func (a arm) vote(seed uint64, readings int) bool {
	r := rand.New(rand.NewPCG(seed, 78))
	votes := make([]int, a.options)
	each := max(1, readings/a.agents)
	for range a.agents {
		m := mind{make([]float64, a.options), make([]float64, a.options)}
		first := r.IntN(a.options)
		for i := range each {
			option := (first + i) % a.options
			m.learn(option, a.read(r, option))
		}
		votes[m.best()]++
	}
	var most []int
	for option, n := range votes {
		if n == slices.Max(votes) {
			most = append(most, option)
		}
	}
	return a.isBest(most[r.IntN(len(most))])
}

// share is a share of n with its 95 % interval (Wilson).
type share struct{ p, low, high float64 }

func shareOf(k, n int) share {
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	mid, half := (p+z*z/(2*m))/(1+z*z/m), z/(1+z*z/m)*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return share{p, mid - half, mid + half}
}

func (s share) String() string {
	return fmt.Sprintf("%.1f %% (%.1f to %.1f)", 100*s.p, 100*s.low, 100*s.high)
}

// figures are those of an arm over all seeds.
type figures struct {
	right, converged, alone, vote share
	rounds, half                  float64 // mean, and half of its 95 % interval
}

func (a arm) run(n int) figures {
	right, converged, alone, vote := 0, 0, 0, 0
	sum, square := 0.0, 0.0
	outs := make([]outcome, n)
	var all sync.WaitGroup
	for part := range 2 {
		all.Go(func() {
			for seed := part; seed < n; seed += 2 {
				outs[seed] = a.explore(uint64(seed))
			}
		})
	}
	all.Wait()
	for seed, out := range outs {
		right += one(out.right)
		converged += one(out.converged)
		alone += one(a.alone(uint64(seed), max(1, out.readings)))
		vote += one(a.vote(uint64(seed), max(1, out.readings)))
		sum += float64(out.rounds)
		square += float64(out.rounds * out.rounds)
	}
	mean := sum / float64(n)
	half := 1.959964 * math.Sqrt(max(0, square/float64(n)-mean*mean)/float64(n))
	return figures{shareOf(right, n), shareOf(converged, n), shareOf(alone, n), shareOf(vote, n), mean, half}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

var usual = arm{landscape: landscape{options: 5, noise: 0.2}, agents: 6, quorum: swarm.Fraction{Over: 2, Under: 3}, stops: true}

// setting is an arm of the study, with its name on the page.
type setting struct {
	name string
	arm
}

// settings are the rows of the table in docs/workers.md.
func settings() (all []setting) {
	with := func(name string, change func(*arm)) {
		s := setting{name, usual}
		change(&s.arm)
		all = append(all, s)
	}
	for _, k := range []int{2, 5, 10} {
		with(fmt.Sprintf("%d options", k), func(a *arm) { a.options = k })
	}
	for _, q := range []swarm.Fraction{{Over: 2, Under: 5}, {Over: 1, Under: 1}} {
		with("5 explorers, quorum "+q.String(), func(a *arm) { a.quorum, a.agents = q, 5 })
	}
	for _, stops := range []bool{false, true} {
		with("2 equal options, quorum 9/10, "+map[bool]string{true: "stop signals", false: "no stop signals"}[stops], func(a *arm) {
			a.equal, a.options, a.agents, a.stops, a.scouts, a.quorum = true, 2, 10, stops, true, swarm.Fraction{Over: 9, Under: 10}
		})
	}
	with("10 explorers, 4 failing", func(a *arm) { a.agents, a.failing = 10, 4 })
	with("10 explorers, 4 lying", func(a *arm) { a.agents, a.lying = 10, 4 })
	return all
}

// TestStudy measures what swarms are worth, with scripted explorers: see docs/workers.md,
// where -study 1000 -study-write writes the figures. The log has the intervals.
func TestStudy(t *testing.T) {
	n := *seeds
	if n == 0 {
		n = sample.Rounds(1)
	}
	var text strings.Builder
	text.WriteString("| setting | right | one explorer | majority vote | converged |\n|---|---|---|---|---|\n")
	for _, s := range settings() {
		f := s.run(n)
		t.Logf("%s: right %s, one explorer %s, majority vote %s, converged %s, rounds %.2f ± %.2f", s.name, f.right, f.alone, f.vote, f.converged, f.rounds, f.half)
		fmt.Fprintf(&text, "| %s | %.1f | %.1f | %.1f | %.1f |\n", s.name, 100*f.right.p, 100*f.alone.p, 100*f.vote.p, 100*f.converged.p)
	}
	if *write {
		keep(t, text.String())
	}
}

// keep writes the figures between two marks of docs/workers.md.
func keep(t *testing.T, table string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "workers.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const first, last = "<!-- study -->\n", "<!-- /study -->"
	marked := regexp.MustCompile("(?s)" + first + ".*" + last)
	page = marked.ReplaceAllLiteral(page, []byte(first+table+last))
	if err := os.WriteFile(path, page, 0o644); err != nil {
		t.Fatal(err)
	}
}
