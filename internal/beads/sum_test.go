package beads

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestSumOfParts combines the sums of parts, and separates them again.
func TestSumOfParts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	text := make([]byte, 2*blockSize+blockSize/2)
	for i := range text {
		text[i] = "abcdefghijklmno\n"[random.IntN(16)]
	}
	whole := sumOfText(text)
	if s, err := SumOf(bytes.NewReader(text), int64(len(text))); err != nil || s != whole {
		t.Errorf("in blocks %v, %v; at once %v", s, err, whole)
	}
	for _, at := range []int{0, 1, 63, blockSize, len(text) - 1, len(text)} {
		begin, rest := sumOfText(text[:at]), sumOfText(text[at:])
		if s := begin.then(rest); s != whole {
			t.Errorf("%d bytes and then the rest: %v, want %v", at, s, whole)
		}
		if s := whole.after(begin); s != rest {
			t.Errorf("after %d bytes: %v, want %v", at, s, rest)
		}
	}
	if other := sumOfText(append([]byte("x"), text[1:]...)); other == whole {
		t.Error("another text has the same sum")
	}
}
