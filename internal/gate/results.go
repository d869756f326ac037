package gate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Results are what a close reason says about its checks; see Verdict.Passing.
type Results struct {
	Passed int      // how many checks ran and passed
	All    int      // how many pieces the criteria had
	Checks []string // the checks that ran, as in the reason: one line, shortened
	NotRun []string // the pieces that were not run, likewise
	More   bool     // the reason omits some of them
	Commit string   // where they ran, as in the reason: "" for none
	First  bool     // they ran before the first commit
}

// The parts of a reason with results: its beginning, one check in the brackets, and the place
// after them.
var (
	opening = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(regexp.QuoteMeta(passing) + `(\d+)/(\d+) (?:\([^()]*\) )?|\b(\d+) of (\d+) checked(?: \([^()]*\))?; not run: `)
	})
	oneCheck = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.+?) \d+\.\ds(; |\])`)
	})
	atPlaceRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ at ([\pL\pN]+)`) })
)

// more stands for checks that a reason omits.
const more = "…"

// ParseResults finds the results in a close reason, the last ones if there are several; ok is
// false if it has none, or one that did not pass. It parses the form and cannot know whether
// any check ran.
func ParseResults(reason string) (r Results, ok bool) {
	all := opening().FindAllStringSubmatchIndex(reason, -1)
	for _, at := range slices.Backward(all) {
		number := func(group int) int {
			from, to := at[2*group], at[2*group+1]
			if from < 0 {
				return 0
			}
			n, _ := strconv.Atoi(reason[from:to])
			return n
		}
		r = Results{Passed: cmp.Or(number(1), number(3)), All: cmp.Or(number(2), number(4))}
		partly := at[2] < 0
		if r.read(reason[at[1]:], partly) && r.Passed > 0 && (partly || r.Passed == r.All) {
			return r, true
		}
	}
	return Results{}, false
}

// read parses what follows the counts: the pieces that were not run, the checks in brackets,
// and the place.
func (r *Results) read(text string, partly bool) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], "[")
		if at < 0 || !partly && at > 0 {
			return false
		}
		at += from
		before := strings.TrimSpace(text[:at])
		if rest, ok := r.bracket(text[at+1:]); ok && (before != "") == partly {
			if partly {
				r.NotRun = strings.Split(before, "; ")
			}
			r.place(rest)
			return true
		}
		from = at + 1
	}
}

// bracket parses the checks up to the closing bracket, and returns what follows.
func (r *Results) bracket(text string) (rest string, ok bool) {
	r.Checks = nil
	for {
		if rest, ok := strings.CutPrefix(text, more+"]"); ok && r.Checks != nil {
			r.More = true
			return rest, true
		}
		found := oneCheck().FindStringSubmatch(text)
		if found == nil {
			return "", false
		}
		r.Checks = append(r.Checks, found[1])
		if text = text[len(found[0]):]; found[2] == "]" {
			return text, true
		}
	}
}

func (r *Results) place(text string) {
	if at := atPlaceRE().FindStringSubmatch(text); at != nil {
		r.Commit = at[1]
	}
	r.First = strings.HasPrefix(text, firstPlace)
}

// Differ says how results differ from criteria with this plan, "" if they agree: they name a
// check that the criteria lack, or omit a required one. Other programs may be installed here
// than where they ran, so a check counts wherever it is in the plan.
func (r Results) Differ(plan []Check) string {
	var code, asked []string
	for _, c := range plan {
		if text := shortened(c.Text); c.Origin != Prose {
			code = append(code, text)
			if c.Asked() {
				asked = append(asked, text)
			}
		}
	}
	for _, check := range r.Checks {
		if !slices.Contains(code, check) {
			return fmt.Sprintf("names %q", check)
		}
	}
	for _, check := range asked {
		if !r.More && !slices.Contains(r.Checks, check) && !r.left(check) {
			return fmt.Sprintf("leaves out %q", check)
		}
	}
	if n := len(r.Checks); !r.More && n != r.Passed {
		return fmt.Sprintf("counts %d, names %d", r.Passed, n)
	}
	return ""
}

// left reports whether a check is among those that were not run. Their texts may contain the
// separator, and only the first few are named.
func (r Results) left(check string) bool {
	all := strings.Join(r.NotRun, "; ")
	return strings.Contains("; "+all+"; ", "; "+check+"; ") || len(r.NotRun) > summaryRest
}
