package setup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"stig/app"
	"stig/fault"
	"stig/host"
)

// Hooks connects the program of an assistant to stig hook.
func Hooks(ctx context.Context, a *app.App, settings host.Settings, o Options) (*Result, error) {
	file, err := settingsFile(a, settings, o)
	if err != nil {
		return nil, err
	}
	r, err := connect(ctx, &hookSettings{settings, file}, o)
	if err == nil {
		r.Obstacles, err = Obstacles(ctx, a, settings, o)
	}
	return r, err
}

// settingsFile is where a host reads its settings. Some let a variable name the
// directory of the user's.
func settingsFile(a *app.App, settings host.Settings, o Options) (app.HostFile, error) {
	root, err := place(a, o)
	if err != nil {
		return app.HostFile{}, err
	}
	dir := filepath.Join(root, settings.Dir)
	if o.User && settings.Variable != "" && a.Getenv(settings.Variable) != "" {
		named := a.Getenv(settings.Variable)
		dir, root = named, filepath.Dir(named)
	}
	return app.HostFile{Path: filepath.Join(dir, settings.File), Root: root}, nil
}

// hookSettings is the connection of a host to stig hook.
type hookSettings struct {
	settings host.Settings
	file     app.HostFile
}

func (h *hookSettings) Preview() string {
	return app.Shortest(h.file.Path) + ":\n" + h.settings.Whole()
}

func (h *hookSettings) Missing(context.Context) ([]string, error) {
	source, err := h.file.Read()
	if err != nil {
		return nil, err
	}
	events, err := h.settings.Missing(source)
	return h.named(events), h.located(err)
}

func (h *hookSettings) Install(context.Context) ([]app.SetupStep, error) {
	return h.edit(h.settings.Install)
}

func (h *hookSettings) Remove(context.Context) ([]app.SetupStep, error) {
	return h.edit(h.settings.Remove)
}

func (h *hookSettings) edit(change func([]byte) ([]byte, []string, error)) ([]app.SetupStep, error) {
	source, err := h.file.Read()
	if err != nil {
		return nil, err
	}
	text, events, err := change(source)
	if err != nil {
		return nil, h.located(err)
	}
	return h.file.Change(source, text, h.named(events)...), nil
}

// named gives the events with the file they stand in.
func (h *hookSettings) named(events []string) (list []string) {
	for _, event := range events {
		list = append(list, app.Shortest(h.file.Path)+": "+event)
	}
	return list
}

// located puts the file before what is wrong in it.
func (h *hookSettings) located(err error) error {
	bad, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	if bad.Hint == "" {
		bad.Hint = "fix the file, or put in by hand what stig setup " + string(h.settings.Host) + " --print shows"
	}
	return fmt.Errorf("%s:%w", app.Shortest(h.file.Path), err)
}
