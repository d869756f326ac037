package fault_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"stig/fault"
)

func TestError(t *testing.T) {
	err := fmt.Errorf("claim: %w", &fault.Error{Code: fault.Conflict, ID: "pier-1", Reason: "is claimed by ann", Err: io.EOF})
	if got := err.Error(); got != "claim: pier-1: is claimed by ann" {
		t.Error(got)
	}
	if !fault.Is(err, fault.Conflict) || fault.Is(err, fault.Usage) || fault.Is(io.EOF, fault.Conflict) || !errors.Is(err, io.EOF) {
		t.Error("the code or what it wraps is lost")
	}
	if got := (&fault.Error{Reason: "nothing to write"}).Error(); got != "nothing to write" {
		t.Error(got)
	}
}
