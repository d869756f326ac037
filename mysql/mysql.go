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
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	driver "github.com/go-sql-driver/mysql"
)

// Config is where a database is, and who connects to it.
type Config struct {
	Host     string
	Port     int    // 0 means 3306
	Socket   string // a path, in the place of Host and Port
	User     string
	Password string
	Database string
	Plain    bool          // no TLS to another host than this one
	Timeout  time.Duration // for a connection; 0 means 10 s
}

// Scheme begins the URLs of stores on servers.
const Scheme = "mysql://"

// ErrPassword says that a URL holds a password, which would go into files and logs.
var ErrPassword = errors.New("must not hold a password")

// ParseURL reads mysql://USER@HOST[:PORT]/DATABASE. A URL with a password gives
// ErrPassword.
func ParseURL(text string) (Config, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "mysql" || u.Hostname() == "" {
		return Config{}, fmt.Errorf("must read %sUSER@HOST:PORT/DATABASE", Scheme)
	}
	if _, has := u.User.Password(); has {
		return Config{}, ErrPassword
	}
	c := Config{Host: u.Hostname(), User: u.User.Username(), Database: strings.Trim(u.Path, "/")}
	if port := u.Port(); port != "" {
		if c.Port, err = strconv.Atoi(port); err != nil || c.Port < 1 || c.Port > 65535 {
			return Config{}, fmt.Errorf("port %q must be a number from 1 to 65535", port)
		}
	}
	if c.Database == "" || strings.Contains(c.Database, "/") {
		return Config{}, fmt.Errorf("must name one database: %sUSER@HOST:PORT/DATABASE", Scheme)
	}
	return c, nil
}

// URL names the database without the password.
func (c Config) URL() string {
	u := url.URL{Scheme: "mysql", Host: c.Host, Path: "/" + c.Database}
	if c.Port != 0 {
		u.Host = net.JoinHostPort(c.Host, strconv.Itoa(c.Port))
	}
	if c.User != "" {
		u.User = url.User(c.User)
	}
	return u.String()
}

// Open gives the database; nothing is asked of the server before the first use. Rows
// affected count those found, whether or not their values changed.
func Open(c Config) (*sql.DB, error) {
	d := driver.NewConfig()
	d.User, d.Passwd, d.DBName = c.User, c.Password, c.Database
	d.Net, d.Addr = "tcp", net.JoinHostPort(c.Host, strconv.Itoa(cmp.Or(c.Port, 3306)))
	if c.Socket != "" {
		d.Net, d.Addr = "unix", c.Socket
	}
	d.Timeout, d.ClientFoundRows, d.ParseTime, d.InterpolateParams = cmp.Or(c.Timeout, 10*time.Second), true, true, true
	if d.Net == "tcp" && !c.Plain && !isHere(c.Host) {
		d.TLS = &tls.Config{ServerName: c.Host, MinVersion: tls.VersionTLS12}
	}
	connector, err := driver.NewConnector(d)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// isHere reports whether a host is this machine.
func isHere(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Again reports whether an error means that the transaction was undone because others
// wrote at the same time, and is to be started over.
func Again(err error) bool {
	e, ok := errors.AsType[*driver.MySQLError](err)
	return ok && (e.Number == 1213 || e.Number == 1205 || e.Number == 1020)
}
