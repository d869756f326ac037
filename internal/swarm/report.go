package swarm

import (
	"fmt"
	"strings"
	"time"
)

// Report is the result of a swarm, as data.
type Report struct {
	Swarm      string    `json:"swarm"`
	Task       string    `json:"task"`
	Mode       Mode      `json:"mode"`
	Agents     int       `json:"agents"`
	Active     int       `json:"active"`
	Minutes    int       `json:"minutes"`
	Rounds     int       `json:"rounds"`
	Ended      Outcome   `json:"ended"`   // "" while it runs
	Partial    bool      `json:"partial"` // neither converged nor proved
	Conclusion string    `json:"conclusion"`
	By         string    `json:"concluded_by"` // the agent whose words the conclusion is, "" for none
	Proof      *Verdict  `json:"proof,omitempty"`
	Depth      string    `json:"depth"` // that the issue deserves now
	State      *State    `json:"state"`
	Unique     []Idea    `json:"unique_ideas"` // of one supporter
	Consensus  []Idea    `json:"consensus_ideas"`
	At         time.Time `json:"at"`
}

// NewReport reports on a state at a time, which matters while the swarm runs.
func NewReport(s *State, at time.Time) *Report {
	r := &Report{
		Swarm: s.Swarm, Task: s.Task, Mode: s.Mode, Agents: len(s.Agents), Active: s.Convergence.Active, Rounds: s.Settled, Ended: s.Ended,
		State: s, Unique: []Idea{}, Consensus: []Idea{}, At: second(at),
	}
	if s.Ended != "" {
		r.At = s.EndedAt
	}
	r.Minutes = max(0, int(r.At.Sub(s.Started).Round(time.Minute)/time.Minute)) // the clock may have been set back
	for _, idea := range s.Convergence.Ideas {
		switch {
		case idea.Quorum:
			r.Consensus = append(r.Consensus, idea)
		case len(idea.Supporters) == 1:
			r.Unique = append(r.Unique, idea)
		}
	}
	for _, v := range s.Verdicts {
		if v.Passed && r.Proof == nil {
			r.Proof = &v
		}
	}
	r.Partial = s.Ended != Proved && s.Ended != Converged
	r.conclude()
	r.Depth = "deep"
	if !r.Partial {
		r.Depth = "standard" // what is to be done is known now
	} else if len(s.Findings) == 0 {
		r.Depth = "probe"
	}
	return r
}

// conclude takes the last finding on the solution that passed; without one, the last finding of
// a synthesizer, else the newest on the leading idea.
func (r *Report) conclude() {
	var chosen *Finding
	for i, f := range r.State.Findings {
		byProof := r.Proof != nil && f.Agent == r.Proof.Agent && (r.Proof.Idea == "" || f.Idea == r.Proof.Idea)
		bySynthesis := r.Proof == nil && r.State.Agent(f.Agent).Role == Synthesizer
		if byProof || bySynthesis {
			chosen = &r.State.Findings[i]
		}
	}
	if ideas := r.State.Convergence.Ideas; chosen == nil && r.Proof == nil && len(ideas) > 0 {
		chosen = r.State.Newest(ideas[0].Idea)
	}
	if chosen == nil {
		return
	}
	colon := ": "
	if strings.Contains(chosen.Details, "\n") { // Markdown may begin with a fence or a list
		colon = ":\n\n"
	}
	r.Conclusion, r.By = chosen.Idea+colon+chosen.Details, chosen.Agent
}

// DisplayName is an agent's name in reports: the six default names with their meanings.
func DisplayName(agent string) string {
	for _, n := range names {
		if n.name == agent {
			return n.display
		}
	}
	return agent
}

// Canonical returns the name under which an agent acts. The default names are taken in any
// case, with their meanings as reports show them, and by their meanings alone.
func Canonical(name string) string {
	for _, n := range names {
		short, meaning, _ := strings.Cut(strings.TrimSuffix(n.display, ")"), " (")
		if strings.EqualFold(name, short) || name == meaning || strings.EqualFold(name, n.display) {
			return n.name
		}
	}
	return name
}

// names are the default agents. They do not divide the work.
var names = []struct{ name, display string }{
	{"tanwei", "TanWei (探微者)"}, {"suyuan", "SuYuan (溯源者)"}, {"dongcha", "DongCha (洞察者)"},
	{"qiusuo", "QiuSuo (求索者)"}, {"xili", "XiLi (析理者)"}, {"jianwei", "JianWei (见微者)"},
}

// Names returns the names of n agents.
func Names(n int) (list []string) {
	for i := range n {
		if i < len(names) {
			list = append(list, names[i].name)
		} else {
			list = append(list, fmt.Sprintf("agent-%d", i+1))
		}
	}
	return list
}

// titles of roles in reports.
func title(role string) string {
	var words []string
	for word := range strings.SplitSeq(strings.ToLower(role), "_") {
		words = append(words, strings.ToUpper(word[:1])+word[1:])
	}
	return strings.Join(words, "")
}
