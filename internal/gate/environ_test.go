package gate

import "testing"

// Names that only look like credentials: the shell's directory, and words that contain a part
// of a pattern.
func TestNoCredential(t *testing.T) {
	for _, name := range []string{"PWD", "OLDPWD", "PATH", "MANPATH", "AUTHOR", "GIT_AUTHOR_NAME", "KEYBOARD", "KEY_ID", "COMPASS_URL", "PATTERN"} {
		if isCredential(name) {
			t.Errorf("%s is taken for a credential", name)
		}
	}
}
