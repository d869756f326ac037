package setup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"stig/app"
	"stig/host"
)

// InstructionsFile is where the instructions of that name are read: in the root
// of a project, or in the user's directory of the host they belong to.
func InstructionsFile(a *app.App, name string, o SetupOptions) (app.HostFile, error) {
	if !o.User {
		root, err := place(a, o)
		return app.HostFile{Path: filepath.Join(root, name), Root: root}, err
	}
	for _, settings := range host.AllSettings() {
		if settings.Instructions != "" && settings.Instructions == name {
			file, err := SettingsFile(a, settings, o)
			return app.HostFile{Path: filepath.Join(filepath.Dir(file.Path), name), Root: file.Root}, err
		}
	}
	return app.HostFile{}, app.Usage(fmt.Sprintf("with --user FILE must be one of %s; found %q", strings.Join(host.Instructions(), ", "), name), "")
}

// ManagedBlock is the block of stig in a file of instructions.
type ManagedBlock struct {
	File      app.HostFile
	Put, Take func([]byte) ([]byte, error)
}

func (b *ManagedBlock) Preview() string {
	return app.Shortest(b.File.Path) + ":\n" + host.Block() + "\n"
}

func (b *ManagedBlock) Missing(context.Context) ([]string, error) {
	source, err := b.File.Read()
	if err != nil {
		return nil, err
	}
	switch has, err := host.HasBlock(source); {
	case errors.Is(err, host.ErrEdited):
		return []string{app.Shortest(b.File.Path) + ": " + err.Error()}, nil
	case err != nil:
		return nil, b.located(err)
	case !has:
		return []string{app.Shortest(b.File.Path) + ": the block of stig"}, nil
	}
	return nil, nil
}

func (b *ManagedBlock) Install(context.Context) ([]app.SetupStep, error) { return b.edit(b.Put, "") }

func (b *ManagedBlock) Remove(context.Context) ([]app.SetupStep, error) {
	return b.edit(b.Take, " --remove")
}

func (b *ManagedBlock) edit(change func([]byte) ([]byte, error), flag string) ([]app.SetupStep, error) {
	source, err := b.File.Read()
	if err != nil {
		return nil, err
	}
	text, err := change(source)
	switch {
	case errors.Is(err, host.ErrEdited):
		name := strings.TrimSuffix(" "+filepath.Base(b.File.Path), " AGENTS.md")
		return nil, app.Usage(fmt.Sprintf("%s: %v", app.Shortest(b.File.Path), err),
			"type stig setup agents-md"+name+flag+" --force if what was edited may go")
	case err != nil:
		return nil, b.located(err)
	}
	return b.File.Change(source, text, app.Shortest(b.File.Path)+": the block of stig"), nil
}

func (b *ManagedBlock) located(err error) error {
	return fmt.Errorf("%s:%w", app.Shortest(b.File.Path), err)
}
