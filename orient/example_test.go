package orient_test

import (
	"fmt"
	"strings"

	"stig/cue"
	"stig/dag"
	"stig/internal/beads"
	"stig/internal/store/jsonl"
	"stig/orient"
)

func ExampleBrief() {
	file, err := jsonl.Read(beads.Place{Path: "../examples/harbor/.beads/issues.jsonl", Dir: "../examples/harbor/.beads"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	at, _ := file.Index("harbor-m8t")
	b, err := orient.Brief(file, dag.New(file), at, orient.Request{}, orient.Rules{Schema: cue.Embedded()})
	if err != nil {
		fmt.Println(err)
		return
	}
	title, _, _ := strings.Cut(b.Markdown(), "\n")
	fmt.Println(title)
	fmt.Println(b.Depth)
	// Output:
	// # harbor-m8t Two boats were promised berth A2 this weekend
	// probe
}
