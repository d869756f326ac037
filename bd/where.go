package bd

import (
	"bufio"
	"cmp"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stig/beads"
	"stig/beadsdir"
	"stig/mysql"
)

// topology says how bd reaches its Dolt database.
type topology string

const (
	topologyEmbedded topology = "embedded" // each bd opens the files below .beads/embeddeddolt
	topologyServer   topology = "server"   // a dolt sql-server holds it
	topologyThrough  topology = "bd"       // a way that bd alone knows, such as the proxied server of bd 1.3
)

// Database is where bd keeps the issues of a store in Dolt, as bd 1.0 finds it.
type Database struct {
	topology topology
	Name     string
	Files    string       // of topologyEmbedded: the directory of the database; of topologyThrough: bd's name of the way
	Server   mysql.Config // of topologyServer, with the password
	Shared   bool         // one server for the projects of a user
	Project  string       // the id that bd gave the project; "" for none
}

// metadata is what bd's metadata.json says of a Dolt database.
type metadata struct {
	Mode     string `json:"dolt_mode"`
	Host     string `json:"dolt_server_host"`
	Port     int    `json:"dolt_server_port"`
	Socket   string `json:"dolt_server_socket"`
	User     string `json:"dolt_server_user"`
	Database string `json:"dolt_database"`
	Project  string `json:"project_id"`
	TLS      bool   `json:"dolt_server_tls"`
}

const (
	defaultHost     = "127.0.0.1"
	defaultUser     = "root"
	defaultDatabase = "beads"
	sharedPort      = 3308
)

// locate finds the database of a store. The variables are those that bd reads; what
// the environment says counts before metadata.json, and that before config.yaml.
func (b Program) locate(p beads.Place) (Database, error) {
	var m metadata
	if err := beadsdir.Metadata(p.Dir, &m); err != nil {
		return Database{}, err
	}
	set, err := beadsdir.ReadSettings(p.Dir)
	if err != nil {
		return Database{}, err
	}
	env := b.variables(p.Dir)
	d := Database{topology: topologyEmbedded, Name: cmp.Or(env("BEADS_DOLT_SERVER_DATABASE"), m.Database, defaultDatabase), Project: m.Project}
	d.Shared = isTrue(env("BEADS_DOLT_SHARED_SERVER")) || isTrue(set["dolt.shared-server"])
	mode := strings.ToLower(cmp.Or(m.Mode, set["dolt.mode"], string(topologyEmbedded)))
	if !d.Shared && env("BEADS_DOLT_SERVER_MODE") != "1" && mode != string(topologyServer) {
		if d.Files = filepath.Join(p.Dir, "embeddeddolt", d.Name); mode != string(topologyEmbedded) {
			d.topology, d.Files = topologyThrough, mode
		}
		return d, nil
	}
	d.topology = topologyServer
	c := mysql.Config{
		Host:     cmp.Or(env("BEADS_DOLT_SERVER_HOST"), m.Host, set["dolt.host"], defaultHost),
		Socket:   cmp.Or(env("BEADS_DOLT_SERVER_SOCKET"), m.Socket),
		User:     cmp.Or(env("BEADS_DOLT_SERVER_USER"), m.User, defaultUser),
		Database: d.Name,
		Plain:    !isTrue(env("BEADS_DOLT_SERVER_TLS")) && (env("BEADS_DOLT_SERVER_TLS") != "" || !m.TLS),
	}
	dir := p.Dir
	if d.Shared {
		dir = cmp.Or(env("BEADS_SHARED_SERVER_DIR"), filepath.Join(env("HOME"), ".beads", "shared-server"))
	}
	c.Port = cmp.Or(number(env("BEADS_DOLT_SERVER_PORT")), portFile(dir), number(set["dolt.port"]), m.Port)
	if d.Shared {
		c.Port = cmp.Or(c.Port, sharedPort)
	}
	c.Password = cmp.Or(env("BEADS_DOLT_PASSWORD"), credential(env, c.Host, c.Port))
	d.Server = c
	return d, nil
}

// Where names the database as messages do, without a password.
func (d Database) Where() string {
	switch {
	case d.topology == topologyEmbedded:
		return "embedded, " + d.Files
	case d.topology == topologyThrough:
		return d.Files + ", database " + d.Name
	case d.Server.Socket != "":
		return "database " + d.Name + " on the server at " + d.Server.Socket
	case d.Server.Port == 0:
		return "database " + d.Name + " on a server at " + d.Server.Host
	}
	return "database " + d.Name + " on the server at " + d.Server.Host + ":" + strconv.Itoa(d.Server.Port)
}

// variables are those of the environment, and for what it does not set those of the
// file .env in bd's directory.
func (b Program) variables(dir string) func(name string) string {
	kept := map[string]string{}
	if text, err := os.ReadFile(filepath.Join(dir, ".env")); err == nil {
		for line := range strings.Lines(string(text)) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
			if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(name, "#") {
				kept[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
			}
		}
	}
	return func(name string) string {
		if b.Getenv != nil && b.Getenv(name) != "" {
			return b.Getenv(name)
		}
		return kept[name]
	}
}

// portFile is the port that bd wrote for its server; 0 for none.
func portFile(dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "dolt-server.port"))
	if err != nil {
		return 0
	}
	return number(string(text))
}

func number(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func isTrue(text string) bool { return text == "1" || strings.EqualFold(text, "true") }

// credential is the password of the section [host:port] in bd's file of credentials;
// "" where there is none.
func credential(env func(string) string, host string, port int) string {
	path := cmp.Or(env("BEADS_CREDENTIALS_FILE"), filepath.Join(env("HOME"), ".config", "beads", "credentials"))
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	section := "[" + host + ":" + strconv.Itoa(port) + "]"
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line, _, _ := strings.Cut(lines.Text(), "#")
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inside = line == section
			continue
		}
		if key, value, ok := strings.Cut(line, "="); ok && inside && strings.TrimSpace(key) == "password" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
