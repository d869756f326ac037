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

// kind is how servers of a kind are started.
type kind struct {
	program  string // name or path
	variable string // the environment variable that names another
	// prepare makes the directory ready, and gives the words of the command and its
	// environment, which is nil for that of the test.
	prepare func(program, dir string, port int, o Options) (argv, env []string, err error)
}

func kinds() map[string]kind {
	return map[string]kind{
		MariaDB: {program: "mariadbd", variable: "STIG_TEST_MARIADB", prepare: prepareMariaDB},
		Galera:  {program: "mariadbd", variable: "STIG_TEST_MARIADB", prepare: prepareNode},
		Dolt:    {program: "dolt", variable: "STIG_TEST_DOLT", prepare: prepareDolt},
	}
}

// kindOf gives a kind with the path of its program: that of its variable, or on PATH.
func kindOf(name string) (kind, error) {
	k, ok := kinds()[name]
	if !ok {
		return k, fmt.Errorf("%q is no kind of server: %v", name, slices.Sorted(maps.Keys(kinds())))
	}
	path, err := process.Find(cmp.Or(os.Getenv(k.variable), k.program))
	if err != nil {
		return k, fmt.Errorf("%s: %w; type eval \"$(bash .ci/servers)\" to have one, or set %s", name, err, k.variable)
	}
	k.program, err = filepath.Abs(path)
	return k, err
}

// prepareMariaDB has mariadb-install-db make the data, unless there is some.
func prepareMariaDB(program, dir string, port int, o Options) (argv, env []string, err error) {
	data := filepath.Join(dir, "data")
	// One that starts removes temporary tables of others from a directory that they share.
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

// installer is the program that makes MariaDB's data: what is installed with mariadbd,
// or what is on PATH.
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

// prepareDolt keeps Dolt's settings in the directory too, and Dolt from its network.
func prepareDolt(program, dir string, port int, _ Options) (argv, env []string, err error) {
	data := filepath.Join(dir, "data")
	argv = []string{program, "sql-server", "-H", "127.0.0.1", "-P", strconv.Itoa(port), "--data-dir", data}
	env = append(os.Environ(), "DOLT_ROOT_PATH="+dir, "DOLT_DISABLE_EVENT_FLUSH=1")
	return argv, env, os.MkdirAll(data, 0o755)
}
