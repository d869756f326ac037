package gate

import (
	"strings"
	"testing"
)

// Criteria that are not read may require anything: nothing passes until they are.
func TestWhatIsBeyondABoundKeepsFromPassing(t *testing.T) {
	for _, c := range []struct{ criteria, want string }{
		{"- `" + strings.Repeat("(", 101) + "` passes", "more than 100 open brackets"},
		{"```bash\n" + strings.Repeat("$(", 101) + "\n```", "more than 100 open brackets"},
		{"- `go test " + strings.Repeat("a", 64<<10) + "` passes", "longer than 65536 bytes"},
		{strings.Repeat("> ", 101) + "run `go test`", "nest more than 100 levels deep"},
		{strings.Repeat("- `go test` passes\n", 129), "more than 128 pieces of code stand before it"},
	} {
		plan := Plan(c.criteria)
		if last := plan[len(plan)-1]; !last.Broken || !last.Asked() || !strings.Contains(last.Reason, c.want) {
			t.Errorf("%.60q…: %+v, want %q", c.criteria, last, c.want)
		}
	}
	passages := Find("", strings.Repeat("## Acceptance\n\n```bash\ngo test ./a\n```\n\n## Acceptance\n\n```bash\ngo test ./b\n```\n", 100), "")
	if len(passages) != 2 {
		t.Errorf("%d passages, of which each stands 100 times", len(passages))
	}
	text := ""
	for n := range 140 {
		text += "## Acceptance\n\n```bash\ngo test ./" + strings.Repeat("a", n+1) + "\n```\n\n"
	}
	if plan := Find("", text, "").Plan(); len(plan) > 140 || !plan[len(plan)-1].Broken || plan[len(plan)-1].Field != FieldDescription {
		t.Errorf("%d checks of 140 passages, the last %+v", len(plan), plan[len(plan)-1])
	}
}

// A sentence about code may go on and on: it is read once, not again for each "and".
func TestClaimsThatGoOn(t *testing.T) {
	for _, claim := range []string{" passes and", " prints `a` and `b`", " prints `a` and prints `b` and", " shows no errors and works and", ", `x`", " and `x` prints 3"} {
		if plan := Plan("- `make x`" + strings.Repeat(claim, 20_000)); len(plan) == 0 {
			t.Errorf("nothing is read of %q", claim)
		}
	}
}
