package draw_test

import (
	"fmt"
	"path/filepath"
	"time"

	"stig/dag"
	"stig/internal/beads"
	"stig/internal/draw"
	"stig/internal/store/jsonl"
)

// Example draws the graph around one issue of the example store as text.
func Example() {
	dir := filepath.Join("..", "..", "examples", "harbor", ".beads")
	file, err := jsonl.Read(beads.Place{Path: filepath.Join(dir, "issues.jsonl"), Dir: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()
	at, _ := file.Index("harbor-g6h")
	graph := dag.New(file)
	picture, err := draw.Draw(file, graph, draw.Around(file, graph, at), nil, time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(picture.Text())
	// Output:
	// harbor-g6h [open clear] · Replace the battery of the tide gauge
	//   harbor-f1r [blocked complicated] · Read the gauge without walking to it
	// issues: 2, edges: 1; below each issue: the issues that wait for it
}
