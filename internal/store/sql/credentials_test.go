package sql

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stig/internal/store/mysql"
)

func credentialsFile(t *testing.T, mode os.FileMode, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFor: the first matching line of the file applies; a host that only begins with the same
// letters does not match.
func TestFor(t *testing.T) {
	path := credentialsFile(t, 0o600, `# of the team
mysql://mara@db.example.org:3307/harbor  other port
mysql://robin@db.example.org/harbor robin's password
mysql://db.example.org/quay of the quay

mysql://mara@db.example.org	 mara's
mysql://mara@db.example wrong host
`)
	for _, c := range []struct {
		url   string
		given Given
		want  Login // From without the path
	}{
		{"mysql://mara@db.example.org/harbor", Given{}, Login{"mara", "mara's", ":6"}},
		{"mysql://mara@DB.example.org:3306/harbor", Given{}, Login{"mara", "mara's", ":6"}},
		{"mysql://mara@db.example.org:3307/harbor", Given{}, Login{"mara", "other port", ":2"}},
		{"mysql://robin@db.example.org/harbor", Given{}, Login{"robin", "robin's password", ":3"}},
		{"mysql://db.example.org/harbor", Given{}, Login{"robin", "robin's password", ":3"}},
		{"mysql://db.example.org/harbor", Given{User: "mara"}, Login{"mara", "mara's", ":6"}},
		{"mysql://mara@db.example.org/harbor", Given{User: "robin"}, Login{"mara", "mara's", ":6"}},
		{"mysql://anyone@db.example.org/quay", Given{}, Login{"anyone", "of the quay", ":4"}},
		{"mysql://mara@db.example.org/harbor", Given{Password: "set"}, Login{"mara", "set", PasswordVariable}},
		{"mysql://db.example.org/harbor", Given{Password: "set"}, Login{"robin", "set", PasswordVariable}},
		{"mysql://anyone@db.example.org/quay/side", Given{}, Login{"anyone", "of the quay", ":4"}}, // a branch of it
		{"mysql://mara@db.example.org.evil.example/harbor", Given{}, Login{"mara", "", ""}},
		{"mysql://nobody@db.example.org/harbor", Given{}, Login{"nobody", "", ""}},
	} {
		config, err := mysql.ParseURL(c.url)
		if err != nil {
			t.Fatal(err)
		}
		c.given.File = path
		got, err := LoginFor(config, c.given)
		got.From = strings.TrimPrefix(got.From, path)
		if err != nil || got != c.want {
			t.Errorf("%s %+v\n got %+v, %v\nwant %+v", c.url, c.given, got, err, c.want)
		}
	}
}

// TestForRefuses: errors name the file and line, and quote nothing of a line, which may contain
// a password.
func TestForRefuses(t *testing.T) {
	for _, c := range []struct{ text, err string }{
		{"\nhunter2\n", ":2: must begin with mysql://"},
		{"mysql://mara:hunter2@db.example/harbor", ":1: the password must follow the URL"},
		{"mysql://mara@db.example/harbor", ":1: has no password after the URL"},
		{"mysql:///harbor hunter2", ":1: must begin with mysql:// and a host"},
	} {
		path := credentialsFile(t, 0o600, c.text)
		_, err := LoginFor(mysql.Config{Host: "db.example", User: "mara", Database: "harbor"}, Given{File: path})
		if err == nil || !strings.Contains(err.Error(), path+c.err) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q\n got %v\nwant %s", c.text, err, c.err)
		}
	}
	if _, err := LoginFor(mysql.Config{Host: "db.example", Database: "harbor"}, Given{File: filepath.Join(t.TempDir(), "none")}); err != nil {
		t.Errorf("no file: %v", err)
	}
}
