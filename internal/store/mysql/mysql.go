// Package mysql opens connections to servers that speak MySQL's protocol: MariaDB,
// MySQL, TiDB and Dolt. It reads URLs, and says of an error of the server what is to
// be done about it. It knows no table and no issue, and keeps no password.
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

// Config is where a database is, and who connects to it.
type Config struct {
	Host     string
	Port     int       // 0 means 3306
	More     []Address // other nodes of a cluster: who can reach none before them goes there
	Socket   string    // a path, in the place of Host and Port
	User     string
	Password string
	Database string        // of Dolt maybe DATABASE/BRANCH
	Plain    bool          // no TLS to another host than this one
	CA       string        // a file with the certificates that sign the server's; "" for the system's
	Timeout  time.Duration // for a connection, with its login; 0 means 10 s
	Compress bool          // compress what is sent, if the server can (MariaDB and MySQL; not Dolt)

	// Renewed gives the password for each connection, where it may change while the
	// process runs; nil for Password.
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

// addresses are those of all servers, in the order in which they are tried.
func (c Config) addresses() []Address { return append([]Address{{c.Host, c.Port}}, c.More...) }

// Scheme begins the URLs of stores on servers.
const Scheme = "mysql://"

// ErrPassword says that a URL holds a password, which would go into files and logs.
var ErrPassword = errors.New("must not contain a password")

// ParseURL reads mysql://USER@HOST[:PORT][,HOST[:PORT]…]/DATABASE, and DATABASE/BRANCH of Dolt. A
// port that follows the last host is that of all which have none. A URL with a password
// gives ErrPassword, also where nothing else of it can be read.
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

// cutHosts takes the hosts after the first out of a URL.
func cutHosts(text string) (first string, others []string) {
	_, rest, _ := strings.Cut(text, "://")
	hosts, _, _ := strings.Cut(rest, "/")
	list := strings.Split(hosts, ",")
	if strings.Contains(strings.Join(list[1:], ","), "@") { // a comma of the user
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

// hasPassword reports whether a URL has a password, in a parameter too; where it cannot be
// read or has no host, a colon before an @ counts as one.
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

// URL names the database without the password.
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

// Open gives the database; nothing is asked of the server before the first use. Rows
// affected count those found, whether or not their values changed. Statements are sent
// whole, with their parameters escaped in them, which saves a round trip each: the
// driver does so for character sets alone where that is safe, and utf8mb4 is one.
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

// node gives what makes connections to one server.
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

// bounded makes connections within a time, login and all. The driver's own bound is that of
// dialling alone, and a server that hangs is dialled at once.
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
	// silence is how long a server may say nothing in the middle of an answer.
	silence = time.Minute
	// maxPacket bounds one statement, in bytes; servers have bounds of their own.
	maxPacket = 1 << 30
)

// verifying is TLS that verifies the server's name and certificate.
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
		return nil, &fs.PathError{Op: "read", Path: ca, Err: errors.New("holds no certificate in PEM form")}
	}
	return t, nil
}

// Each calls do for each row that a query to a database, or within a transaction, gives.
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
