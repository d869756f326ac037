package overnight

import (
	"hash/fnv"
	"strconv"
)

// Temper is how a worker behaves in one run.
type Temper string

const (
	Right  Temper = "right"  // does the work, and exits 0
	Half   Temper = "half"   // does a part, checkpoints, and exits 0
	Breaks Temper = "breaks" // does the work and breaks the build for all
	Asks   Temper = "asks"   // asks a person, and exits 0
	Hangs  Temper = "hangs"  // runs until it is killed, and starts a child that does
	Silent Temper = "silent" // eats its output and exits 0
	Fails  Temper = "fails"  // exits with any code
	Limit  Temper = "limit"  // hits its limit, leaves a stray file, and exits 0
)

// Tempers are those that a worker can have.
var Tempers = []Temper{Right, Half, Breaks, Asks, Hangs, Silent, Fails}

// NewTemper gives the temper of the nth run, from 0 on, for an issue. It depends on its
// arguments alone. From the fourth run on the work is done right, so that a night ends.
func NewTemper(seed uint64, issue string, n int) Temper {
	if IsGreen(issue) {
		return Limit
	}
	if n > 2 {
		return Right
	}
	if p := Number(seed, issue, n, "temper") % 100; p >= 40 {
		return Tempers[1+(p-40)/10]
	}
	return Right
}

// Number is a number that depends on its arguments alone, for what is random in a night.
func Number(seed uint64, issue string, n int, what string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatUint(seed, 10) + " " + issue + " " + strconv.Itoa(n) + " " + what)) // does not fail
	return int(h.Sum64() >> 34)
}

// Ignored reports whether the person never answers a question about the issue.
func Ignored(seed uint64, issue string) bool {
	return IsGreen(issue) || Number(seed, issue, 0, "ignored")%20 == 0
}
