package process

import (
	"testing"

	"stig/internal/sample"
)

func TestMain(m *testing.M) { sample.Main(m) }
