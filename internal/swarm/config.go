package swarm

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Config are the parameters of a swarm. Times are in seconds, which keeps its record readable.
type Config struct {
	Evaporation float64  `json:"evaporation"` // share of a concentration that a round takes
	Deposit     float64  `json:"deposit"`     // amount where an agent names none
	PerSubtask  int      `json:"per_subtask"` // agents on a subtask
	Beta        int      `json:"beta"`        // rounds that the ideas must stay unchanged to count as stable
	Quorum      Fraction `json:"quorum"`      // of active agents
	Diversity   float64  `json:"diversity"`   // under which a warning is told
	MaxRounds   int      `json:"max_rounds"`
	Timeout     int      `json:"timeout_seconds"` // of the whole swarm
	Retries     int      `json:"retries"`         // rounds in a row without answer that degrade an agent
	LeastActive int      `json:"least_active"`
}

// Defaults are the parameters that apply unless configured.
func Defaults() Config {
	return Config{
		Evaporation: 0.05, Deposit: 0.1, PerSubtask: 3, Beta: 2, Quorum: Fraction{2, 3}, Diversity: 0.4,
		MaxRounds: 10, Timeout: int(time.Hour / time.Second), Retries: 2, LeastActive: 2,
	}
}

const (
	strength   = 0.3               // of a stop signal
	mostTotal  = 0.5               // of all stop signals on a direction together, for followers
	counts     = 300 * time.Second // how long a stop signal counts
	analystMin = 0.7               // concentration required for a deep analyst
	depositMin = 3                 // deposits required for a deep analyst
	roundsMin  = 2                 // complete rounds required for a synthesizer
	synthesis  = 0.8               // chance of becoming one
	warnAfter  = 3                 // rounds without change
	stagnant   = 2 * warnAfter
	uncovered  = 0.15 // chance to take an uncovered direction
	following  = 0.85 // and, minus an agent's random exploration, to follow
)

// The thresholds of the three parts of diversity. They decide nothing: the mean does.
const (
	markCoverage      = 0.5
	markOrthogonality = 0.5
	markEntropy       = 0.3
)

// LeastAgents and MostAgents bound a swarm.
const (
	LeastAgents = 2
	MostAgents  = 12
	mostAgent   = 60 // bytes of a name
)

// mostWhole limits integers in a configuration: half a year in seconds.
const mostWhole = 1 << 24

// validate returns what is wrong with a configuration.
func (c Config) validate() error {
	for _, n := range []struct {
		key        string
		value      float64
		least, top float64
	}{
		{"evaporation", c.Evaporation, 0, 1}, {"deposit", c.Deposit, 0, 1}, {"diversity", c.Diversity, 0, 1},
		{"per_subtask", float64(c.PerSubtask), 1, mostWhole}, {"beta", float64(c.Beta), 1, mostWhole}, {"max_rounds", float64(c.MaxRounds), 1, mostWhole},
		{"timeout in seconds", float64(c.Timeout), 1, mostWhole}, {"retries", float64(c.Retries), 1, mostWhole}, {"least_active", float64(c.LeastActive), 1, mostWhole},
	} {
		if !(n.value >= n.least && n.value <= n.top) {
			return fmt.Errorf("%s: must be %.0f to %.0f; found %v", n.key, n.least, n.top, n.value)
		}
	}
	return c.Quorum.validate()
}

// Fraction is a quorum, in integers: 2/3 of 6 is 4, where 0.67 of 6 would be 5.
type Fraction struct{ Over, Under int }

// ParseFraction parses 2/3, or a decimal such as 0.6.
func ParseFraction(text string) (Fraction, error) {
	var f Fraction
	over, under, ok := strings.Cut(text, "/")
	var err error
	if ok {
		f.Over, err = strconv.Atoi(strings.TrimSpace(over))
		if err == nil {
			f.Under, err = strconv.Atoi(strings.TrimSpace(under))
		}
	} else {
		var decimal float64
		decimal, err = strconv.ParseFloat(text, 64)
		f = Fraction{int(decimal*1000 + 0.5), 1000}
	}
	if err != nil || f.validate() != nil {
		return Fraction{}, fmt.Errorf("must be a fraction such as 2/3 or 0.6, above 0 and at most 1; found %q", text)
	}
	return f, nil
}

func (f Fraction) validate() error {
	if f.Over < 1 || f.Under < f.Over || f.Under > 1000 {
		return fmt.Errorf("quorum: must be above 0 and at most 1; found %s", f)
	}
	return nil
}

func (f Fraction) String() string { return fmt.Sprintf("%d/%d", f.Over, f.Under) }

// MarshalText writes the fraction as OVER/UNDER.
func (f Fraction) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads what ParseFraction takes.
func (f *Fraction) UnmarshalText(text []byte) (err error) {
	*f, err = ParseFraction(string(text))
	return err
}

// of returns how many of n the fraction requires, rounded up.
func (f Fraction) of(n int) int { return (f.Over*n + f.Under - 1) / max(f.Under, 1) }
