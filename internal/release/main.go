// Command release makes what a release of stig has beside the program, so that the program
// need not hold it: manual pages and completions from the tree of commands, a bill of
// materials from the program that was built, and a flake for Nix from the archives.
// .goreleaser.yaml builds and starts it.
//
//	release pages DIR VERSION DAY
//	release bom PROGRAM FILE VERSION
//	release flake DIR FILE VERSION URL
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"stig/app"
	"stig/cmd/stig/cli"
	"stig/cmd/stig/tree"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 4 && args[0] == "pages":
		return writePages(args[1], args[2], args[3])
	case len(args) == 4 && args[0] == "bom":
		return writeWith(args[2], func() ([]byte, error) { return billOf(args[1], args[3]) })
	case len(args) == 5 && args[0] == "flake":
		return writeWith(args[2], func() ([]byte, error) { return flakeOf(args[1], args[3], args[4]) })
	}
	return errors.New("unknown arguments; see the comment of the package")
}

// writeWith writes what make gives to a file.
func writeWith(path string, make func() ([]byte, error)) error {
	content, err := make()
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// writePages writes the manual pages to man and the completions to completions, below dir.
func writePages(dir, version, day string) error {
	root := tree.New(cli.Front(nil, io.Discard, io.Discard, &app.App{}))
	for _, below := range []string{"man", "completions"} {
		if err := os.MkdirAll(filepath.Join(dir, below), 0o755); err != nil {
			return err
		}
	}
	for name, text := range manual(root, version, day) {
		packed, err := pack(text)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, "man", name+".1.gz"), packed, 0o644); err != nil {
			return err
		}
	}
	in := func(name string) string { return filepath.Join(dir, "completions", name) }
	return errors.Join(
		root.GenBashCompletionFileV2(in("stig.bash"), true),
		root.GenZshCompletionFile(in("_stig")),
		root.GenFishCompletionFile(in("stig.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(in("stig.ps1")),
	)
}
