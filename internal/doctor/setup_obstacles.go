package doctor

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"stig/internal/assistant"
	"stig/internal/file"
	"stig/internal/workspace"
)

// Obstacles returns what keeps a host from running the hooks that setup put into its settings,
// and from starting stig's server. The files are named as in messages.
func Obstacles(ctx context.Context, a *workspace.Run, settings assistant.Settings, o SetupOptions) ([]assistant.Obstacle, error) {
	dir, root, err := hostDir(a, settings, o)
	if err != nil {
		return nil, err
	}
	around := assistant.Surroundings{Hooks: filepath.Join(dir, filepath.FromSlash(settings.File)), Same: sameFile}
	around.Read = func(path string) []byte {
		text, err := file.Read(path)
		if err != nil {
			return nil // an unreadable file tells nothing
		}
		return text
	}
	around.Glob = func(pattern string) []string {
		files, _ := filepath.Glob(pattern) // the patterns are valid
		return files
	}
	if !o.User {
		around.Roots = []string{root}
		if place, err := a.PlaceOf(ctx, root); err == nil && place.Home != "" && place.Home != root {
			around.Roots = append(around.Roots, place.Home)
		}
	}
	if home := a.Getenv("HOME"); filepath.IsAbs(home) {
		around.User = filepath.Join(home, filepath.FromSlash(cmp.Or(settings.Home, settings.Dir)))
	}
	if named := a.Getenv(settings.Variable); settings.Variable != "" && named != "" {
		around.User = named
	}
	list := settings.Obstacles(around)
	for i := range list {
		list[i].File = workspace.Shortest(list[i].File)
	}
	return list, nil
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}
