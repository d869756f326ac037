package git

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stig/internal/file"
	"stig/internal/visible"
)

// Leave says which new files are not work, besides those that are never committed: credentials,
// dependencies, large files and repositories.
type Leave struct {
	Allow []string               // globs of files that are committed in any case, as for AllowsFile
	Own   func(path string) bool // files of assistants' own programs; nil for none
}

// LeftOut is a new file that is not committed, or a whole directory, with a slash at its end.
type LeftOut struct {
	Path string // from the top of the work tree, with slashes
	Why  string // such as "a key file"
}

func (l LeftOut) String() string { return l.Path + " (" + l.Why + ")" }

// mostSize is the maximum size of a new file to commit, in bytes.
const mostSize = 5 << 20

// AllowsFile reports whether one of the globs, in path.Match syntax, matches a path from the
// top or a directory above it; one without a slash matches any name in the path.
func AllowsFile(globs []string, name string) bool {
	for _, glob := range globs {
		plain := strings.Trim(glob, "/")
		for at := strings.Trim(name, "/"); at != "."; at = path.Dir(at) {
			whole, _ := path.Match(plain, at) // an invalid one matches nothing, and is rejected when it is read
			last, _ := path.Match(plain, path.Base(at))
			if whole || last && !strings.Contains(plain, "/") {
				return true
			}
		}
	}
	return false
}

// omitted lists which files missing from HEAD's commit are left out of a commit: a dependency
// folder as one, unless something in it is allowed.
func (t *Worktree) omitted(ctx context.Context, fresh []string) (left []LeftOut, err error) {
	known, large := map[string]string{}, []string{}
	allowed := map[string]bool{} // and the folders that contain them
	for _, name := range fresh {
		if AllowsFile(t.repo.leave.Allow, name) {
			for name := strings.TrimSuffix(name, "/"); name != "."; name = path.Dir(name) {
				allowed[name] = true
			}
		}
	}
	for _, name := range fresh {
		folder, why := t.dependencies(ctx, name, known)
		switch info, err := os.Lstat(t.at(name)); {
		case allowed[strings.TrimSuffix(name, "/")]:
		case why != "" && !allowed[strings.TrimSuffix(folder, "/")]:
			left = append(left, LeftOut{folder, why})
		case why != "":
			left = append(left, LeftOut{name, why})
		case t.noWork(name) != "":
			left = append(left, LeftOut{name, t.noWork(name)})
		case err == nil && info.Mode().IsRegular() && info.Size() > mostSize:
			large = append(large, name)
		}
	}
	kept, err := t.filtered(ctx, large)
	for _, name := range large {
		if !kept[name] {
			left = append(left, LeftOut{name, "larger than 5 MB"})
		}
	}
	return slices.Compact(left), err
}

// at is the location of a file of the work tree.
func (t *Worktree) at(name string) string { return filepath.Join(t.Dir, filepath.FromSlash(name)) }

// dependencyFolders are filled by package managers and never committed. A vendor folder is one
// if Composer or Bundler made it: Go's is meant to be committed.
var dependencyFolders = []string{"node_modules", "bower_components", "jspm_packages", ".venv", "venv", "__pypackages__", ".tox", ".nox"}

// dependencies returns the outermost dependency folder that contains a new file, unless HEAD's
// commit has that folder; known caches results.
func (t *Worktree) dependencies(ctx context.Context, name string, known map[string]string) (folder, why string) {
	for i, c := range name {
		if c != '/' || i == len(name)-1 {
			continue
		}
		folder = name[:i+1]
		why, seen := known[folder]
		if base := path.Base(folder); !seen {
			switch {
			case slices.Contains(dependencyFolders, base), isThere(t.at(folder + "pyvenv.cfg")),
				base == "vendor" && (isThere(t.at(folder+"autoload.php")) || isThere(t.at(folder+"bundle"))):
				if had, err := t.git().Run(ctx, "rev-parse", "--quiet", "--verify", "HEAD:"+strings.TrimSuffix(folder, "/")); err == nil && had.Exit != 0 {
					why = "dependencies"
				}
			}
			known[folder] = why
		}
		if why != "" {
			return folder, why
		}
	}
	return "", ""
}

// keyFiles are globs of names of files with keys or passwords.
var keyFiles = []string{
	"id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore",
	"*.ppk", "*.kdbx", ".netrc", "_netrc", ".pgpass", ".git-credentials", ".htpasswd",
}

// noWork returns why a new file is not work, by name alone except for settings of package
// managers, which often contain a token; "" if it may be work.
func (t *Worktree) noWork(name string) string {
	base := strings.ToLower(path.Base(name))
	isSample := slices.ContainsFunc([]string{".example", ".sample", ".template"}, func(end string) bool { return strings.HasSuffix(base, end) })
	isKey := slices.ContainsFunc(keyFiles, func(glob string) bool { is, _ := path.Match(glob, base); return is })
	switch {
	case strings.HasSuffix(name, "/"):
		return "a repository of its own"
	case strings.HasPrefix(base, ".env") && !isSample:
		return "settings of an environment"
	case isKey, (base == ".npmrc" || base == ".yarnrc.yml" || base == ".pypirc") && holdsToken(t.at(name)):
		return "a key file"
	case t.repo.leave.Own != nil && t.repo.leave.Own(name):
		return "of an assistant's program"
	}
	return ""
}

// holdsToken reports whether the settings of a package manager contain a credential.
func holdsToken(full string) bool {
	text, err := file.Read(full)
	lower := strings.ToLower(string(text))
	return err != nil || visible.HoldsSecret(string(text)) || strings.Contains(lower, "_auth") || strings.Contains(lower, "authtoken") || strings.Contains(lower, "password")
}

// filtered reports which files git stores in another form, for example in LFS.
func (t *Worktree) filtered(ctx context.Context, names []string) (map[string]bool, error) {
	kept := map[string]bool{}
	if len(names) == 0 {
		return kept, nil
	}
	said, err := t.git().mustRun(ctx, []byte(strings.Join(names, "\x00")+"\x00"), nil, "check-attr", "-z", "--stdin", "filter")
	fields := strings.Split(said, "\x00") // path, attribute, value
	for i := 0; i+2 < len(fields); i += 3 {
		kept[fields[i]] = fields[i+2] != "unspecified" && fields[i+2] != "unset"
	}
	return kept, err
}

// MoveOut moves what was left out of a commit from the work tree to a private directory, under
// the same path. Repeated after a kill it moves the rest.
func (t *Worktree) MoveOut(left []LeftOut, to string) (err error) {
	for _, l := range left {
		name := strings.TrimSuffix(l.Path, "/")
		err = errors.Join(err, move(t.at(name), filepath.Join(to, filepath.FromSlash(name))))
		for dir := filepath.Dir(t.at(name)); dir != t.Dir && os.Remove(dir) == nil; { // only if it is empty
			dir = filepath.Dir(dir)
		}
	}
	return err
}

// move moves a file or a whole directory, also to another file system. Existing files of a
// directory stay.
func move(from, to string) error {
	info, err := os.Lstat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was moved before a kill
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		if err := os.Chmod(from, 0o600); err != nil {
			return err
		}
	}
	if !info.IsDir() || !isThere(to) {
		if os.Rename(from, to) == nil {
			return nil
		}
	}
	switch {
	case info.IsDir():
		return moveFolder(from, to)
	case info.Mode().IsRegular():
		err = copyOut(from, to)
	case info.Mode()&fs.ModeSymlink != 0:
		var link string
		if link, err = os.Readlink(from); err == nil {
			_ = os.Remove(to)
			err = os.Symlink(link, to)
		}
	} // sockets and pipes are dropped
	if err != nil {
		return err
	}
	return os.Remove(from)
}

// moveFolder moves the files in a directory one by one, then the directory.
func moveFolder(from, to string) error {
	entries, err := os.ReadDir(from)
	if err == nil {
		err = os.MkdirAll(to, 0o700)
	}
	for _, e := range entries {
		if err == nil {
			err = move(filepath.Join(from, e.Name()), filepath.Join(to, e.Name()))
		}
	}
	if err != nil {
		return err
	}
	return os.Remove(from)
}

// copyOut copies a file under its final name only when it is complete.
func copyOut(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to+".unfinished", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Sync(), out.Close()); err == nil {
		err = os.Rename(out.Name(), to)
	}
	return err
}
