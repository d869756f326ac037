package sample

import "flag"

var rounds = flag.Int("rounds", 1, "multiply the rounds of property tests by this")

// Rounds returns the number of rounds of a property test: n times -rounds.
func Rounds(n int) int { return n * *rounds }
