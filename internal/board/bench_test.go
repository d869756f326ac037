package board_test

import (
	"strings"
	"testing"

	"stig/internal/testkit/sample"
)

// BenchmarkPages renders each page of a store of 10,000 issues.
func BenchmarkPages(b *testing.B) {
	var text strings.Builder
	if err := sample.Write(&text, 10_000, 1); err != nil {
		b.Fatal(err)
	}
	s := serve(b, text.String(), nil)
	c := s.browser(b)
	for _, path := range []string{"/", "/issues", "/issues?q=rope", "/issues/" + sample.ID(500), "/graph?around=" + sample.ID(500), "/actors", "/check"} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				if status, body := c.get(b, path); status != 200 {
					b.Fatal(status, body)
				}
			}
		})
	}
}
