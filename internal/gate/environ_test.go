package gate

import "testing"

// Names that look like credentials and are none: where the shell is, and words
// that hold a part of a pattern.
func TestNoCredential(t *testing.T) {
	for _, name := range []string{"PWD", "OLDPWD", "PATH", "MANPATH", "AUTHOR", "GIT_AUTHOR_NAME", "KEYBOARD", "KEY_ID", "COMPASS_URL", "PATTERN"} {
		if isCredential(name) {
			t.Errorf("%s is taken for a credential", name)
		}
	}
}
