//go:build e2e

package gate

import (
	"testing"

	"stig/internal/testkit/sample"
)

// TestHostileCriteriaAreReadInLinearTime also ends if a walk nests too deep for a stack.
func TestHostileCriteriaAreReadInLinearTime(t *testing.T) {
	for _, found := range sample.Superlinear(func(text string) {
		Plan(text)
		Find("", text, "## Acceptance\n"+text).Plan()
	}) {
		t.Error(found)
	}
	for _, found := range sample.Superlinear(func(text string) {
		text = text[:min(len(text), maxText)]
		Commands(text)
		StrictScript(text)
		IsIncomplete(text)
	}) {
		t.Error(found)
	}
}
