package main

import (
	"bytes"
	"os"
	"testing"
)

// TestPicture compares the picture in README with stig's output; -update rewrites it.
func TestPicture(t *testing.T) {
	path := fromHere("..", "..", "docs", "harbor.svg")
	out, err := shell(fromHere("..", "..", "examples", "harbor"), program(t), "stig graph --format svg")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if *update {
		if err := os.WriteFile(path, out, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept, out) {
		t.Errorf("%s is not what stig draws now: run go test ./cmd/stig -run TestPicture -update and look at it", path)
	}
}
