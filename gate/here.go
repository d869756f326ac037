package gate

import (
	"os"
	"path/filepath"
	"strings"

	"stig/criteria"
	"stig/process"
)

// Here is the Lookup of this machine: words are looked up on PATH, words with
// a slash below root, variables by getenv. Each word is looked up once.
func Here(root string, getenv func(string) string) criteria.Lookup {
	known := map[string]bool{}
	return func(word string) bool {
		found, asked := known[word]
		if !asked {
			found = here(root, getenv, word)
			known[word] = found
		}
		return found
	}
}

func here(root string, getenv func(string) string, word string) bool {
	if name, ok := strings.CutPrefix(word, "$"); ok {
		return getenv(name) != ""
	}
	if !strings.Contains(word, "/") {
		_, err := process.Find(word)
		return err == nil
	}
	path := filepath.FromSlash(word)
	if !filepath.IsAbs(path) {
		path = filepath.Join(root, path)
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
