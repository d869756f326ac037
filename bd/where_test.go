package bd

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"stig/beads"
	"stig/mysql"
)

// The database is found as bd 1.0.5 finds it: the environment first, then the file of
// the port, metadata.json and config.yaml.
func TestLocate(t *testing.T) {
	const onServer = `{"backend":"dolt","dolt_mode":"server","dolt_server_host":"db.example","dolt_server_port":3310,"dolt_server_user":"mara","dolt_database":"harbor"}`
	for _, c := range []struct {
		name  string
		files map[string]string
		env   map[string]string
		want  Database
	}{
		{"embedded", map[string]string{"metadata.json": `{"backend":"dolt","dolt_mode":"embedded","dolt_database":"harbor"}`}, nil,
			Database{topology: topologyEmbedded, Name: "harbor", Files: "DIR/embeddeddolt/harbor"}},
		{"embedded without metadata", nil, nil, Database{topology: topologyEmbedded, Name: "beads", Files: "DIR/embeddeddolt/beads"}},
		{"a proxied server", map[string]string{"metadata.json": `{"backend":"dolt","dolt_mode":"proxied-server","dolt_database":"harbor"}`}, nil,
			Database{topology: topologyThrough, Name: "harbor", Files: "proxied-server"}},
		{"a server by metadata", map[string]string{"metadata.json": onServer}, nil,
			Database{topology: topologyServer, Name: "harbor", Server: mysql.Config{Host: "db.example", Port: 3310, User: "mara", Database: "harbor", Plain: true}}},
		{"the file of the port", map[string]string{"metadata.json": onServer, "dolt-server.port": "3311\n", "config.yaml": "dolt.port: 3312"}, nil,
			Database{topology: topologyServer, Name: "harbor", Server: mysql.Config{Host: "db.example", Port: 3311, User: "mara", Database: "harbor", Plain: true}}},
		{"config.yaml", map[string]string{"metadata.json": `{"dolt_mode":"Server"}`, "config.yaml": "x: 1\ndolt:\n  host: \"here.example\" # ours\n  port: 3312\nissue-prefix: h\n"}, nil,
			Database{topology: topologyServer, Name: "beads", Server: mysql.Config{Host: "here.example", Port: 3312, User: "root", Database: "beads", Plain: true}}},
		{"the environment", map[string]string{"metadata.json": onServer, "dolt-server.port": "3311"}, map[string]string{
			"BEADS_DOLT_SERVER_HOST": "127.0.0.1", "BEADS_DOLT_SERVER_PORT": "1", "BEADS_DOLT_SERVER_USER": "bo", "BEADS_DOLT_SERVER_DATABASE": "quay",
			"BEADS_DOLT_PASSWORD": "dory", "BEADS_DOLT_SERVER_TLS": "true", "BEADS_DOLT_SERVER_SOCKET": "/run/dolt.sock"},
			Database{topology: topologyServer, Name: "quay", Server: mysql.Config{Host: "127.0.0.1", Port: 1, Socket: "/run/dolt.sock", User: "bo", Password: "dory", Database: "quay"}}},
		{"credentials", map[string]string{"metadata.json": onServer, "keys": "[db.example:3307]\npassword=no\n[db.example:3310] # ours\n password = dory # so\n"},
			map[string]string{"BEADS_CREDENTIALS_FILE": "DIR/keys"},
			Database{topology: topologyServer, Name: "harbor", Server: mysql.Config{Host: "db.example", Port: 3310, User: "mara", Password: "dory", Database: "harbor", Plain: true}}},
		{".env", map[string]string{"metadata.json": onServer, ".env": "# ours\nexport BEADS_DOLT_PASSWORD='dory'\nBEADS_DOLT_SERVER_PORT=9\n"}, map[string]string{"BEADS_DOLT_SERVER_PORT": "8"},
			Database{topology: topologyServer, Name: "harbor", Server: mysql.Config{Host: "db.example", Port: 8, User: "mara", Password: "dory", Database: "harbor", Plain: true}}},
		{"a shared server", map[string]string{"metadata.json": `{"dolt_database":"harbor"}`}, map[string]string{"BEADS_DOLT_SHARED_SERVER": "1", "HOME": "DIR/none"},
			Database{topology: topologyServer, Name: "harbor", Shared: true, Server: mysql.Config{Host: "127.0.0.1", Port: 3308, User: "root", Database: "harbor", Plain: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			in := func(path string) string {
				if rest, ok := cutDir(path); ok {
					return filepath.Join(dir, rest)
				}
				return path
			}
			c.want.Files = in(c.want.Files)
			b := Program{Getenv: func(name string) string { return in(c.env[name]) }}
			if got, err := b.locate(beads.Place{Dir: dir}); err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v\ngot  %+v\nwant %+v", err, got, c.want)
			}
		})
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "metadata.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (Program{}).locate(beads.Place{Dir: dir}); err == nil {
		t.Error("a damaged metadata.json was read")
	}
}

// cutDir takes DIR/ from the beginning of a path.
func cutDir(path string) (string, bool) {
	if len(path) > 4 && path[:4] == "DIR/" {
		return path[4:], true
	}
	return path, false
}
