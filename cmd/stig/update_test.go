package main

import (
	"flag"
)

// update rewrites golden files and the expected output in scripts.
var update = flag.Bool("update", false, "update golden files")
