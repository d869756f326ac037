package cli

// The linker writes into a release:
//
//	go build -ldflags "-X stig/cmd/stig/cli.Commit=…" ./cmd/stig
var (
	// Version is the version of stig.
	Version = "0.1.0"
	// Commit is the commit of which a release was built; "" in other programs.
	Commit = ""
	// Date is the day of that commit, as in 2026-11-26; "" in other programs.
	Date = ""
)
