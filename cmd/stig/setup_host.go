package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"stig/host"
)

// setupHost connects the program of an assistant.
func (a *app) setupHost(settings host.Settings) *cobra.Command {
	var o setupOptions
	name := string(settings.Host)
	file := filepath.Join(settings.Dir, settings.File)
	cmd := &cobra.Command{
		Use:   name,
		Short: "have " + name + " run stig hook, named in " + file,
		Long: "setup " + name + " names stig's hooks in " + file + " of the project, or with\n" +
			"--user of the home. Comments, layout, other keys and other programs' hooks keep\n" +
			"their bytes. Where stig is not in PATH the hooks do nothing.",
		Args:    takes(0, 0, "no arguments"),
		Example: "  stig setup " + name + "\n  stig setup " + name + " --user --check",
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := a.settingsFile(settings, o)
			if err != nil {
				return err
			}
			err = a.setup(cmd.Context(), name, &hookSettings{settings, file}, o)
			if err == nil && !o.check && !o.remove && !o.print && !o.dryRun {
				a.hint(settings.Then)
			}
			return err
		},
	}
	a.setupFlags(cmd, &o)
	userFlag(cmd, &o)
	return cmd
}

// settingsFile is where a host reads its settings. Two of them let a variable
// name the directory of the user's.
func (a *core) settingsFile(settings host.Settings, o setupOptions) (hostFile, error) {
	root, err := a.place(o)
	if err != nil {
		return hostFile{}, err
	}
	dir := filepath.Join(root, settings.Dir)
	own := map[host.Host]string{host.Claude: "CLAUDE_CONFIG_DIR", host.Codex: "CODEX_HOME"}[settings.Host]
	if named := a.getenv(own); o.user && own != "" && named != "" {
		dir, root = named, filepath.Dir(named)
	}
	return hostFile{filepath.Join(dir, settings.File), root}, nil
}

// hookSettings is the connection of a host to stig hook.
type hookSettings struct {
	settings host.Settings
	file     hostFile
}

func (h *hookSettings) preview() string {
	return shortest(h.file.path) + ":\n" + h.settings.Whole()
}

func (h *hookSettings) missing(context.Context) ([]string, error) {
	source, err := h.file.read()
	if err != nil {
		return nil, err
	}
	events, err := h.settings.Missing(source)
	return h.named(events), h.located(err)
}

func (h *hookSettings) install(context.Context) ([]setupStep, error) {
	return h.edit(h.settings.Install)
}

func (h *hookSettings) remove(context.Context) ([]setupStep, error) {
	return h.edit(h.settings.Remove)
}

func (h *hookSettings) edit(change func([]byte) ([]byte, []string, error)) ([]setupStep, error) {
	source, err := h.file.read()
	if err != nil {
		return nil, err
	}
	text, events, err := change(source)
	if err != nil {
		return nil, h.located(err)
	}
	return h.file.change(source, text, h.named(events)...), nil
}

// named gives the events with the file they stand in.
func (h *hookSettings) named(events []string) (list []string) {
	for _, event := range events {
		list = append(list, shortest(h.file.path)+": "+event)
	}
	return list
}

// located puts the file before what is wrong in it.
func (h *hookSettings) located(err error) error {
	var bad *host.SettingsError
	if err == nil || !errors.As(err, &bad) {
		return err
	}
	if bad.Hint == "" {
		bad.Hint = "fix the file, or put in by hand what stig setup " + string(h.settings.Host) + " --print shows"
	}
	return fmt.Errorf("%s:%w", shortest(h.file.path), err)
}
