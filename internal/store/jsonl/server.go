package jsonl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/file"
	"stig/internal/git"
	"stig/internal/store/mysql"
)

// SettingsFile is the file in .beads that names the server with the issues.
const SettingsFile = "stig.json"

// CopyFile is the file beside it that may hold a copy of the issues.
const CopyFile = "issues.jsonl"

// Settings is the content of a SettingsFile.
type Settings struct {
	Store    string // mysql://[USER@]HOST[:PORT]/DATABASE, without a password
	SyncFile bool   // edits also write issues.jsonl beside it
	TLS      string // "verify", the default, or "off"
	CA       string // an absolute path to the certificates that may sign the server's; "" for the system's
}

// IsURL reports whether --store names a store on a server rather than a file. It also accepts
// URLs of unsupported servers and addresses as other programs write them, such as
// USER:PASSWORD@tcp(HOST)/DATABASE, so that the error can say what is supported, without the
// password.
func IsURL(store string) bool {
	if scheme, _, ok := strings.Cut(store, "://"); ok {
		return len(scheme) > 1 && !strings.ContainsAny(scheme, `/\.`)
	}
	user, rest, ok := strings.Cut(store, ":")
	withPassword := ok && strings.Contains(rest, "@") && !strings.ContainsAny(user, `/\`) && filepath.VolumeName(store) == ""
	return withPassword || strings.Contains(store, "@tcp(") || strings.Contains(store, "@unix(")
}

// ReadSettings reads a SettingsFile; the error is a fault.Store.
func ReadSettings(path string) (Settings, error) {
	text, err := file.Read(path)
	if err != nil {
		return Settings{}, beads.Unreadable(path, err)
	}
	s := Settings{TLS: "verify"}
	if line, err := s.parse(text); err != nil {
		return Settings{}, wrongSetting(path, line, err)
	}
	c, err := mysql.ParseURL(s.Store)
	switch {
	case errors.Is(err, mysql.ErrPassword):
		return Settings{}, &fault.Error{Code: fault.Store, Path: path, Reason: "store: must not contain a password, which git would keep",
			Hint: "remove and change it; set STIG_DB_PASSWORD, or use the credentials file"}
	case err != nil:
		return Settings{}, wrongSetting(path, 0, fmt.Errorf("store: %w; found %q", err, s.Store))
	}
	s.Store = c.URL()
	if s.TLS != "verify" && s.TLS != "off" {
		return Settings{}, wrongSetting(path, 0, fmt.Errorf(`tls: must be "verify" or "off"; found %q`, s.TLS))
	}
	if s.CA != "" {
		s.CA = file.Under(filepath.Dir(path), s.CA)
	}
	return s, nil
}

func wrongSetting(path string, line int, err error) error {
	if line > 0 {
		path = fmt.Sprintf("%s:%d", path, line)
	}
	return &fault.Error{Code: fault.Store, Path: path, Reason: err.Error(),
		Hint: `write {"store": "mysql://USER@HOST:PORT/DATABASE"}; further keys are sync_file, tls and ca`}
}

// parse reads the keys, and returns the line of an error.
func (s *Settings) parse(text []byte) (line int, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	at := func() int { return 1 + bytes.Count(text[:d.InputOffset()], []byte("\n")) }
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return at(), errors.New("must be an object of JSON")
	}
	given := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return at(), err
		}
		key, _ := token.(string) // the decoder accepts no other keys
		into := map[string]any{"store": &s.Store, "sync_file": &s.SyncFile, "tls": &s.TLS, "ca": &s.CA}[key]
		if into == nil {
			return at(), fmt.Errorf("unknown key %q", key)
		}
		if given[key] {
			return at(), fmt.Errorf("%s: is there twice", key)
		}
		given[key] = true
		if err := readInto(d, into); err != nil {
			return at(), fmt.Errorf("%s: %w", key, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return at(), errors.New("must be an object of JSON")
	}
	if _, err := d.Token(); err != io.EOF {
		return at(), errors.New("must end after the object")
	}
	return 0, nil
}

// readInto reads the next value, which must be a string or a boolean, as into points to.
func readInto(d *json.Decoder, into any) error {
	value, err := d.Token()
	if err != nil {
		return err
	}
	switch into := into.(type) {
	case *string:
		text, ok := value.(string)
		if *into = text; !ok {
			return errors.New("must be a text")
		}
	case *bool:
		is, ok := value.(bool)
		if *into = is; !ok {
			return errors.New("must be true or false")
		}
	}
	return nil
}

// Text formats the settings as a SettingsFile.
func (s Settings) Text() string {
	var keys []string
	add := func(key string, value any) {
		text, _ := json.Marshal(value) // strings and booleans can be encoded
		keys = append(keys, fmt.Sprintf("  %q: %s", key, text))
	}
	add("store", s.Store)
	if s.SyncFile {
		add("sync_file", true)
	}
	if s.TLS != "" && s.TLS != "verify" {
		add("tls", s.TLS)
	}
	if s.CA != "" {
		add("ca", s.CA)
	}
	return "{\n" + strings.Join(keys, ",\n") + "\n}\n"
}

// server returns the store that the settings in a .beads name.
func (d listing) server() (beads.Place, error) {
	path := filepath.Join(d.dir, SettingsFile)
	s, err := ReadSettings(path)
	if err != nil {
		return beads.Place{}, err
	}
	p := beads.Place{Path: path, Dir: d.dir, Mode: beads.Server, URL: s.Store}
	if s.SyncFile || d.has(CopyFile) {
		p.Copy = filepath.Join(d.dir, CopyFile)
	}
	return p, nil
}

// storeOfURL returns a store on a server that was named explicitly. Its directory is that of
// the store found without a name, else the .beads in which a store would be created.
func storeOfURL(dir string, w Where) (beads.Place, error) {
	c, err := mysql.ParseURL(w.File)
	switch {
	case errors.Is(err, mysql.ErrPassword):
		return beads.Place{}, &fault.Error{Code: fault.Store, Path: "--store", Reason: "must not contain a password, which other users of this machine can see",
			Hint: "type --store mysql://USER@HOST:PORT/DATABASE; set STIG_DB_PASSWORD, or use the credentials file"}
	case err != nil:
		return beads.Place{}, &fault.Error{Code: fault.Store, Path: w.File, Reason: err.Error(), Hint: "type --store mysql://USER@HOST:PORT/DATABASE"}
	}
	w.File = ""
	p := beads.Place{Mode: beads.Server, URL: c.URL()}
	found, err := Discover(w)
	if err != nil {
		p.Dir, err = blankDir(dir)
		p.Path = filepath.Join(p.Dir, SettingsFile)
		return p, err
	}
	if found.Mode == beads.Server && sameDatabase(found.URL, c) {
		found.URL = p.URL // may belong to another user
		return found, nil
	}
	p.Dir, p.Path = found.Dir, filepath.Join(found.Dir, SettingsFile)
	if found.Mode == beads.Server {
		p.Path = filepath.Join(found.Dir, "stig-"+c.Database+".json") // the two caches stay separate
	}
	return p, nil
}

func sameDatabase(url string, c mysql.Config) bool {
	other, err := mysql.ParseURL(url)
	same := func(a, b int) bool { return cmp.Or(a, 3306) == cmp.Or(b, 3306) }
	return err == nil && other.Host == c.Host && same(other.Port, c.Port) && other.Database == c.Database
}

// blankDir is the .beads of a store created in a directory: that of its work tree, if it has
// one.
func blankDir(dir string) (string, error) {
	tree, err := git.CheckoutOf(dir)
	if err != nil {
		return "", err
	}
	if tree.Root != "" {
		dir = tree.Root
	}
	path := filepath.Join(dir, beads.DirName)
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return "", beads.Unreadable(path, &fs.PathError{Op: "open", Path: path, Err: errors.New("is not a directory")})
	}
	return path, nil
}
