package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/assistant"
	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/workspace"
)

// SetupHost connects an assistant's program to stig: hooks, stig mcp if its settings name
// servers, and the skill.
func SetupHost(ctx context.Context, a *workspace.Run, settings assistant.Settings, o SetupOptions) (*SetupResult, error) {
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
	skills, err := skillFiles(a, settings, o)
	if err != nil {
		return nil, err
	}
	if !o.Remove || !sharesSkill(a, settings, o) {
		files = append(files, skills...)
	}
	warnOffPath(a, o, "the hooks do nothing")
	r, err := connect(ctx, files, o)
	if err != nil || o.Remove || o.Print {
		return r, err
	}
	r.Orders = Orders(a)
	if r.Obstacles, err = Obstacles(ctx, a, settings, o); err == nil {
		r.Next = nextOf(a, settings, o, r.Obstacles)
	}
	return r, err
}

// nextOf returns what a person does after a host was connected.
func nextOf(a *workspace.Run, settings assistant.Settings, o SetupOptions, obstacles []assistant.Obstacle) string {
	do, where := []string{}, "here"
	if o.User {
		where = "in a project"
	}
	for _, obstacle := range obstacles {
		do = append(do, obstacle.Do)
	}
	if _, err := a.Discover(); !o.User && errors.Is(err, beads.ErrAbsent) {
		do = append(do, "stig init")
	}
	return cmp.Or(strings.Join(do, "; "), "start "+string(settings.Host)+" "+where+" and say: take the next issue")
}

// skillFiles returns the files in which a host reads the skill, below a project or a home.
func skillFiles(a *workspace.Run, settings assistant.Settings, o SetupOptions) (files hostFiles, err error) {
	root, err := place(a, o)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(root, filepath.FromSlash(settings.Skills))
	if top, rest, _ := strings.Cut(settings.Skills, "/"); top == settings.Dir {
		if dir, root, err = hostDir(a, settings, o); err != nil {
			return nil, err
		}
		dir = filepath.Join(dir, filepath.FromSlash(rest))
	}
	for _, skill := range assistant.SkillFiles(o.Force) {
		file := workspace.HostFile{Path: filepath.Join(dir, skill.Name, "SKILL.md"), Root: root}
		files = append(files, hostFile{settings.Host, skill, file})
	}
	return files, nil
}

// sharesSkill reports whether another connected host reads the skill in the same place.
func sharesSkill(a *workspace.Run, settings assistant.Settings, o SetupOptions) bool {
	return slices.ContainsFunc(assistant.AllSettings(), func(other assistant.Settings) bool {
		if other.Host == settings.Host || other.Skills != settings.Skills {
			return false
		}
		dir, root, err := hostDir(a, other, o)
		if err != nil {
			return false
		}
		text, err := workspace.HostFile{Path: filepath.Join(dir, filepath.FromSlash(other.File)), Root: root}.Read()
		missing, unread := other.Missing(text)
		return err == nil && unread == nil && len(missing) == 0
	})
}

// SetupSkill puts only the skill where the named readers look for skills, or where all of them
// do if none is named.
func SetupSkill(ctx context.Context, a *workspace.Run, readers []string, o SetupOptions) (*SetupResult, error) {
	var files hostFiles
	var known []string
	for _, dir := range assistant.SkillDirs() {
		known = append(known, dir.Reader)
		if len(readers) > 0 && !slices.Contains(readers, dir.Reader) {
			continue
		}
		skills, err := skillFiles(a, dir.Host.Settings(), o)
		if err != nil {
			return nil, err
		}
		files = append(files, skills...)
	}
	for _, name := range readers {
		if !slices.Contains(known, name) {
			return nil, workspace.Usage(fmt.Sprintf("must be one of %s; found %q", strings.Join(known, ", "), name), "")
		}
	}
	return connect(ctx, files, o)
}

// hostDir returns the directory where a host reads its settings, and the root above it. A
// variable may name the user's directory.
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

// entries is what stig keeps in a file of a host: hooks, a plugin, a server, or the skill.
type entries interface {
	Use() string
	Missing(source []byte) ([]string, error)
	Install(source []byte) ([]byte, []string, error)
	Remove(source []byte) ([]byte, []string, error)
	Whole() string
}

// hostFile is a file of a host that contains entries of stig.
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
		for _, step := range h.file.Change(source, text, h.named(changed)...) {
			step.Use = workspace.Shortest(h.file.Path) + ": " + h.entries.Use()
			steps = append(steps, step)
		}
	}
	return steps, nil
}

// named returns what changed, each with the file that contains it.
func (h hostFile) named(changed []string) (list []string) {
	for _, name := range changed {
		list = append(list, workspace.Shortest(h.file.Path)+": "+name)
	}
	return list
}

// located puts the file before the error, and adds a hint if there is none.
func (h hostFile) located(err error) error {
	bad, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err
	}
	if bad.Hint == "" {
		bad.Hint = "fix the file, or add by hand what stig setup " + string(h.host) + " --print shows"
	}
	return fmt.Errorf("%s:%w", workspace.Shortest(h.file.Path), err)
}
