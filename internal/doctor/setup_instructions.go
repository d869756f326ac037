package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"stig/internal/assistant"
	"stig/internal/workspace"
)

// SetupInstructions puts stig's block into the instruction file of that name.
func SetupInstructions(ctx context.Context, a *workspace.Run, name string, o SetupOptions) (*SetupResult, error) {
	file, err := instructionsFile(a, name, o)
	if err != nil {
		return nil, err
	}
	block := &managedBlock{file, assistant.PutBlock, assistant.RemoveBlock, "stig setup agents-md"}
	if name != "AGENTS.md" {
		block.typed += " " + name
	}
	if o.User {
		block.typed += " --user"
	}
	if o.Force {
		block.put, block.take = assistant.ForceBlock, assistant.ForceRemoveBlock
	}
	r, err := connect(ctx, block, o)
	if err == nil && !o.Remove && !o.Print {
		r.Orders = Orders(a)
	}
	return r, err
}

// instructionsFile returns the path of an instruction file: in the root of a project, or in the
// user's directory of the host that reads it.
func instructionsFile(a *workspace.Run, name string, o SetupOptions) (workspace.HostFile, error) {
	if !o.User {
		root, err := place(a, o)
		return workspace.HostFile{Path: filepath.Join(root, name), Root: root}, err
	}
	for _, settings := range assistant.AllSettings() {
		if settings.Instructions != "" && settings.Instructions == name {
			dir, root, err := hostDir(a, settings, o)
			return workspace.HostFile{Path: filepath.Join(dir, name), Root: root}, err
		}
	}
	return workspace.HostFile{}, workspace.Usage(fmt.Sprintf("with --user, FILE must be one of %s; found %q", strings.Join(assistant.Instructions(), ", "), name), "")
}

// managedBlock is the stig block in an instruction file.
type managedBlock struct {
	file      workspace.HostFile
	put, take func([]byte) ([]byte, error)
	typed     string // command that puts it there
}

func (b *managedBlock) Preview() string {
	return workspace.Shortest(b.file.Path) + ":\n" + assistant.Block() + "\n"
}

func (b *managedBlock) Missing(context.Context) ([]string, error) {
	source, err := b.file.Read()
	if err != nil {
		return nil, err
	}
	switch has, err := assistant.HasBlock(source); {
	case errors.Is(err, assistant.ErrEdited):
		return []string{workspace.Shortest(b.file.Path) + ": " + err.Error()}, nil
	case err != nil:
		return nil, b.located(err)
	case !has:
		return []string{workspace.Shortest(b.file.Path) + ": the stig block"}, nil
	}
	return nil, nil
}

func (b *managedBlock) Install(context.Context) ([]workspace.SetupStep, error) {
	return b.edit(b.put, "")
}

func (b *managedBlock) Remove(context.Context) ([]workspace.SetupStep, error) {
	return b.edit(b.take, " --remove")
}

func (b *managedBlock) edit(change func([]byte) ([]byte, error), flag string) ([]workspace.SetupStep, error) {
	source, err := b.file.Read()
	if err != nil {
		return nil, err
	}
	text, err := change(source)
	switch {
	case errors.Is(err, assistant.ErrEdited):
		return nil, workspace.Usage(fmt.Sprintf("%s: %v", workspace.Shortest(b.file.Path), err),
			"type "+b.typed+flag+" --force to discard the edits")
	case err != nil:
		return nil, b.located(err)
	}
	return b.file.Change(source, text, workspace.Shortest(b.file.Path)+": the stig block"), nil
}

func (b *managedBlock) located(err error) error {
	return fmt.Errorf("%s:%w", workspace.Shortest(b.file.Path), err)
}
