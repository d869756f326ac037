package process

import (
	"testing"

	"stig/internal/testkit/sample"
)

func TestMain(m *testing.M) { sample.Main(m) }
