package sql

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"strings"
	"syscall"

	"stig/internal/fault"
	"stig/internal/store/mysql"
)

// The environment variables with credentials.
const (
	PasswordVariable = "STIG_DB_PASSWORD"
	UserVariable     = "STIG_DB_USER"
)

// Given is the sources of credentials.
type Given struct {
	User, Password string // values of the variables; "" if unset
	File           string // the user's file; "" for none
}

// Login is the user and password of a connection. From is the source of the password, for
// people: the variable, or file and line; "" without a password.
type Login struct{ User, Password, From string }

// LoginFor returns the login for a database. The user is that of the URL, else of the variable,
// else of the first matching line of the file. The password is that of the variable, else of the
// first line that matches database and user. The error is a fault.Store: the file is unreadable,
// readable by others, or has an invalid line.
func LoginFor(c mysql.Config, g Given) (Login, error) {
	login := Login{User: cmp.Or(c.User, g.User)}
	if g.Password != "" {
		login.Password, login.From = g.Password, PasswordVariable
		if login.User != "" {
			return login, nil
		}
	}
	lines, err := read(g.File)
	if err != nil {
		return Login{}, err
	}
	for _, l := range lines {
		if !l.isFor(c, login.User) {
			continue
		}
		login.User = cmp.Or(login.User, l.user)
		if login.From == "" {
			login.Password, login.From = l.password, fmt.Sprintf("%s:%d", g.File, l.number)
		}
		break
	}
	return login, nil
}

// loginLine is a line of the file: a URL, in which user, port and database are optional, and a
// password.
type loginLine struct {
	number                               int
	user, host, port, database, password string
}

func (l loginLine) isFor(c mysql.Config, user string) bool {
	port := "3306"
	if c.Port != 0 {
		port = fmt.Sprint(c.Port)
	}
	database, _, _ := strings.Cut(c.Database, "/") // the branches of a Dolt database share its users
	return strings.EqualFold(l.host, c.Host) && (l.port == "" || l.port == port) &&
		(l.database == "" || l.database == c.Database || l.database == database) && (l.user == "" || user == "" || l.user == user)
}

// read returns the lines of the file; none if it does not exist.
func read(path string) (lines []loginLine, err error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // HOME may be /dev/null
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("%s: others may read it (mode %04o)", path, mode), Hint: "chmod 600 " + path}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	number := 0
	for text := range strings.Lines(string(text)) {
		number++
		text = strings.TrimRight(text, "\r\n")
		if strings.TrimSpace(text) == "" || strings.HasPrefix(strings.TrimSpace(text), "#") {
			continue
		}
		l, err := parse(text)
		if err != nil {
			return nil, &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("%s:%d: %v", path, number, err),
				Hint: "write lines that read mysql://USER@HOST:PORT/DATABASE PASSWORD"}
		}
		l.number = number
		lines = append(lines, l)
	}
	return lines, nil
}

func unreadable(path string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return &fault.Error{Code: fault.Store, Reason: fmt.Sprintf("%s: cannot be read: %v", path, err), Hint: "check who owns it: ls -ld " + path, Err: err}
}

// parse parses a line. Its errors do not quote the line, which may have a password anywhere.
func parse(text string) (loginLine, error) {
	text = strings.TrimLeft(text, " \t")
	at := strings.IndexAny(text, " \t")
	if at < 0 {
		at = len(text)
	}
	name, password := text[:at], text[at:]
	u, err := url.Parse(name)
	if err != nil || !strings.HasPrefix(name, mysql.Scheme) || u.Hostname() == "" {
		return loginLine{}, errors.New("must begin with " + mysql.Scheme + " and a host")
	}
	if _, has := u.User.Password(); has {
		return loginLine{}, errors.New("the password must follow the URL, not be part of it")
	}
	if strings.TrimSpace(password) == "" {
		return loginLine{}, errors.New("has no password after the URL")
	}
	return loginLine{user: u.User.Username(), host: u.Hostname(), port: u.Port(), database: strings.Trim(u.Path, "/"),
		password: strings.TrimLeft(password, " \t")}, nil
}
