package servers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"stig/internal/process"
)

// kind describes how to start servers of a kind.
type kind struct {
	program  string // name or path
	variable string // the environment variable that overrides it
	// prepare sets up the directory, and returns the command line and its environment; nil
	// means the test's environment.
	prepare func(program, dir string, port int, o Options) (argv, env []string, err error)
}

func kinds() map[string]kind {
	return map[string]kind{
		MariaDB: {program: "mariadbd", variable: "STIG_TEST_MARIADB", prepare: prepareMariaDB},
		Galera:  {program: "mariadbd", variable: "STIG_TEST_MARIADB", prepare: prepareNode},
		Dolt:    {program: "dolt", variable: "STIG_TEST_DOLT", prepare: prepareDolt},
	}
}

// kindOf returns a kind with the path of its program: from its variable, or on PATH.
func kindOf(name string) (kind, error) {
	k, ok := kinds()[name]
	if !ok {
		return k, fmt.Errorf("%q is not a kind of server: %v", name, slices.Sorted(maps.Keys(kinds())))
	}
	path, err := process.Find(cmp.Or(os.Getenv(k.variable), k.program))
	if err != nil {
		return k, fmt.Errorf("%s: %w; type eval \"$(bash .ci/servers)\" to get one, or set %s", name, err, k.variable)
	}
	k.program, err = filepath.Abs(path)
	return k, err
}

// prepareMariaDB creates the data with mariadb-install-db, unless they exist.
func prepareMariaDB(program, dir string, port int, o Options) (argv, env []string, err error) {
	data := filepath.Join(dir, "data")
	// A starting server removes other servers' temporary tables from a shared directory.
	settings := []string{"--no-defaults", "--datadir=" + data, "--tmpdir=" + dir, "--skip-name-resolve"}
	if os.Geteuid() == 0 {
		settings = append(settings, "--user=root") // it does not run as root unless told to
	}
	if o.Fast {
		settings = append(settings, "--innodb-log-file-size=8M", "--innodb-flush-log-at-trx-commit=0", "--skip-innodb-doublewrite")
	}
	if _, err := os.Stat(filepath.Join(data, "mysql")); err != nil {
		install := slices.Concat([]string{installer(program)}, settings, []string{"--auth-root-authentication-method=normal", "--skip-test-db"})
		result, err := process.Run(context.Background(), process.Command{Argv: install})
		if err == nil && result.Exit != 0 {
			err = fmt.Errorf("%s: exit code %d:\n%s%s", install[0], result.Exit, result.Stdout, result.Stderr)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	listen := []string{"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(port),
		"--socket=" + filepath.Join(dir, "socket"), "--pid-file=" + filepath.Join(dir, "pid"), "--max-connections=500"}
	return slices.Concat([]string{program}, settings, listen), nil, nil
}

// installer returns the program that creates MariaDB's data: the one installed with mariadbd,
// or the one on PATH.
func installer(program string) string {
	const name = "mariadb-install-db"
	for _, dir := range []string{"bin", "scripts"} {
		path := filepath.Join(filepath.Dir(filepath.Dir(program)), dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return name
}

// prepareDolt keeps Dolt's settings in the directory too, and turns off Dolt's network access.
func prepareDolt(program, dir string, port int, _ Options) (argv, env []string, err error) {
	data := filepath.Join(dir, "data")
	argv = []string{program, "sql-server", "-H", "127.0.0.1", "-P", strconv.Itoa(port), "--data-dir", data}
	env = append(os.Environ(), "DOLT_ROOT_PATH="+dir, "DOLT_DISABLE_EVENT_FLUSH=1")
	return argv, env, os.MkdirAll(data, 0o755)
}
