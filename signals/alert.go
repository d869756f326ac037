package signals

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Alert is a condition that follows from the signals of several issues, or of one over time,
// and that somebody should act on. Its message follows the id of its issue.
type Alert struct {
	Rule    string `json:"rule"` // one of the Alert constants
	Message string `json:"message"`
	About   string `json:"-"` // the issue that the message begins with, "" where it is about the one of the report
}

// The rules for alerts.
const (
	AlertReplanning  = "replanning"           // an epic's children surprised too much in sum
	AlertConvergence = "convergence-surprise" // what an issue was built on did
	AlertStuck       = "stuck-epic"           // nothing of an epic is under way, and nothing can be
	AlertStale       = "stale"                // a claim that nobody has touched for long
	AlertShift       = "upward-shift"         // an issue turned out to be less certain
	AlertDivergence  = "divergence"           // an issue's own surprise is high
)

// exact is the number of decimals to which sums of surprise are compared, so that ten times 0.1
// is 1.0 and raises no alert.
const exact = 1e9

func round(v float64) float64 { return math.Round(v*exact) / exact }

// Sum adds surprise in decimal arithmetic.
func Sum(surprise []float64) float64 {
	var sum float64
	for _, s := range surprise {
		sum += s
	}
	return round(sum)
}

// Over reports whether a sum exceeds a limit.
func Over(sum, limit float64) bool { return round(sum) > round(limit) }

// Decimal formats surprise, or a sum, as the table does: shortest, with at least one decimal.
func Decimal(v float64) string {
	return canonical(Surprise, strconv.FormatFloat(round(v), 'f', -1, 64))
}

// Replanning is the alert for an epic of a Cynefin domain, given the surprise of its children
// that have a signal table: the sum is too high, and so is the average for the domain. Forty
// children with a little surprise each raise none.
func Replanning(cynefin string, children []float64) (Alert, bool) {
	sum, most := Sum(children), ConvergenceLimit(cynefin, len(children))
	average := 0.0
	if len(children) > 0 {
		average = math.Round(sum/float64(len(children))*100) / 100
	}
	return Alert{
		Rule: AlertReplanning,
		Message: fmt.Sprintf("surprise %s in sum over %d children, %s on average: replan the epic",
			Decimal(sum), len(children), Decimal(average)),
	}, Over(sum, ThresholdEpicSurprise) && Over(sum, most)
}

// ConvergenceLimit is how much the closed blockers of an issue of a Cynefin domain may surprise
// in sum.
func ConvergenceLimit(cynefin string, blockers int) float64 {
	return round(ThresholdConvergence(cynefin) * float64(blockers))
}

// Convergence is the alert for an issue of a Cynefin domain, given the surprise of its
// blockers; fewer than two do not converge. open is the id of the one blocker that is not
// closed yet, "" if all are.
func Convergence(cynefin string, blockers []float64, open string) (Alert, bool) {
	sum, limit := Sum(blockers), ConvergenceLimit(cynefin, len(blockers))
	what := fmt.Sprintf("its %d closed blockers", len(blockers))
	if open != "" {
		what = fmt.Sprintf("its %d blockers, of which %s is not closed yet", len(blockers), open)
	}
	return Alert{
		Rule:    AlertConvergence,
		Message: fmt.Sprintf("surprise %s in %s, over %s: review it", Decimal(sum), what, Decimal(limit)),
	}, len(blockers) > 1 && Over(sum, limit)
}

// Stuck is the alert for an epic, given how many of its children are unclosed, could be
// started, and are in progress.
func Stuck(unclosed, startable, inProgress int) (Alert, bool) {
	what := fmt.Sprintf("none of its %d unclosed children is in progress or can be started", unclosed)
	if unclosed == 1 {
		what = "its one unclosed child is neither in progress nor can it be started"
	}
	return Alert{Rule: AlertStuck, Message: what},
		unclosed > 0 && startable == 0 && inProgress == 0
}

// Stale is the alert for an issue in progress, given when it was last changed. It is silent if
// the time is unknown.
func Stale(updated, now time.Time, days int) (Alert, bool) {
	const day = 24 * time.Hour
	age := now.Sub(updated)
	unchanged := fmt.Sprintf("%d days", age/day)
	if age/day == 1 {
		unchanged = "a day"
	}
	return Alert{Rule: AlertStale, Message: "in progress, unchanged for " + unchanged}, !updated.IsZero() && (age/day > time.Duration(days) || age/day == time.Duration(days) && age%day > 0)
}

// Shift is the alert for an issue whose Cynefin domain went up.
func Shift(from, to string) (Alert, bool) {
	return Alert{
		Rule:    AlertShift,
		Message: fmt.Sprintf("cynefin went up from %s to %s: read the issue again", from, to),
	}, Complexity(to) > Complexity(from)
}

// Divergence is the alert for an issue's own surprise.
func Divergence(surprise float64) (Alert, bool) {
	return Alert{
		Rule: AlertDivergence,
		Message: fmt.Sprintf("surprise %s is over %s: write into the state estimate what the description missed",
			Decimal(surprise), Decimal(ThresholdDivergence)),
	}, Over(surprise, ThresholdDivergence)
}
