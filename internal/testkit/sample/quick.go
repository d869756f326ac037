package sample

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
)

// Main is for the TestMain of a package whose tests write many files or start git
// often: it runs them with Overlap, and with Quick and CheapGit.
// Benchmarks measure the disk, git and the collector that users have.
func Main(m interface{ Run() int }) {
	os.Exit(run(m))
}

func run(m interface{ Run() int }) (exit int) {
	Overlap()
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" {
		return m.Run()
	}
	err := Quick()
	template, failed := os.MkdirTemp("", "stig-template")
	if err = errors.Join(err, failed); err == nil {
		_, err = CheapGit(template)
	}
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(template)
	return m.Run()
}

// Overlap lets eight parallel tests of this process run at once, since most of them
// wait: for a process, a clock or a lock. It is called before flags are parsed, so that
// -parallel says otherwise.
func Overlap() {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
}

// Quick takes from the tests of this process most collections of garbage, and waiting
// for a disk, where memory can hold their files.
func Quick() error {
	CollectLess()
	if dir := inMemory(); dir != "" && os.Getenv("TMPDIR") == "" {
		return os.Setenv("TMPDIR", dir)
	}
	return nil
}

// CollectLess lets the heap grow to eleven times what is in use, which is little.
func CollectLess() { debug.SetGCPercent(1000) }

// CheapGit keeps git from sample hooks in each new repository, a look for garbage
// after each commit, and waiting for the disk. New repositories get the empty
// directories in template alone. It gives the variables that it set.
func CheapGit(template string) (variables []string, err error) {
	for _, dir := range []string{"hooks", "info"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(template, dir), 0o755))
	}
	for name, value := range map[string]string{
		"GIT_TEMPLATE_DIR": template, "GIT_CONFIG_COUNT": "2",
		"GIT_CONFIG_KEY_0": "maintenance.auto", "GIT_CONFIG_VALUE_0": "false",
		"GIT_CONFIG_KEY_1": "core.fsync", "GIT_CONFIG_VALUE_1": "none",
	} {
		variables = append(variables, name+"="+value)
		err = errors.Join(err, os.Setenv(name, value))
	}
	return variables, err
}
