package swarm

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strconv"
)

// Purposes of a draw; for a role it is purposeRole and the role.
const (
	purposeTheta   = "theta"
	purposeRho     = "rho"
	purposeChoose  = "choose"
	purposeInhibit = "inhibit"
	purposeRole    = "role-"
)

// Chance returns a number in [0, 1) that depends only on agent, purpose and round.
func Chance(swarm string, round int, agent, purpose string) float64 {
	sum := sha256.Sum256([]byte(swarm + "\x00" + strconv.Itoa(round) + "\x00" + agent + "\x00" + purpose))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

// respond is the probability with which a stimulus moves an agent with a threshold.
func respond(stimulus, threshold float64) float64 {
	if stimulus == 0 {
		return 0
	}
	s, t := float64(stimulus*stimulus), float64(threshold*threshold)
	return s / (s + t)
}

// logarithm is the natural logarithm of a positive number. That of package math differs in its
// last digit between processors.
func logarithm(x float64) float64 {
	f, exp := math.Frexp(x) // f is in [½, 1)
	s := (f - 1) / (f + 1)
	square, sum, power := float64(s*s), 0.0, s
	for i := 1; i < 60; i += 2 {
		sum += power / float64(i)
		power = float64(power * square)
	}
	return float64(2*sum) + float64(float64(exp)*math.Ln2)
}
