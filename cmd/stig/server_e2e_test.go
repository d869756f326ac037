//go:build e2e

package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"stig/internal/store/mysql"
	"stig/internal/testkit/servers"
)

// TestServerScripts runs the scripts of testdata/server on a real server of each kind.
// Environment: $URL and $URL2 name empty databases, on which user mara has all rights with the
// password tide; $SERVER is the host and port, $KIND the kind.
func TestServerScripts(t *testing.T) {
	for _, kind := range []string{servers.MariaDB, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			server := servers.Need(t, kind)
			commands, made := scriptCommands(), new(atomic.Int64)
			commands["sql"] = func(ts *testscript.TestScript, neg bool, args []string) {
				if err := execute(server.Config, strings.Join(args, " ")); (err != nil) != neg {
					ts.Fatalf("sql %q: %v", args, err)
				}
			}
			testscript.Run(t, testscript.Params{
				Dir:                 fromHere("testdata", "server"),
				UpdateScripts:       *update,
				RequireExplicitExec: true,
				Cmds:                commands,
				Condition:           func(name string) (bool, error) { return name == kind, nil },
				Setup: func(env *testscript.Env) error {
					if err := setUp(env); err != nil {
						return err
					}
					return giveDatabases(env, server, fmt.Sprintf("harbor%d", made.Add(1)))
				},
			})
		})
	}
}

// giveDatabases creates two databases for a script, and their user.
func giveDatabases(env *testscript.Env, server *servers.Server, name string) error {
	host := fmt.Sprintf("%s:%d", server.Config.Host, server.Config.Port)
	env.Setenv("KIND", server.Kind)
	env.Setenv("SERVER", host)
	for variable, database := range map[string]string{"URL": name, "URL2": name + "b"} {
		for _, statement := range []string{
			"CREATE DATABASE " + database,
			"CREATE USER IF NOT EXISTS mara@'%' IDENTIFIED BY 'tide'",
			"GRANT ALL ON " + database + ".* TO mara@'%'",
		} {
			if err := execute(server.Config, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		env.Setenv(variable, "mysql://mara@"+host+"/"+database)
		env.Setenv(strings.Replace(variable, "URL", "DB", 1), database)
	}
	return nil
}

// execute runs a statement as the administrator of a server.
func execute(c mysql.Config, statement string) error {
	db, err := mysql.Open(c)
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(statement)
	return err
}
