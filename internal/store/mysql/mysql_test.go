package mysql_test

import (
	"testing"

	"stig/internal/store/mysql"
)

func TestParseURL(t *testing.T) {
	for _, test := range []struct {
		url, database, wrong string
	}{
		{"mysql://mara@db.example:3306/harbor", "harbor", ""},
		{"mysql://db.example/harbor/side", "harbor/side", ""},
		{"mysql://db.example/harbor/feature/lamp", "harbor/feature/lamp", ""},
		{"mysql://db.example/", "", "must name one database: mysql://USER@HOST:PORT/DATABASE"},
		{"mysql://db.example/harbor//side", "", "must name one database: mysql://USER@HOST:PORT/DATABASE"},
		{"mysql://mara:secret@db.example/harbor", "", "must not contain a password"},
		{"mysql://db.example:0/harbor", "", `port "0" must be a number from 1 to 65535`},
		{"http://db.example/harbor", "", "must read mysql://USER@HOST:PORT/DATABASE"},
		{"mysql://mara@[fe80::1]/harbor", "harbor", ""},
		{"mysql://mara@[::1]:3307/harbor", "harbor", ""},
		{"mysql://mara:se%zzcret@db.example/harbor", "", "must not contain a password"},
		{"mysql://mara:se@cret@db.example/harbor", "", "must not contain a password"},
		{"mysql://mara:se/cret@db.example/harbor", "", "must not contain a password"},
		{"mysql://db.example:3306/harbor/lamp@2", "harbor/lamp@2", ""},
		{"mysql://db.example/harbor?user=mara&Password=secret", "", "must not contain a password"},
		{"jdbc:mysql://mara:secret@db.example/harbor", "", "must not contain a password"},
		{"mysql:///mara:secret@db.example/harbor", "", "must not contain a password"},
		{"mara:secret@tcp(db.example:3306)/harbor", "", "must not contain a password"},
		{"mysql:///harbor@2", "", "must read mysql://USER@HOST:PORT/DATABASE"},
		{"mysql://mara:@db.example/harbor", "", "must not contain a password"},
		{"mysql://db.example/harbor?tls=off", "", "takes no parameters; tls and ca are keys of .beads/stig.json"},
		{"mysql://db.example/harbor?", "", "takes no parameters; tls and ca are keys of .beads/stig.json"},
		{"mysql://db.example/harbor#side", "", "takes no parameters; tls and ca are keys of .beads/stig.json"},
		{"mysql://db.example/harbor%00", "", "must name one database: mysql://USER@HOST:PORT/DATABASE"},
		{"mysql://db.example:-1/harbor", "", "must read mysql://USER@HOST:PORT/DATABASE"},
		{"mysql://mara@a.example:3306,b.example:3307/harbor", "harbor", ""},
		{"mysql://a.example:3306,[fe80::1]:3306/harbor/side", "harbor/side", ""},
		{"mysql://mara@a.example,b.example/harbor", "harbor", ""},
		{"mysql://mara:secret@a.example,b.example/harbor", "", "must not contain a password"},
		{"mysql://a.example,mara:secret@b.example/harbor", "", "must not contain a password"},
		{"mysql://a.example,,b.example/harbor", "", "must read mysql://USER@HOST:PORT/DATABASE"},
		{"mysql://a.example,b.example:0/harbor", "", `port "0" must be a number from 1 to 65535`},
		{"mysql://unix(/run/mysqld/mysqld.sock)/harbor", "", "must read mysql://USER@HOST:PORT/DATABASE"},
	} {
		c, err := mysql.ParseURL(test.url)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if c.Database != test.database || said != test.wrong {
			t.Errorf("%s: got %q, %q", test.url, c.Database, said)
		}
		if said == "" && c.URL() != test.url {
			t.Errorf("%s: named %s", test.url, c.URL())
		}
	}
}

// TestPortOfAll: a port after the last host is that of all which have none.
func TestPortOfAll(t *testing.T) {
	c, err := mysql.ParseURL("mysql://mara@a.example,b.example:3308,c.example:3307/harbor")
	if want := "mysql://mara@a.example:3307,b.example:3308,c.example:3307/harbor"; err != nil || c.URL() != want {
		t.Errorf("%s, %v; want %s", c.URL(), err, want)
	}
}
