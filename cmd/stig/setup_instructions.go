package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stig/host"
)

// setupInstructions connects what assistants read first.
func (a *app) setupInstructions() *cobra.Command {
	var o setupOptions
	cmd := &cobra.Command{
		Use:   "agents-md [FILE]",
		Short: "say in AGENTS.md, or a FILE like it, how to work with stig",
		Long: "setup agents-md keeps a block of a few lines in AGENTS.md, or in CLAUDE.md or GEMINI.md\n" +
			"when one is named: how an assistant works with stig. It replaces the block in its\n" +
			"place, and touches nothing else. A block that somebody edited is kept; --force puts\n" +
			"stig's own in its place, or with --remove takes it out.",
		Args:    takes(0, 1, "at most one file"),
		Example: "  stig setup agents-md\n  stig setup agents-md CLAUDE.md --check",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "AGENTS.md"
			if len(args) > 0 {
				name = args[0]
			}
			file, err := a.instructionsFile(name, o)
			if err != nil {
				return err
			}
			block := &managedBlock{file: file, put: host.PutBlock, take: host.RemoveBlock}
			if o.force {
				block.put, block.take = host.ForceBlock, host.ForceRemoveBlock
			}
			return a.setup(cmd.Context(), "agents-md", block, o)
		},
	}
	a.setupFlags(cmd, &o)
	userFlag(cmd, &o)
	forceFlag(cmd, &o, "also replace or remove a block that was edited by hand")
	return cmd
}

// instructionsFile is where the instructions of that name are read: in the root
// of a project, or in the user's directory of the host they belong to.
func (a *core) instructionsFile(name string, o setupOptions) (hostFile, error) {
	if !o.user {
		root, err := a.place(o)
		return hostFile{filepath.Join(root, name), root}, err
	}
	owners := map[string]host.Host{"AGENTS.md": host.Codex, "CLAUDE.md": host.Claude, "GEMINI.md": host.Gemini}
	for _, settings := range host.AllSettings() {
		if settings.Host == owners[name] {
			file, err := a.settingsFile(settings, o)
			return hostFile{filepath.Join(filepath.Dir(file.path), name), file.root}, err
		}
	}
	return hostFile{}, usage(fmt.Sprintf("with --user FILE must be one of AGENTS.md, CLAUDE.md, GEMINI.md; found %q", name), "")
}

// managedBlock is the block of stig in a file of instructions.
type managedBlock struct {
	file      hostFile
	put, take func([]byte) ([]byte, error)
}

func (b *managedBlock) preview() string { return shortest(b.file.path) + ":\n" + host.Block() + "\n" }

func (b *managedBlock) missing(context.Context) ([]string, error) {
	source, err := b.file.read()
	if err != nil {
		return nil, err
	}
	switch has, err := host.HasBlock(source); {
	case errors.Is(err, host.ErrEdited):
		return []string{shortest(b.file.path) + ": " + err.Error()}, nil
	case err != nil:
		return nil, b.located(err)
	case !has:
		return []string{shortest(b.file.path) + ": the block of stig"}, nil
	}
	return nil, nil
}

func (b *managedBlock) install(context.Context) ([]setupStep, error) { return b.edit(b.put, "") }

func (b *managedBlock) remove(context.Context) ([]setupStep, error) {
	return b.edit(b.take, " --remove")
}

func (b *managedBlock) edit(change func([]byte) ([]byte, error), flag string) ([]setupStep, error) {
	source, err := b.file.read()
	if err != nil {
		return nil, err
	}
	text, err := change(source)
	switch {
	case errors.Is(err, host.ErrEdited):
		name := strings.TrimSuffix(" "+filepath.Base(b.file.path), " AGENTS.md")
		return nil, usage(fmt.Sprintf("%s: %v", shortest(b.file.path), err),
			"type stig setup agents-md"+name+flag+" --force if what was edited may go")
	case err != nil:
		return nil, b.located(err)
	}
	return b.file.change(source, text, shortest(b.file.path)+": the block of stig"), nil
}

func (b *managedBlock) located(err error) error {
	return fmt.Errorf("%s:%w", shortest(b.file.path), err)
}
