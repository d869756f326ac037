//go:build unix

package sql

import (
	"os"
	"strings"
	"testing"

	"stig/internal/store/mysql"
)

// TestForRefusesOthers: a credentials file that others may read is refused, as ssh refuses such
// a key.
func TestForRefusesOthers(t *testing.T) {
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644, 0o620} {
		path := credentialsFile(t, mode, "mysql://db.example p\n")
		if _, err := LoginFor(mysql.Config{Host: "db.example"}, Given{File: path}); err == nil || !strings.Contains(err.Error(), "others may read it") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	path := credentialsFile(t, 0o400, "mysql://db.example p\n")
	if _, err := LoginFor(mysql.Config{Host: "db.example"}, Given{File: path}); err != nil {
		t.Errorf("mode 400: %v", err)
	}
}
