package main

import (
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/internal/testkit/forges"
)

// forgeOf starts a stand-in of a forge, or plays people on it:
//
//	forge start BARE DIR      make BARE from the repository DIR, whose remote it becomes
//	forge merge|squash|rebase|revert|close N
//	forge remark N USER TEXT [PATH]
//	forge status failure
//	forge show N              print a request
func forgeOf(ts *testscript.TestScript, neg bool, args []string) {
	held := ts.Value("forge").(*forgeHolder)
	number := func() int { n, err := strconv.Atoi(args[1]); ts.Check(err); return n }
	switch args[0] {
	case "start":
		if held.forge == nil { // else a real one
			held.forge = forges.New(ts.MkAbs(args[1]))
			ts.Defer(held.forge.Close)
		}
		token, err := held.forge.Begin(ts.MkAbs(args[2]))
		ts.Check(err)
		ts.Setenv("GITEA_TOKEN", token)
	case "remark":
		path := ""
		if len(args) > 4 {
			path = args[4]
		}
		held.forge.Remark(number(), args[2], args[3], path)
	case "status":
		held.forge.Status(args[1])
	case "show":
		ts.Check(os.WriteFile(ts.MkAbs("request"), []byte(held.forge.Text(number())), 0o600))
	default:
		ts.Check(held.forge.Judge(args[0], number()))
	}
}

// forgeHolder holds the forge of a script.
type forgeHolder struct{ forge forges.Site }
