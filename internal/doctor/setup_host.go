package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"stig/internal/assistant"
	"stig/internal/fault"
	"stig/internal/workspace"
)

// SetupHooks connects the program of an assistant to stig hook, and to stig mcp where its
// settings name servers.
func SetupHooks(ctx context.Context, a *workspace.Run, settings assistant.Settings, o SetupOptions) (*SetupResult, error) {
	dir, root, err := hostDir(a, settings, o)
	if err != nil {
		return nil, err
	}
	file := workspace.HostFile{Path: filepath.Join(dir, filepath.FromSlash(settings.File)), Root: root}
	files := hostFiles{{settings.Host, settings, file}}
	servers, below := settings.Servers, root
	if o.User {
		servers, below = settings.HomeServers, dir
	}
	for _, s := range servers {
		file.Path = filepath.Join(below, filepath.FromSlash(s.Path))
		files = append(files, hostFile{settings.Host, s, file})
	}
	warnOffPath(a, o, "the hooks do nothing")
	r, err := connect(ctx, files, o)
	if err == nil {
		r.Obstacles, err = Obstacles(ctx, a, settings, o)
	}
	return r, err
}

// hostDir is the directory where a host reads its settings, below a root. Some let a
// variable name the directory of the user's.
func hostDir(a *workspace.Run, settings assistant.Settings, o SetupOptions) (dir, root string, err error) {
	if root, err = place(a, o); err != nil {
		return "", "", err
	}
	switch {
	case o.User && settings.Variable != "" && a.Getenv(settings.Variable) != "":
		if dir = a.Getenv(settings.Variable); !filepath.IsAbs(dir) {
			return "", "", workspace.Usage(fmt.Sprintf("%s: must be an absolute path; found %q", settings.Variable, dir), "set it, or leave out --user")
		}
		root = filepath.Dir(dir)
	case o.User:
		dir = filepath.Join(root, filepath.FromSlash(cmp.Or(settings.Home, settings.Dir)))
	default:
		dir = filepath.Join(root, settings.Dir)
	}
	return dir, root, nil
}

// entries are what stig keeps in a file of a host: hooks, a plugin, or a server.
type entries interface {
	Missing(source []byte) ([]string, error)
	Install(source []byte) ([]byte, []string, error)
	Remove(source []byte) ([]byte, []string, error)
	Whole() string
}

// hostFile is one file of a host with stig's entries in it.
type hostFile struct {
	host    assistant.Host
	entries entries
	file    workspace.HostFile
}

// hostFiles is the connection of a host to stig.
type hostFiles []hostFile

func (all hostFiles) Preview() string {
	text := ""
	for _, h := range all {
		text += workspace.Shortest(h.file.Path) + ":\n" + h.entries.Whole()
	}
	return text
}

func (all hostFiles) Missing(context.Context) (list []string, err error) {
	for _, h := range all {
		source, err := h.file.Read()
		if err != nil {
			return nil, err
		}
		missing, err := h.entries.Missing(source)
		if err != nil {
			return nil, h.located(err)
		}
		list = append(list, h.named(missing)...)
	}
	return list, nil
}

func (all hostFiles) Install(context.Context) ([]workspace.SetupStep, error) {
	return all.edit(entries.Install)
}

func (all hostFiles) Remove(context.Context) ([]workspace.SetupStep, error) {
	return all.edit(entries.Remove)
}

func (all hostFiles) edit(change func(entries, []byte) ([]byte, []string, error)) (steps []workspace.SetupStep, err error) {
	for _, h := range all {
		source, err := h.file.Read()
		if err != nil {
			return nil, err
		}
		text, changed, err := change(h.entries, source)
		if err != nil {
			return nil, h.located(err)
		}
		steps = append(steps, h.file.Change(source, text, h.named(changed)...)...)
	}
	return steps, nil
}

// named gives what changed with the file it stands in.
func (h hostFile) named(changed []string) (list []string) {
	for _, name := range changed {
		list = append(list, workspace.Shortest(h.file.Path)+": "+name)
	}
	return list
}

// located puts the file before what is wrong in it.
func (h hostFile) located(err error) error {
	bad, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	if bad.Hint == "" {
		bad.Hint = "fix the file, or put in by hand what stig setup " + string(h.host) + " --print shows"
	}
	return fmt.Errorf("%s:%w", workspace.Shortest(h.file.Path), err)
}
