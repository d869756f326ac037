// Package project reads other projects: repositories with a store of their own that the
// configuration names. List lists them. Edges decides whether a dependency on an issue of one is
// done: only if that issue is closed by a verdict or by a person, and its work is on the
// published branch.
//
// The package writes nothing and reads no configuration of stig; a Host gives it what it needs.
//
//	edges := project.NewEdges(host, place)
//	store = edges.Wrap(store)
package project

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/beads"
	"stig/internal/git"
	"stig/internal/store/jsonl"
)

// Setting is where a project is.
type Setting struct {
	Path   string `json:"path"`   // absolute, once its configuration file is read; may be a glob
	Remote string `json:"remote"` // name or URL; "" for git.Client.Published to choose
}

// Project is a project of the configuration.
type Project struct {
	Name string
	Setting
}

// List returns the projects that are configured, and those in the settings of bd beside a store,
// by name. A glob stands for the directories that it matches and that have a store, each named
// like its directory, or KEY/DIRECTORY if another project has that name. The project of the store
// itself, its other work trees included, is not among what a glob matches. A glob without a match
// is a project with the glob as its path.
func List(configured map[string]Setting, store beads.Place) (list []Project) {
	named := maps.Clone(configured)
	if named == nil {
		named = map[string]Setting{}
	}
	settings, _ := jsonl.ReadTrackerSettings(store.Dir) // without one, bd names no project
	for key, path := range settings {
		name, ok := strings.CutPrefix(key, "external_projects.")
		if _, known := named[name]; !ok || known || path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(store.Dir), path)
		}
		named[name] = Setting{Path: path}
	}
	matched, times := map[string][]string{}, map[string]int{} // directories by key, uses of each name
	seen := []string{repositoryOf(filepath.Dir(store.Dir))}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if path := named[name].Path; !isGlob(path) {
			times[name]++
			seen = append(seen, repositoryOf(path))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(named)) {
		if isGlob(named[key].Path) {
			matched[key] = matches(named[key].Path, &seen)
			for _, dir := range matched[key] {
				times[filepath.Base(dir)]++
			}
		}
	}
	for key, setting := range named {
		for _, dir := range matched[key] {
			name := filepath.Base(dir)
			if times[name] > 1 {
				name = key + "/" + name
			}
			list = append(list, Project{name, Setting{dir, setting.Remote}})
		}
		if matched[key] == nil {
			list = append(list, Project{key, setting})
		}
	}
	slices.SortFunc(list, func(a, b Project) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Around returns the project of a store, and all others that List names, each once. Its own name
// is the configured one, or else that of its directory, with the parent if another has that name.
func Around(configured map[string]Setting, store beads.Place) (here Project, others []Project) {
	dir := git.RealPath(filepath.Dir(store.Dir))
	here = Project{filepath.Base(dir), Setting{Path: dir}}
	own := repositoryOf(dir)
	seen := []string{own}
	for _, p := range List(configured, store) {
		switch repository := repositoryOf(p.Path); {
		case repository == own:
			here.Name = p.Name
		case !slices.Contains(seen, repository):
			seen, others = append(seen, repository), append(others, p)
		}
	}
	if slices.ContainsFunc(others, func(p Project) bool { return p.Name == here.Name }) {
		here.Name = filepath.Base(filepath.Dir(dir)) + "/" + here.Name
	}
	return here, others
}

// isGlob reports whether a path is a glob. The path of an existing directory is none.
func isGlob(path string) bool { return strings.ContainsAny(path, "*?[") && !isThere(path) }

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// matches returns the directories with a store that a glob matches, without those of repositories
// in seen, to which it adds the others. It returns nil if the glob matches none at all.
func matches(glob string, seen *[]string) (dirs []string) {
	found, _ := filepath.Glob(glob) // a malformed glob matches nothing
	for _, dir := range found {
		if !isThere(filepath.Join(dir, beads.DirName)) {
			continue
		}
		if dirs == nil {
			dirs = []string{}
		}
		if repository := repositoryOf(dir); !slices.Contains(*seen, repository) {
			*seen = append(*seen, repository)
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// repositoryOf returns what all work trees of a project share: the directory of git, and the
// path below the work tree. Without git it is the directory.
func repositoryOf(dir string) string {
	dir = git.RealPath(dir)
	tree, err := git.CheckoutOf(dir)
	if err != nil || tree.Root == "" {
		return dir
	}
	below, err := filepath.Rel(tree.Root, dir)
	if err != nil {
		return dir
	}
	return filepath.Join(tree.Common, below)
}
