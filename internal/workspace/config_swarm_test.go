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
	d, got := swarm.Defaults(), c.Swarm.Config
	if got.Timeout = d.Timeout; got != d || c.Swarm.Timeout != "60m" || d.Timeout != 3600 {
		t.Errorf("%+v, %+v", c.Swarm, d)
	}
}
