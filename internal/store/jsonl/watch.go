package jsonl

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"stig/internal/beads"
)

// Watch implements beads.Store. It keeps watching a file that is replaced, removed or created
// again.
//
// It uses the operating system's notifications, and also checks the file every two seconds,
// since network file systems do not report others' changes; twice a second without
// notifications.
func (s *Store) Watch() (changes <-chan struct{}, stop func()) {
	w := newWatch(s.place)
	every := 2 * time.Second
	if err := w.listen(); err != nil {
		every = time.Second / 2
	}
	go w.run(every)
	return w.changes, sync.OnceFunc(func() { close(w.done) })
}

type watch struct {
	path     string
	notifier *fsnotify.Watcher // nil if there is none
	was      os.FileInfo       // the last known state; nil for no file
	changes  chan struct{}
	done     chan struct{}
}

func newWatch(s beads.Place) *watch {
	w := &watch{path: s.Path, changes: make(chan struct{}, 1), done: make(chan struct{})}
	if real, err := filepath.EvalSymlinks(s.Path); err == nil {
		w.path = real
	}
	w.was, _ = os.Stat(w.path) // a missing store may appear
	return w
}

// listen subscribes to the store's directory, since every write replaces the file itself.
func (w *watch) listen() error {
	notifier, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	if err := notifier.Add(filepath.Dir(w.path)); err != nil {
		_ = notifier.Close() // it watches nothing
		return err
	}
	w.notifier = notifier
	return nil
}

func (w *watch) run(every time.Duration) {
	look := time.NewTicker(every)
	defer look.Stop()
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.notifier != nil {
		defer w.notifier.Close()
		events, errs = w.notifier.Events, w.notifier.Errors
	}
	for {
		select {
		case <-w.done:
			return
		case e := <-events:
			if filepath.Base(e.Name) == filepath.Base(w.path) && e.Op != fsnotify.Chmod {
				w.was, _ = os.Stat(w.path)
				w.tell()
			}
		case <-errs: // some events were lost
			w.tell()
		case <-look.C:
			w.look()
		}
	}
}

// look compares the file with its last known state. A directory that was removed and created
// again needs a new subscription.
func (w *watch) look() {
	now, err := os.Stat(w.path)
	if err != nil {
		now = nil
	}
	same := now == nil && w.was == nil || now != nil && w.was != nil && sameAtAGlance(now, w.was)
	w.was = now
	if same {
		return
	}
	if w.notifier != nil {
		_ = w.notifier.Add(filepath.Dir(w.path)) // polling works without notifications
	}
	w.tell()
}

func (w *watch) tell() {
	select {
	case w.changes <- struct{}{}:
	default: // a signal is already pending
	}
}
