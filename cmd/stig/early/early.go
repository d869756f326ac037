// Package early answers `stig version` before anything else happens.
//
// Go initialises every package of a program before main, and the packages
// behind validation take about 3 ms for that: more than the rest of a small
// command. Packages are initialised in the order of their import paths as soon
// as what they import is ready, so this one, which imports os alone, comes
// first. It must therefore import nothing else; a test watches the order.
//
// It knows nothing but what the linker wrote into a release:
//
//	go build -ldflags "-X stig/cmd/stig/early.Commit=…" ./cmd/stig
//
// A program that is no release asks the build information instead, later.
package early

import "os"

var (
	// Version is the version of stig.
	Version = "0.1.0"
	// Commit is the commit of which a release was built, Date its day; "" in other programs.
	Commit, Date string
)

// Answered is false in a program that goes on: `stig version` of a release never gets so far.
var Answered = answer()

// Line is what `stig version` says.
func Line(commit, date string) string {
	line := "stig " + Version
	if commit != "" {
		line += " (" + commit + ", " + date + ")"
	}
	return line + "\n"
}

func answer() bool {
	if len(os.Args) != 2 || os.Args[1] != "version" && os.Args[1] != "--version" || Commit == "" {
		return false
	}
	if _, err := os.Stdout.WriteString(Line(Commit, Date)); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
	return true
}
