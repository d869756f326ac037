package sample

import "flag"

var rounds = flag.Int("rounds", 1, "property tests do so many times as many rounds")

// Rounds gives how many rounds a property test does: n, times what -rounds says.
func Rounds(n int) int { return n * *rounds }
