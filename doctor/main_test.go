package doctor_test

import (
	"testing"

	"stig/internal/sample"
)

func TestMain(m *testing.M) { sample.Main(m) }
