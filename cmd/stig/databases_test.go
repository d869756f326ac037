package main

import (
	"fmt"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/internal/servers"
	"stig/mysql"
)

// scriptServers are the servers on which scripts make databases, one of a kind in a process.
var scriptServers = sync.OnceValue(func() *sync.Map { return new(sync.Map) })

// makeDatabase makes an empty database on a server of a kind, and sets a variable to its
// URL: database dolt URL.
func makeDatabase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: database KIND VARIABLE")
	}
	start, _ := scriptServers().LoadOrStore(args[0], sync.OnceValues(func() (*servers.Server, error) {
		return servers.StartWith(servers.Options{Kind: args[0], Fast: true})
	}))
	s, err := start.(func() (*servers.Server, error))()
	ts.Check(err)
	ts.Setenv(args[1], s.Database("script").URL())
}

// sqlCommand has a server run a statement, and prints what it answers, a line for each row.
func sqlCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql URL STATEMENT")
	}
	c, err := mysql.ParseURL(args[0])
	ts.Check(err)
	db, err := mysql.Open(c)
	ts.Check(err)
	defer db.Close()
	rows, err := db.Query(args[1])
	ts.Check(err)
	defer rows.Close()
	names, err := rows.Columns()
	ts.Check(err)
	for rows.Next() {
		values := make([]any, len(names))
		for i := range values {
			values[i] = new([]byte)
		}
		ts.Check(rows.Scan(values...))
		for i, v := range values {
			fmt.Fprintf(ts.Stdout(), "%s%s", map[bool]string{true: " "}[i > 0], *v.(*[]byte))
		}
		fmt.Fprintln(ts.Stdout())
	}
	ts.Check(rows.Err())
}
