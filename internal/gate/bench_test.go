package gate_test

import (
	"strings"
	"testing"

	"stig/internal/gate"
)

// BenchmarkPlan plans typical criteria: prose, inline code, and a fence.
func BenchmarkPlan(b *testing.B) {
	for name, text := range map[string]string{
		"prose": "- The tide table is complete\n- Gauges report within a minute\n- The harbour master has seen it\n",
		"spans": "- `go test ./...` passes\n- All gauges are checked (`make check`)\n- No table is written twice\n",
		"fence": "It holds:\n\n```verify\ngo test ./...\nmake check\n```\n",
		"long":  strings.Repeat("- Run `make x` and see that `git status` shows no change\n", 50),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				gate.Plan(text)
			}
		})
	}
}
