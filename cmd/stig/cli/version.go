package cli

// The linker sets these in a release:
//
//	go build -ldflags "-X stig/cmd/stig/cli.Commit=…" ./cmd/stig
var (
	// Version is the version of stig.
	Version = "0.1.0"
	// Commit is the commit from which a release was built; "" in other builds.
	Commit = ""
	// Date is the date of that commit, such as 2026-11-26; "" in other builds.
	Date = ""
)
