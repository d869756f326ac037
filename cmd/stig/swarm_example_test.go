package main

import (
	"os"
	"strings"
	"testing"
)

// TestSwarmExample is the example of docs/workers.md: three explorers agree on a wrong idea, and
// the fourth's fix passes the acceptance criteria, which ends the swarm as proved.
func TestSwarmExample(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(fromHere("..", "..", "examples", "swarm"))); err != nil {
		t.Fatal(err)
	}
	printed, err := shell(dir, program(t), `set -e
		export STIG_ACTOR=mara STIG_TRUST=1 XDG_STATE_HOME="$PWD.state"
		git init -q && git add . && git -c user.name=ann -c user.email=a@b commit -qm tides
		stig swarm run tides-1 --agents 4 -- sh explore.sh
		git show stig/work:highest.sh
		stig land tides-1`)
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	for _, want := range []string{
		": proved\n", "leading locale 0.8", "1. locale: 3 of 4", "- numbers (QiuSuo (求索者))",
		"passes the acceptance criteria: commit ", "\nsort -n \"$1\" | tail -n 1\n", "landed on ",
	} {
		if !strings.Contains(string(printed), want) {
			t.Errorf("no %q in\n%s", want, printed)
		}
	}
}
