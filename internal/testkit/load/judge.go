package load

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Verdict is the result of a run.
type Verdict struct {
	Done, Refused, Unknown, Unheard int // answers that writers got; on Unheard the writer died first
	Made                            int // those of Unknown and Unheard that the store has
	Lost                            int // done, but not in the store
	Half                            int // in one issue of a pair only
	Twice                           int // made more than once
	False                           int // refused, but in the store
	Strange                         int // in the store, but never begun
	Faults                          []string
}

// OK reports whether the store has everything it acknowledged, and nothing else.
func (v Verdict) OK() bool { return v.Lost+v.Half+v.Twice+v.False+v.Strange == 0 }

func (v *Verdict) fault(count *int, format string, args ...any) {
	*count++
	if len(v.Faults) < 20 {
		v.Faults = append(v.Faults, fmt.Sprintf(format, args...))
	}
}

// kept is the part of an issue that the judge reads.
type kept struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Comments    []struct {
		Text string `json:"text"`
	} `json:"comments"`
}

// Judge compares the text of a store with the logs of the writers, in their order. It shares no
// parser with the stores.
func Judge(p Plan, text []byte, logs [][]Entry) (v Verdict, err error) {
	issues := map[string]kept{}
	for line := range strings.Lines(string(text)) {
		var k kept
		if err := json.Unmarshal([]byte(line), &k); err != nil {
			return v, fmt.Errorf("%q: %w", line, err)
		}
		issues[k.ID] = k
	}
	if want := 2 + 2*p.Writers*p.Pairs + p.Beside; len(issues) != want {
		v.fault(&v.Lost, "%d issues, of %d", len(issues), want)
	}
	made := map[string]map[string]int{} // how often, by issue and name
	for id, k := range issues {
		made[id] = map[string]int{}
		for _, c := range k.Comments {
			made[id][c.Text]++
		}
	}
	for writer, entries := range logs {
		for _, e := range entries {
			v.entry(p, writer, e, made)
		}
	}
	v.counts(issues, made)
	return v, nil
}

// entry judges one edit, and removes it from the edits found in the store.
func (v *Verdict) entry(p Plan, writer int, e Entry, made map[string]map[string]int) {
	a, _ := p.Target(writer, e.N)
	name := Name(writer, e.N)
	times := made[a][name]
	delete(made[a], name)
	switch e.Answer {
	case Done:
		if v.Done++; times == 0 {
			v.fault(&v.Lost, "%s: edit %s was acknowledged but is missing", a, name)
		}
	case Refused:
		if v.Refused++; times > 0 {
			v.fault(&v.False, "%s: edit %s was refused but is there", a, name)
		}
	case Unknown:
		v.Unknown++
		v.Made += times
	default:
		v.Unheard++
		v.Made += times
	}
	if times > 1 {
		v.fault(&v.Twice, "%s: edit %s was made %d times", a, name, times)
	}
}

// counts compares both counts of each pair with the comments of its first issue.
func (v *Verdict) counts(issues map[string]kept, left map[string]map[string]int) {
	for id, k := range issues {
		for name := range left[id] {
			v.fault(&v.Strange, "%s: nobody began edit %s", id, name)
		}
		first, isFirst := strings.CutSuffix(id, "a")
		if !isFirst {
			continue
		}
		count := strconv.Itoa(len(k.Comments))
		if other := issues[first+"b"].Description; k.Description != count || other != count {
			v.fault(&v.Half, "%s: %s comments, and counts %s and %s", id, count, k.Description, other)
		}
	}
}
