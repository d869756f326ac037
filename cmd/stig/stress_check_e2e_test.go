//go:build e2e

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The checker of the stress run shares no code with what it judges: it reads the bytes of the
// store and the logs of the writers, and knows only the store's format.

// stressKey is a value with a single owner among the writers.
type stressKey struct {
	issue  string
	writer int
}

// stressWriters own, each in the shared issue and in one of its own, a row of the signal table,
// the checkpoint, or a section named after them. The first ones write by running stig, the
// others with jsonl.Store.Edit.
var stressWriters = []string{"surprise", "evidence-freshness", "confidence", "checkpoint",
	"writer-4", "writer-5", "writer-6", "writer-7", "writer-8", "writer-9"}

const (
	stressCommands = 4 // this many of them run stig
	stressShared   = "mole-1"
	stressTally    = "mole-tally" // its description counts the edits of writers that do not run stig
)

func stressOwn(writer int) string { return fmt.Sprintf("mole-own%d", writer) }

// stressValue returns a writer's nth value, as the store contains it.
func stressValue(writer, n int) string {
	switch stressWriters[writer] {
	case "surprise":
		if n == 0 {
			return "0.0"
		}
		return strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64)
	case "evidence-freshness":
		return time.Date(1970, 1, 1+n, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	case "confidence":
		if n == 0 {
			return "undemonstrated"
		}
		return []string{"finding-recorded", "prototype", "locally-verified", "validated"}[n%4]
	}
	return strconv.Itoa(n)
}

// stressStore is a store with much that must not change: an opaque line, blank lines, CR LF,
// unknown keys, numbers in odd forms, both ways of writing "<", a line of 100 KB, no newline at
// the end.
func stressStore() []byte {
	var b strings.Builder
	line := func(id, extra, end string) {
		fmt.Fprintf(&b, `{"id":"%s","title":"Mend the mole & pier","mine":{"a":1.50,"b":[1e3, -0]},%s"status":"open","created_at":"2026-01-01T08:00:00.500+01:00","updated_at":"2026-01-01T08:00:00+01:00"}%s`, id, extra, end)
	}
	b.WriteString("{\"_schema\":\"beads-jsonl/1\"}\n\n")
	line(stressShared, `"notes":"`+stressNotes("<", ">")+`",`, "\n")
	b.WriteString("{\"_type\":\"memory\",\"key\":\"tide\",\"value\":\"high \\u003c low\"}\r\n")
	for writer := range stressWriters {
		line(stressOwn(writer), `"notes":"`+stressNotes(`\u003c`, `\u003e`)+`",`, "\r\n")
		line(fmt.Sprintf("mole-other%d", writer), `"notes": "nobody asks for \u00e4\/ä",`, "\n \n")
	}
	line("mole-long", `"design":"`+strings.Repeat("stone ", 17_000)+`",`, "\n")
	line(stressTally, `"description":"0",`, "\n")
	line("mole-last", "", "")
	return []byte(b.String())
}

// stressNotes returns the notes of a written issue, as a JSON string.
func stressNotes(less, more string) string {
	var b strings.Builder
	section := func(name, body string) {
		b.WriteString("<!-- " + name + " -->\n" + body + "\n<!-- /" + name + " -->\n\n")
	}
	b.WriteString("Kept since 1911 — & still.\n\n")
	section("stigmergic-signals", `| Signal | Value | Updated |
|---|---|---|
| schema-version | 1 | 2026-01-01 |
|  cynefin | complicated | 2026-01-01 |
| surprise | 0.0 | 2026-01-01 |
| progress | not-started | 2026-01-01 |
| escalation | none | — |
| planning-depth | standard | 2026-01-01 |
| confidence | undemonstrated | 2026-01-01 |
| evidence-freshness | 1970-01-01 | 2026-01-01 |
| regression-guard | none | — |`)
	b.WriteString("A remark:  with `<!-- checkpoint-context -->` in code.\n\n")
	section("checkpoint-context", "## State estimate (2026-01-01)\n\nWhat was done: 0")
	for _, name := range stressWriters[stressCommands:] {
		section(name, "applied 0\nvalue 0")
	}
	section("audit-findings", "- none\n\n- yet")
	b.WriteString("The end.")
	return strings.NewReplacer("\n", `\n`, "<", less, ">", more, "&", `\u0026`).Replace(b.String())
}

// snapshot is the content of a store: the written values, and everything else unchanged, with a
// mark in place of each value.
type snapshot struct {
	values  map[stressKey]string
	applied int // the sum of what users of jsonl.Store.Edit wrote
	tally   int // the value of the tally
	rest    []byte
}

// stressValues match, in the bytes of a line, what each writer writes: the first group is the
// value. The rest of the line must stay.
func stressValues(writer int) *regexp.Regexp {
	const less, more = `(?:<|\\u003c)`, `(?:>|\\u003e)`
	name := stressWriters[writer]
	section := func(name, body string) *regexp.Regexp {
		return regexp.MustCompile(less + `!-- ` + name + ` --` + more + `\\n` + body + `\\n` + less + `!-- /` + name + ` --` + more)
	}
	switch {
	case name == "checkpoint":
		return section("checkpoint-context", `## State estimate \(([-0-9]{10})\)\\n\\nWhat was done: ([0-9]+)`)
	case writer < stressCommands:
		return regexp.MustCompile(`\\n\| ` + name + ` \| ([^|\\]+) \| ([-0-9]{10}) \|\\n`)
	}
	return section(name, `applied ([0-9]+)\\nvalue ([0-9]+)`)
}

// stressChecker judges stores that started from the same bytes.
type stressChecker struct {
	patterns []*regexp.Regexp
	updated  *regexp.Regexp
	tally    *regexp.Regexp
	began    snapshot
}

func newStressChecker(store []byte) (*stressChecker, error) {
	c := &stressChecker{
		updated: regexp.MustCompile(`"updated_at":"([^"]*)"`),
		tally:   regexp.MustCompile(`"description":"([0-9]+)"`),
	}
	for writer := range stressWriters {
		c.patterns = append(c.patterns, stressValues(writer))
	}
	var err error
	c.began, err = c.read(store)
	return c, err
}

// read parses a store. The error says what is torn.
func (c *stressChecker) read(store []byte) (snapshot, error) {
	s := snapshot{values: map[stressKey]string{}}
	for n, line := range bytes.SplitAfter(store, []byte("\n")) {
		text := bytes.TrimSpace(line)
		var issue struct{ ID string }
		if len(text) > 0 && json.Unmarshal(text, &issue) != nil {
			return s, fmt.Errorf("line %d is no JSON: %.60q", n+1, text)
		}
		rest, err := c.take(&s, issue.ID, line)
		if err != nil {
			return s, fmt.Errorf("line %d: %w", n+1, err)
		}
		s.rest = append(s.rest, rest...)
	}
	if s.applied != s.tally {
		return s, fmt.Errorf("the sections count %d edits, the tally %d", s.applied, s.tally)
	}
	return s, nil
}

// take moves a written value from a line to the snapshot.
func (c *stressChecker) take(s *snapshot, id string, line []byte) ([]byte, error) {
	if id == stressTally {
		found, rest := cut(line, c.tally)
		if found == nil {
			return nil, fmt.Errorf("%s: there is no tally", id)
		}
		s.tally, _ = strconv.Atoi(found[0])
		_, rest = cut(rest, c.updated)
		return rest, nil
	}
	if id != stressShared && !strings.HasPrefix(id, "mole-own") {
		return line, nil
	}
	_, rest := cut(line, c.updated)
	for writer, pattern := range c.patterns {
		var found []string
		if found, rest = cut(rest, pattern); found == nil {
			return nil, fmt.Errorf("%s: %s is gone", id, stressWriters[writer])
		}
		value := found[0]
		if writer >= stressCommands {
			applied, _ := strconv.Atoi(found[0])
			s.applied += applied
		}
		if writer >= stressCommands || stressWriters[writer] == "checkpoint" {
			value = found[1]
		}
		s.values[stressKey{id, writer}] = value
	}
	return rest, nil
}

// cut returns the groups of a pattern's only match, and the line with "#" in their places.
// Several matches count as none.
func cut(line []byte, pattern *regexp.Regexp) (groups []string, rest []byte) {
	matches := pattern.FindAllSubmatchIndex(line, 2)
	if len(matches) != 1 {
		return nil, line
	}
	end := 0
	for g := 2; g < len(matches[0]); g += 2 {
		from, to := matches[0][g], matches[0][g+1]
		groups = append(groups, string(line[from:to]))
		rest = append(append(rest, line[end:from]...), '#')
		end = to
	}
	return groups, append(rest, line[end:]...)
}

// foreign counts the bytes that changed without a write.
func (c *stressChecker) foreign(s snapshot) int {
	a, b := c.began.rest, s.rest
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return max(len(a), len(b))
}

// stressReplay is the result of replaying one writer's log.
type stressReplay struct {
	last                             int // the number of the last intent
	acknowledged, refused, unsettled int
	slowest                          time.Duration
	may                              map[stressKey][]string // what the store may contain now
}

// replay reads a log: "intent ISSUE N" before each write, "done N MICROSECONDS" once it was
// acknowledged, "refused N". A killed write has neither, and the store may contain it or not. A
// line without its end was cut off by a kill and does not count.
func replay(writer int, path string) (stressReplay, error) {
	r := stressReplay{may: map[stressKey][]string{
		{stressShared, writer}:      {stressValue(writer, 0)},
		{stressOwn(writer), writer}: {stressValue(writer, 0)},
	}}
	file, err := os.Open(path)
	if os.IsNotExist(err) {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer file.Close()
	var open stressKey
	settled := true
	for in := bufio.NewReader(file); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		var n, micros int
		var issue string
		if _, err := fmt.Sscanf(line, "intent %s %d\n", &issue, &n); err == nil {
			if !settled {
				r.unsettled++
			}
			open, r.last, settled = stressKey{issue, writer}, n, false
			r.may[open] = append(r.may[open], stressValue(writer, n))
			continue
		}
		settled = true
		if _, err := fmt.Sscanf(line, "done %d %d\n", &n, &micros); err == nil && n == r.last {
			r.acknowledged++
			r.slowest = max(r.slowest, time.Duration(micros)*time.Microsecond)
			r.may[open] = []string{stressValue(writer, n)}
			continue
		}
		if _, err := fmt.Sscanf(line, "refused %d\n", &n); err == nil && n == r.last {
			r.refused++
			r.may[open] = r.may[open][:len(r.may[open])-1]
			continue
		}
		return r, fmt.Errorf("%s: not a line of a log: %q", path, line)
	}
	if !settled {
		r.unsettled++
	}
	return r, nil
}
