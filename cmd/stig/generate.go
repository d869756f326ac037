//go:build generate

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"stig/cmd/stig/cli"
	"stig/internal/workspace"
)

// main of a second program: go run -tags generate ./cmd/stig DIR writes the manual pages of all
// commands into DIR/man, and completions into DIR/completions. The page generator is not in
// stig itself because it would add 0.3 ms to each start.
func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run -tags generate ./cmd/stig DIR")
		os.Exit(2)
	}
	if err := generate(command(cli.Front(nil, io.Discard, io.Discard, &workspace.Run{})), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate(root *cobra.Command, dir string) error {
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	if err := errors.Join(os.MkdirAll(man, 0o755), os.MkdirAll(completions, 0o755)); err != nil {
		return err
	}
	v := built()
	header := doc.GenManHeader{Source: "stig " + v.Version}
	if day, err := time.Parse(time.DateOnly, v.Date); err == nil {
		header.Date = &day // otherwise today
	}
	root.DisableAutoGenTag = true
	return errors.Join(
		doc.GenManTree(root, &header, man),
		root.GenBashCompletionFileV2(filepath.Join(completions, "stig.bash"), true),
		root.GenZshCompletionFile(filepath.Join(completions, "_stig")),
		root.GenFishCompletionFile(filepath.Join(completions, "stig.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(completions, "stig.ps1")),
	)
}
