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
	Hangs  Temper = "hangs"  // runs until it is killed, and starts a child that does too
	Silent Temper = "silent" // prints nothing and exits 0
	Fails  Temper = "fails"  // exits with any code
	Limit  Temper = "limit"  // hits its limit, leaves a stray file, and exits 0
	Idle   Temper = "idle"   // reports that all is done, and exits 0

	Crashes  Temper = "crashes"  // leaves the work half done, with stray files, and dies
	Wrong    Temper = "wrong"    // does the work wrong, and exits 0
	Pops     Temper = "pops"     // pops whatever is stashed, and does the work
	Signs    Temper = "signs"    // sets the git identity, and does the work
	Requests Temper = "requests" // asks another worker for something, and does the work
	Replies  Temper = "replies"  // has no issue, and answers what it was asked
)

// Tempers are the tempers of workers with an issue.
var Tempers = []Temper{Right, Half, Breaks, Asks, Hangs, Silent, Fails, Crashes, Wrong, Pops, Signs, Requests}

// NewTemper returns the temper of the nth run for an issue, from 0. It depends only on its
// arguments. From the fourth run on the work is done right, so that a night ends.
func NewTemper(seed uint64, issue string, n int) Temper {
	switch p := Number(seed, issue, n, "temper") % 100; {
	case issue == "":
		return Replies
	case IsGreen(issue):
		return []Temper{Limit, Idle}[p%2]
	case n > 2 || p < 34:
		return Right
	default:
		return Tempers[1+(p-34)/6]
	}
}

// Number returns a pseudo-random number that depends only on its arguments.
func Number(seed uint64, issue string, n int, what string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strconv.FormatUint(seed, 10) + " " + issue + " " + strconv.Itoa(n) + " " + what)) // never fails
	return int(h.Sum64() >> 34)
}

// Ignored reports whether the person never answers a question about the issue.
func Ignored(seed uint64, issue string) bool {
	return IsGreen(issue) || Number(seed, issue, 0, "ignored")%20 == 0
}
