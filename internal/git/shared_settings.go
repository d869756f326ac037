package git

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/visible"
)

// decisive are the settings that decide who commits or what runs: the first and the last part
// of a key, with an optional name between.
var decisive = []struct{ first, last string }{
	{"user", ""}, {"core", "hookspath"}, {"core", "sshcommand"}, {"core", "fsmonitor"}, {"url", ""},
	{"remote", "url"}, {"remote", "pushurl"}, {"filter", ""}, {"alias", ""}, {"include", ""}, {"includeif", ""},
}

// isDecisive reports whether stig restores a setting.
func isDecisive(key string) bool {
	first, last := key[:strings.IndexByte(key+".", '.')], key[strings.LastIndexByte(key, '.')+1:]
	return slices.ContainsFunc(decisive, func(d struct{ first, last string }) bool {
		return d.first == first && (d.last == "" || d.last == last)
	})
}

// GlobalConfig stands for the files with the user's settings for all repositories. Changes to
// them are reported, never undone: they are not files of the repository.
const GlobalConfig = "global"

// configs are the files of settings, by their names in changes, with paths.
func (w *Watch) configs() (files [][2]string) {
	for _, name := range []string{"config", ownConfig} {
		files = append(files, [2]string{name, filepath.Join(w.At.Common, name)})
	}
	env := map[string]string{}
	for _, set := range w.Git.Env {
		name, value, _ := strings.Cut(set, "=")
		env[name] = value
	}
	if one := env["GIT_CONFIG_GLOBAL"]; one != "" {
		return append(files, [2]string{GlobalConfig, one})
	}
	home := env["HOME"]
	for _, path := range []string{
		filepath.Join(cmp.Or(env["XDG_CONFIG_HOME"], filepath.Join(home, ".config")), "git", "config"),
		filepath.Join(home, ".gitconfig"),
	} {
		if filepath.IsAbs(path) {
			files = append(files, [2]string{GlobalConfig, path})
		}
	}
	return files
}

// settings reads the configuration of the repository, that of the main work tree, and the
// user's.
func (w *Watch) settings(ctx context.Context) (map[string][]string, error) {
	all, read := map[string][]string{}, map[string]map[string][]string{}
	for _, file := range w.configs() {
		name, path := file[0], file[1]
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		set, known := w.read[string(text)]
		if err == nil && !known {
			set, err = w.git().settings(ctx, path)
		}
		if err != nil {
			return nil, err
		}
		read[string(text)] = set
		for key, values := range set {
			all[name+"/"+key] = append(slices.Clone(all[name+"/"+key]), values...)
		}
	}
	w.read = read
	return all, nil
}

// settings reads a git configuration file without its includes: values in order, by key.
func (g Client) settings(ctx context.Context, path string) (map[string][]string, error) {
	text, err := g.Must(ctx, "config", "--file", path, "--no-includes", "--list", "--null")
	set := map[string][]string{}
	for one := range strings.SplitSeq(text, "\x00") {
		if key, value, _ := strings.Cut(one, "\n"); key != "" {
			set[key] = append(set[key], value)
		}
	}
	return set, err
}

func settingChanges(was, now Shared) (list []SharedChange) {
	differing(was.Settings, now.Settings, func(name string, a, b []string) {
		file, key, _ := strings.Cut(name, "/")
		list = append(list, SharedChange{Kind: SharedSetting, Name: key, In: file, Was: shownValues(key, a), Now: shownValues(key, b)})
	})
	return list
}

// shownValues are the values of a setting without credentials.
func shownValues(key string, values []string) string {
	if strings.HasPrefix(key, "credential.") || strings.HasSuffix(key, ".extraheader") {
		if len(values) > 0 {
			return "[a credential, omitted]"
		}
	}
	var shown []string
	for _, value := range values {
		if scheme, rest, ok := strings.Cut(value, "://"); ok {
			if user, host, ok := strings.Cut(rest, "@"); ok && !strings.Contains(user, "/") {
				value = scheme + "://[omitted]@" + host
			}
		}
		shown = append(shown, visible.OneLine(visible.HideSecrets(value)))
	}
	return strings.Join(shown, ", ")
}

// UndoSettings restores the settings that decide who commits or what runs to an earlier look,
// if they still have the values of a later one, and marks them in the changes.
func (w *Watch) UndoSettings(ctx context.Context, was, now Shared, list []SharedChange) error {
	var is map[string][]string
	for i, c := range list {
		if c.Kind != SharedSetting || c.In == GlobalConfig || !isDecisive(c.Name) {
			continue
		}
		if is == nil {
			var err error
			if is, err = w.settings(ctx); err != nil {
				return err
			}
		}
		name := c.In + "/" + c.Name
		switch {
		case slices.Equal(is[name], was.Settings[name]): // a killed loop did
		case !slices.Equal(is[name], now.Settings[name]):
			continue // somebody changed it meanwhile
		default:
			if err := w.set(ctx, c, now.Settings[name], was.Settings[name]); err != nil {
				return err
			}
		}
		list[i].Back = true
	}
	return nil
}

// set replaces the values of a setting.
func (w *Watch) set(ctx context.Context, c SharedChange, has, values []string) error {
	config := []string{"config", "--file", filepath.Join(w.At.Common, c.In)}
	if len(has) == 1 && len(values) == 1 { // stays in its line
		_, err := w.git().Must(ctx, append(config, c.Name, values[0])...)
		return err
	}
	if len(has) > 0 {
		if _, err := w.git().Must(ctx, append(config, "--unset-all", c.Name)...); err != nil {
			return err
		}
	}
	for _, value := range values {
		if _, err := w.git().Must(ctx, append(config, "--add", c.Name, value)...); err != nil {
			return err
		}
	}
	return nil
}

// Restore updates a look by what was restored since, so that later comparisons do not report
// it. It reports whether the look changes.
func (s *Shared) Restore(was, now Shared, list []SharedChange) (changed bool) {
	for _, c := range list {
		name := c.In + "/" + c.Name
		if c.Kind != SharedSetting || !c.Back || !slices.Equal(s.Settings[name], now.Settings[name]) {
			continue
		}
		changed = true
		if delete(s.Settings, name); was.Settings[name] != nil {
			s.Settings[name] = was.Settings[name]
		}
	}
	return changed
}

// KeepStash preserves a stash that is gone from the list by a reference, and returns its name.
func (w *Watch) KeepStash(ctx context.Context, commit string) (ref string, err error) {
	ref = StashRefs + commit
	_, err = w.git().Must(ctx, "update-ref", "--create-reflog", "-m", "stig: keep a stash that is gone from the list", ref, commit)
	return ref, err
}

// ForgetStashes removes the references of stashes that are back in the list.
func (w *Watch) ForgetStashes(ctx context.Context) error {
	kept, err := w.git().Must(ctx, "for-each-ref", "--format=%(refname)", StashRefs)
	if err != nil || kept == "" {
		return err
	}
	listed, err := w.stashes(ctx)
	for _, ref := range strings.Fields(kept) {
		if err == nil && slices.Contains(listed, strings.TrimPrefix(ref, StashRefs)) {
			_, err = w.git().Must(ctx, "update-ref", "-d", ref)
		}
	}
	return err
}

// StashRefs begins the references that preserve stashes.
const StashRefs = "refs/" + namespace + "/stash/"
