// Package early answers `stig version` before anything else happens.
//
// Go initialises every package of a program before main, and the packages
// behind validation take about 3 ms for that: more than the rest of a small
// command. Packages are initialised in the order of their import paths as soon
// as what they import is ready, so this one, which imports os alone, comes
// first. It must therefore import nothing else; a test watches the order.
//
// It knows nothing but the version:
//
//	import _ "stig/cmd/stig/early"
package early

import "os"

// Version is the version of stig.
const Version = "0.1.0"

// Answered is false in a program that goes on: `stig version` never gets so far.
var Answered = answer()

func answer() bool {
	if len(os.Args) != 2 || os.Args[1] != "version" && os.Args[1] != "--version" {
		return false
	}
	if _, err := os.Stdout.WriteString("stig " + Version + "\n"); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
	return true
}
