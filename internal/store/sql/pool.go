package sql

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/store/jsonl"
	"stig/internal/store/mysql"
)

// Pool contains the open stores on servers of a process. It is safe for concurrent use.
type Pool struct {
	Given func() Given     // returns the credentials
	Cache string           // directory for copies of stores; "" for none
	Now   func() time.Time // measures how long a server takes to answer
	// Timeout limits how long connecting takes; 0 for the default of mysql.Config.
	Timeout time.Duration

	mu     sync.Mutex
	told   map[string]jsonl.Settings // settings that are not in their file yet, by path
	stores map[string]*Store         // by URL and absolute path of the settings file
}

// Tell sets settings for a store whose file does not have them yet.
func (p *Pool) Tell(place beads.Place, s jsonl.Settings) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = map[string]jsonl.Settings{place.Path: s}
}

// Open returns the store at a place with Mode beads.Server, the same one for each call. It does
// not connect before the first use.
func (p *Pool) Open(place beads.Place) (*Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	path, err := filepath.Abs(place.Path)
	if err != nil {
		return nil, beads.Unreadable(place.Path, err)
	}
	key := place.URL + " " + path
	if s := p.stores[key]; s != nil {
		return s, nil
	}
	o, _, err := p.options(place)
	if err != nil {
		return nil, err
	}
	if p.stores == nil {
		p.stores = map[string]*Store{}
	}
	p.stores[key] = Open(place, o)
	return p.stores[key], nil
}

// Options returns the options of a store, and the source of its password; see Login.
func (p *Pool) Options(place beads.Place) (o Options, from string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.options(place)
}

func (p *Pool) options(place beads.Place) (o Options, from string, err error) {
	o = Options{Cache: p.Cache, Now: p.Now}
	if o.Config, err = mysql.ParseURL(place.URL); err != nil {
		return o, "", &fault.Error{Code: fault.Store, Path: place.Path, Reason: "its URL " + err.Error(), Hint: "type --store mysql://USER@HOST:PORT/DATABASE"}
	}
	settings, known := p.told[place.Path]
	if !known {
		if settings, err = Settings(place); err != nil {
			return o, "", err
		}
	}
	o.Config.Plain, o.Config.CA, o.Config.Timeout = settings.TLS == "off", settings.CA, p.Timeout
	login, err := LoginFor(o.Config, p.Given())
	o.Config.User, o.Config.Password = login.User, login.Password
	named := o.Config
	o.Config.Renewed = func() (string, error) { // passwords may change while a loop or a board runs
		login, err := LoginFor(named, p.Given())
		return login.Password, err
	}
	return o, login.From, err
}

// Settings reads the settings of a store. A store given by URL may have none: then TLS and CA
// come from the store in the same directory if that is on the same server, such as another branch
// of Dolt.
func Settings(place beads.Place) (jsonl.Settings, error) {
	s, err := jsonl.ReadSettings(place.Path)
	if !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	beside, err := jsonl.ReadSettings(filepath.Join(place.Dir, jsonl.SettingsFile))
	if err == nil && serverOf(beside.Store) == serverOf(place.URL) {
		return jsonl.Settings{TLS: beside.TLS, CA: beside.CA}, nil
	}
	return jsonl.Settings{}, nil
}

// serverOf returns the host and port of a URL; "" if it is invalid.
func serverOf(url string) string {
	c, err := mysql.ParseURL(url)
	if err != nil {
		return ""
	}
	return net.JoinHostPort(c.Host, strconv.Itoa(cmp.Or(c.Port, 3306)))
}

// Close closes the connections of all stores.
func (p *Pool) Close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stores {
		err = errors.Join(err, s.Close())
	}
	p.stores = nil
	return err
}

// Unopened is a store that cannot be opened. Its methods return the error.
type Unopened struct {
	At  beads.Place
	Err error
}

// Place implements beads.Store.
func (u Unopened) Place() beads.Place { return u.At }

// Snapshot implements beads.Store.
func (u Unopened) Snapshot() (*beads.Snapshot, error) { return nil, u.Err }

// Edit implements beads.Store.
func (u Unopened) Edit(context.Context, beads.Options, func(*beads.Tx) error) ([]beads.Change, error) {
	return nil, u.Err
}

// Watch implements beads.Store; nothing changes.
func (u Unopened) Watch() (changes <-chan struct{}, stop func()) {
	return make(chan struct{}), func() {}
}
