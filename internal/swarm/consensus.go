package swarm

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Convergence is how near a swarm is to its end.
type Convergence struct {
	Stable       bool   `json:"stable"`        // the set of ideas was the same in the last rounds with findings
	StableRounds int    `json:"stable_rounds"` // how many of them, up to those that make it stable
	Quorum       bool   `json:"quorum"`        // an idea has enough supporters
	Needed       int    `json:"needed"`        // supporters that are enough
	Active       int    `json:"active"`        // agents
	Share        Figure `json:"share"`         // of the active agents that support the leading idea
	Converged    bool   `json:"converged"`     // stable, and a quorum
	Unchanged    int    `json:"unchanged"`     // rounds in a row in which nobody's support changed

	Diversity     Figure `json:"diversity"` // the mean of the next three
	Coverage      Figure `json:"coverage"`
	Orthogonality Figure `json:"orthogonality"`
	Entropy       Figure `json:"entropy"`

	Ideas []Idea `json:"ideas"` // the most supported first
}

// Idea is a finding shared by some agents, with its supporters.
type Idea struct {
	Idea          string   `json:"idea"`
	Supporters    []string `json:"supporters"`
	Share         Figure   `json:"share"`         // of the active agents
	Concentration Figure   `json:"concentration"` // of its newest finding's direction
	Direction     string   `json:"direction"`
	Quorum        bool     `json:"quorum"`
}

// converge computes the convergence; started is false before the start.
func (s *State) converge(started bool) Convergence {
	c := Convergence{Ideas: []Idea{}, Unchanged: s.unchanged}
	if len(s.Agents) == 0 {
		return c
	}
	standing := s.currentFindings()
	c.Active = len(s.activeAgents())
	c.Needed = max(1, s.Config.Quorum.of(c.Active))
	c.Ideas = s.ideas(standing, c.Active, c.Needed)
	if len(c.Ideas) > 0 {
		c.Share, c.Quorum = c.Ideas[0].Share, c.Ideas[0].Quorum
	}
	c.StableRounds = s.stableRounds()
	c.Stable = c.StableRounds >= s.Config.Beta
	c.Converged = started && c.Stable && c.Quorum
	c.Coverage, c.Orthogonality, c.Entropy = coverage(standing, c.Active), orthogonality(standing), s.entropy()
	c.Diversity = (c.Coverage + c.Orthogonality + c.Entropy) / 3
	return c
}

// stableRounds counts the last rounds with findings in which the ideas stayed the same.
func (s *State) stableRounds() (n int) {
	for _, o := range slices.Backward(s.Opinions) {
		last := s.Opinions[len(s.Opinions)-1].Ideas
		if len(last) == 0 || n == s.Config.Beta || !slices.Equal(o.Ideas, last) {
			break
		}
		n++
	}
	return n
}

// ideas lists the current ideas with their supporters: agents with a finding on it or one that
// agrees with it, in words that no other agent used before.
func (s *State) ideas(standing []*Finding, active, needed int) []Idea {
	first := map[string]string{} // who gave details first
	at := map[string]int{}
	list := []Idea{}
	for _, f := range s.Findings {
		if _, said := first[f.key]; !said {
			first[f.key] = f.Agent
		}
	}
	for _, f := range standing {
		if _, known := at[f.Idea]; !known {
			at[f.Idea] = len(list)
			list = append(list, Idea{Idea: f.Idea, Supporters: []string{}})
		}
		list[at[f.Idea]].Direction = f.Direction // findings are in order: the newest counts
	}
	for _, f := range standing {
		if first[f.key] != f.Agent {
			continue
		}
		for _, name := range append([]string{f.Idea}, f.AgreesWith...) {
			if i, known := at[name]; known && !slices.Contains(list[i].Supporters, f.Agent) {
				list[i].Supporters = append(list[i].Supporters, f.Agent)
			}
		}
	}
	for i := range list {
		idea := &list[i]
		slices.Sort(idea.Supporters)
		idea.Share = Figure(float64(len(idea.Supporters)) / float64(max(active, 1)))
		idea.Quorum = active > 0 && len(idea.Supporters) >= needed
		if d := s.directed[idea.Direction]; d != nil {
			idea.Concentration = d.Concentration
		}
	}
	slices.SortFunc(list, func(a, b Idea) int {
		return cmp.Or(cmp.Compare(len(b.Supporters), len(a.Supporters)), cmp.Compare(b.Concentration, a.Concentration), strings.Compare(a.Idea, b.Idea))
	})
	return list
}

// coverage is the number of perspectives divided by that of active agents, at most 1.
func coverage(standing []*Finding, active int) Figure {
	used := map[string]bool{}
	for _, f := range standing {
		if f.Perspective != "" {
			used[strings.ToLower(f.Perspective)] = true
		}
	}
	return min(1, Figure(float64(len(used))/float64(max(active, 1))))
}

// orthogonality is 1 minus the mean Jaccard similarity of the words of distinct ideas; 0 with
// fewer than two.
func orthogonality(standing []*Finding) Figure {
	words := map[string]map[string]bool{}
	var names []string
	for _, f := range standing {
		if words[f.Idea] == nil {
			words[f.Idea] = map[string]bool{}
			names = append(names, f.Idea)
		}
		for _, word := range Words(f.Details) {
			words[f.Idea][word] = true
		}
	}
	slices.Sort(names)
	sum, pairs := 0.0, 0
	for i, a := range names {
		for _, b := range names[i+1:] {
			sum += jaccard(words[a], words[b])
			pairs++
		}
	}
	if pairs == 0 {
		return 0
	}
	return Figure(1 - sum/float64(pairs))
}

func jaccard(a, b map[string]bool) float64 {
	both := 0
	for word := range a {
		if b[word] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 1 // both are empty
}

// entropy is the normalized entropy of the concentrations; 0 with fewer than two.
func (s *State) entropy() Figure {
	var shares []float64
	for _, d := range s.Directions {
		if d.Concentration > 0 {
			shares = append(shares, float64(d.Concentration))
		}
	}
	if len(shares) < 2 {
		return 0
	}
	slices.Sort(shares) // sums depend on the order
	sum, entropy := 0.0, 0.0
	for _, share := range shares {
		sum += share
	}
	for _, share := range shares {
		p := share / sum
		if p > 0 {
			entropy -= float64(p * logarithm(p))
		}
	}
	return Figure(min(1, max(0, entropy/logarithm(float64(len(shares))))))
}

// Words splits a text into words: runs of letters and digits in lower case, and pairs of
// adjacent Han characters.
func Words(text string) (words []string) {
	var run []rune
	han := false
	flush := func() {
		if !han && len(run) > 0 || len(run) == 1 {
			words = append(words, string(run))
		} else {
			for i := range len(run) - 1 {
				words = append(words, string(run[i:i+2]))
			}
		}
		run = run[:0]
	}
	for _, r := range strings.ToLower(text) {
		letter, isHan := unicode.IsLetter(r) || unicode.IsDigit(r), unicode.Is(unicode.Han, r)
		if !letter || isHan != han {
			flush()
		}
		if han = isHan; letter {
			run = append(run, r)
		}
	}
	flush()
	return words
}
