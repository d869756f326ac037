package swarm

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stig/internal/trace"
)

// NewID names a swarm: the n-th on an issue, by starter and time.
func NewID(issue, starter string, at time.Time, n int) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{issue, starter, second(at).Format(time.RFC3339), strconv.Itoa(n)}, "\x00")))
	return "s-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:10])
}

// room is how many bytes of operations fit into a trace beside its other lines.
const room = trace.MaxBytes - 1024

// Record returns the traces with the operations of a round, as few as possible. The summary is
// the first line of each.
func Record(swarm string, round int, summary string, operations []Operation) (list []trace.Draft, err error) {
	var parts []string
	for _, o := range operations {
		line, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		if n := len(parts); n > 0 && len(parts[n-1])+len(line) < room {
			parts[n-1] += "\n" + string(line)
		} else {
			parts = append(parts, string(line))
		}
	}
	for i, part := range parts {
		list = append(list, trace.Draft{Type: trace.SwarmRound, Content: map[string]any{
			"summary": summary, "operations": part,
			"swarm": swarm, "round": strconv.Itoa(round), "part": fmt.Sprintf("%d/%d", i+1, len(parts)),
		}})
	}
	return list, nil
}

// Past are the swarms of one issue.
type Past struct {
	Swarms []Recorded // by start, newest last
	Flaws  []error    // of unreadable lines
}

// Recorded are the operations of one swarm.
type Recorded struct {
	Swarm      string
	Operations []Operation
}

// ReadRecord reads the swarms of an issue from its comments. The first valid start of a swarm
// counts, and operations in a trace by somebody else do not.
func ReadRecord(left []trace.Entry) (p Past) {
	by := map[string][]Operation{}
	starts := map[string]Operation{}
	for _, l := range left {
		if l.Type != trace.SwarmRound {
			continue
		}
		for _, o := range p.lines(l) {
			if _, known := starts[o.Swarm]; !known && o.Agent == l.Source && o.ValidateStart() == nil {
				starts[o.Swarm] = o
			}
			by[o.Swarm+"\x00"+l.Source] = append(by[o.Swarm+"\x00"+l.Source], o)
		}
	}
	for id, start := range starts {
		p.Swarms = append(p.Swarms, Recorded{id, by[id+"\x00"+start.Agent]})
	}
	slices.SortFunc(p.Swarms, func(a, b Recorded) int {
		if c := starts[a.Swarm].At.Compare(starts[b.Swarm].At); c != 0 {
			return c
		}
		if a, b := starts[a.Swarm].numberOf(), starts[b.Swarm].numberOf(); a != b {
			return a - b
		}
		return strings.Compare(a.Swarm, b.Swarm)
	})
	return p
}

// Running is the newest swarm in the comments of an issue; nil if none is running.
func Running(left []trace.Entry) *State {
	past := ReadRecord(left).Swarms
	if len(past) == 0 {
		return nil
	}
	s := Replay(past[len(past)-1].Operations)
	if s.Swarm == "" || s.Ended != "" {
		return nil
	}
	return s
}

// lines reads the operations of one trace.
func (p *Past) lines(l trace.Entry) (list []Operation) {
	content, _ := l.Content()
	text, _ := content["operations"].(string)
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var o Operation
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			p.Flaws = append(p.Flaws, fmt.Errorf("%s: %w", l.Name, err))
			continue
		}
		list = append(list, o)
	}
	return list
}
