package actors_test

import (
	"testing"

	"stig/internal/loop/actors"
)

// BenchmarkSignOfLife measures what a loop does every 20 seconds.
func BenchmarkSignOfLife(b *testing.B) {
	a, _, _ := front(b)
	for b.Loop() {
		if err := actors.SignOfLife(a.Fresh(b.Context(), "work"), "bo", nil); err != nil {
			b.Fatal(err)
		}
	}
}
