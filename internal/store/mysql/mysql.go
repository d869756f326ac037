// Package mysql opens connections to servers that speak MySQL's protocol: MariaDB, MySQL, TiDB
// and Dolt. It parses URLs, and adds hints to errors of servers. It knows no table and no issue,
// and stores no password.
//
//	c, err := mysql.ParseURL("mysql://mara@db.example:3306/harbor")
//	c.Password = password
//	db, err := mysql.Open(c)
package mysql

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	driver "github.com/go-sql-driver/mysql"
)

// Config says where a database is and how to log in.
type Config struct {
	Host     string
	Port     int       // 0 means 3306
	More     []Address // other nodes of a cluster, tried in order after Host
	Socket   string    // a path, instead of Host and Port
	User     string
	Password string
	Database string        // for Dolt also DATABASE/BRANCH
	Plain    bool          // no TLS to other hosts
	CA       string        // file with the CA certificates; "" for the system's
	Timeout  time.Duration // for connecting and logging in; 0 means 10 s
	Compress bool          // compress data, if the server can: MariaDB and MySQL, not Dolt

	// Renewed returns the current password for each connection; nil for Password.
	Renewed func() (string, error) `json:"-"`
}

// Address is where a server listens.
type Address struct {
	Host string
	Port int // 0 means 3306
}

func (a Address) String() string {
	switch {
	case a.Port != 0:
		return net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
	case strings.Contains(a.Host, ":"): // IPv6
		return "[" + a.Host + "]"
	}
	return a.Host
}

// addresses returns the addresses of all servers, in the order in which they are tried.
func (c Config) addresses() []Address { return append([]Address{{c.Host, c.Port}}, c.More...) }

// Scheme is the prefix of URLs of stores on servers.
const Scheme = "mysql://"

// ErrPassword means that a URL contains a password, which would get into files and logs.
var ErrPassword = errors.New("must not contain a password")

// ParseURL parses mysql://USER@HOST[:PORT][,HOST[:PORT]…]/DATABASE, and for Dolt
// DATABASE/BRANCH. The port of the last host applies to all hosts without one. A URL with a
// password returns ErrPassword, even if it is invalid otherwise.
func ParseURL(text string) (Config, error) {
	first, others := cutHosts(text)
	c, err := parseURL(first)
	if err != nil {
		return c, err
	}
	for _, other := range others {
		o, err := parseURL(Scheme + other + "/x")
		if err != nil {
			return Config{}, err
		}
		c.More = append(c.More, Address{o.Host, o.Port})
	}
	if n := len(c.More); n > 0 {
		port := c.More[n-1].Port
		c.Port = cmp.Or(c.Port, port)
		for i := range c.More {
			c.More[i].Port = cmp.Or(c.More[i].Port, port)
		}
	}
	return c, nil
}

// cutHosts returns a URL with only its first host, and the other hosts.
func cutHosts(text string) (first string, others []string) {
	_, rest, _ := strings.Cut(text, "://")
	hosts, _, _ := strings.Cut(rest, "/")
	list := strings.Split(hosts, ",")
	if strings.Contains(strings.Join(list[1:], ","), "@") { // a comma in the user name
		return text, nil
	}
	return strings.Replace(text, hosts, list[0], 1), list[1:]
}

func parseURL(text string) (Config, error) {
	u, err := url.Parse(text)
	if hasPassword(u, text) {
		return Config{}, ErrPassword
	}
	if err != nil || u.Scheme != "mysql" || u.Hostname() == "" || strings.ContainsAny(u.Host, "(),") {
		return Config{}, fmt.Errorf("must read %sUSER@HOST:PORT/DATABASE", Scheme)
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return Config{}, errors.New("takes no parameters; tls and ca are keys of .beads/stig.json")
	}
	c := Config{Host: u.Hostname(), User: u.User.Username(), Database: strings.Trim(u.Path, "/")}
	if port := u.Port(); port != "" {
		if c.Port, err = strconv.Atoi(port); err != nil || c.Port < 1 || c.Port > 65535 {
			return Config{}, fmt.Errorf("port %q must be a number from 1 to 65535", port)
		}
	}
	if c.Database == "" || strings.Contains(c.Database, "//") || strings.ContainsFunc(c.Database, unicode.IsControl) {
		return Config{}, fmt.Errorf("must name one database: %sUSER@HOST:PORT/DATABASE", Scheme)
	}
	return c, nil
}

// hasPassword reports whether a URL contains a password, also in a parameter. If the URL is
// invalid or has no host, a colon before an @ counts as one.
func hasPassword(u *url.URL, text string) bool {
	if u != nil && u.Host != "" {
		_, has := u.User.Password()
		query := strings.ToLower(u.RawQuery)
		return has || strings.Contains(query, "pass") || strings.Contains(query, "pwd")
	}
	_, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		rest = text
	}
	at := strings.LastIndex(rest, "@")
	return at >= 0 && strings.Contains(rest[:at], ":")
}

// URL returns the URL of the database, without the password.
func (c Config) URL() string {
	var hosts []string
	for _, a := range c.addresses() {
		hosts = append(hosts, a.String())
	}
	u := url.URL{Scheme: "mysql", Host: strings.Join(hosts, ","), Path: "/" + c.Database}
	if c.User != "" {
		u.User = url.User(c.User)
	}
	return u.String()
}

// Open returns the database. It does not connect before the first use. Affected rows include
// rows that were found but not changed. Parameters are escaped into the statements, which saves
// a round trip each; the driver does so only for character sets where that is safe, such as
// utf8mb4.
func Open(c Config) (*sql.DB, error) {
	var nodes cluster
	for _, a := range c.addresses() {
		n, err := c.node(a)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return sql.OpenDB(nodes), nil
}

// node returns the connector to one server.
func (c Config) node(a Address) (sqldriver.Connector, error) {
	d := driver.NewConfig()
	d.User, d.Passwd, d.DBName = c.User, c.Password, c.Database
	d.Net, d.Addr = "tcp", net.JoinHostPort(a.Host, strconv.Itoa(cmp.Or(a.Port, 3306)))
	if c.Socket != "" {
		d.Net, d.Addr = "unix", c.Socket
	}
	d.ReadTimeout, d.WriteTimeout = silence, silence
	d.ClientFoundRows, d.ParseTime, d.InterpolateParams = true, true, true
	d.MaxAllowedPacket, d.Logger = maxPacket, &driver.NopLogger{}
	options := []driver.Option{driver.EnableCompression(c.Compress)}
	if d.Net == "tcp" && !c.Plain && (c.CA != "" || !a.isHere()) {
		t, err := verifying(a.Host, c.CA)
		if err != nil {
			return nil, err
		}
		d.TLS = t
	}
	if c.Renewed != nil {
		renew := func(_ context.Context, d *driver.Config) (err error) {
			d.Passwd, err = c.Renewed()
			return err
		}
		options = append(options, driver.BeforeConnect(renew))
	}
	if err := d.Apply(options...); err != nil {
		return nil, err
	}
	connector, err := driver.NewConnector(d)
	if err != nil {
		return nil, err
	}
	return bounded{connector, d.Net, cmp.Or(c.Timeout, 10*time.Second)}, nil
}

// bounded limits the time to connect, including the login. The driver's own limit covers only
// dialling, which succeeds at once if the server hangs.
type bounded struct {
	sqldriver.Connector
	net  string
	most time.Duration
}

func (b bounded) Connect(ctx context.Context) (sqldriver.Conn, error) {
	limited, cancel := context.WithTimeout(ctx, b.most)
	defer cancel()
	conn, err := b.Connector.Connect(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = &net.OpError{Op: "dial", Net: b.net, Err: fmt.Errorf("no connection within %v", b.most)}
	}
	return conn, err
}

const (
	// silence limits how long a server may pause within an answer.
	silence = time.Minute
	// maxPacket is the maximum size of a statement, in bytes; servers have limits too.
	maxPacket = 1 << 30
)

// verifying returns a TLS configuration that verifies the server's name and certificate.
func verifying(host, ca string) (*tls.Config, error) {
	t := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	if ca == "" {
		return t, nil
	}
	text, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	t.RootCAs = x509.NewCertPool()
	if !t.RootCAs.AppendCertsFromPEM(text) {
		return nil, &fs.PathError{Op: "read", Path: ca, Err: errors.New("contains no certificate in PEM format")}
	}
	return t, nil
}

// Each calls do for each row of a query, to a database or within a transaction.
func Each(ctx context.Context, from interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}, query string, args []any, do func(*sql.Rows) error) error {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// IsHere reports whether all hosts are this machine.
func (c Config) IsHere() bool {
	return !slices.ContainsFunc(c.addresses(), func(a Address) bool { return !a.isHere() })
}

func (a Address) isHere() bool {
	ip := net.ParseIP(a.Host)
	return a.Host == "localhost" || ip != nil && ip.IsLoopback()
}
