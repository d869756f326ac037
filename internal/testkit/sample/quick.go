package sample

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime/debug"
)

// Main is for the TestMain of a package whose tests write many files or start git often: it
// runs them with Overlap, Quick and CheapGit. Benchmarks run without these, to measure the
// disk, git and garbage collector of users.
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

// Overlap lets eight parallel tests of this process run at once, since most of them wait: for a
// process, a clock or a lock. Call it before flags are parsed, so that -parallel overrides it.
func Overlap() {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
}

// Quick makes the tests of this process collect garbage less often, and keeps their files in
// memory if it can.
func Quick() error {
	CollectLess()
	if dir := inMemory(); dir != "" && os.Getenv("TMPDIR") == "" {
		return os.Setenv("TMPDIR", dir)
	}
	return nil
}

// CollectLess lets the heap grow to eleven times the live heap, which is small.
func CollectLess() { debug.SetGCPercent(1000) }

// CheapGit stops git from copying sample hooks into new repositories, running maintenance after
// commits, and syncing to the disk. New repositories get only the empty directories in
// template. It returns the variables that it set.
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
