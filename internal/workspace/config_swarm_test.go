package workspace_test

import (
	"testing"

	"stig/cue"
	"stig/internal/swarm"
	"stig/internal/workspace"
	"stig/schemas"
)

// TestSwarmDefaults compares the defaults in the configuration schema with those of package
// swarm.
func TestSwarmDefaults(t *testing.T) {
	var c workspace.Config
	if err := cue.Decode(schemas.Config, "#Config", "test.cue", []byte("swarm: {}"), &c); err != nil {
		t.Fatal(err)
	}
	d, s := swarm.Defaults(), c.Swarm
	if s.Evaporation != d.Evaporation || s.Deposit != d.Deposit || s.PerSubtask != d.PerSubtask || s.Beta != d.Beta || s.Quorum != d.Quorum.String() ||
		s.Diversity != d.Diversity || s.MaxRounds != d.MaxRounds || s.Timeout != "60m" || d.Timeout != 3600 || s.Retries != d.Retries || s.LeastActive != d.LeastActive {
		t.Errorf("%+v, %+v", s, d)
	}
}
