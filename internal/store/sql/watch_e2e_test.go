//go:build e2e

package sql_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stig/internal/store/mysql"
)

// TestWatch: each watcher gets the changes of others; all watchers together send one query a
// second.
func TestWatch(t *testing.T) {
	onEach(t, func(t *testing.T, c mysql.Config) {
		another := create(t, c, `{"id":"d-1","title":"a"}`+"\n")
		p := newProxy(t, c)
		s := open(t, p.Config, "")
		textOf(t, s)
		one, stopOne := s.Watch()
		two, stopTwo := s.Watch()
		defer stopTwo()
		for n := range 3 {
			edit(t, another, setNotes("d-1", fmt.Sprint(n)))
			for name, changes := range map[string]<-chan struct{}{"one": one, "two": two} {
				select {
				case <-changes:
				case <-time.After(10 * time.Second):
					t.Fatalf("watcher %s was not told of change %d", name, n)
				}
			}
			if text := textOf(t, s); !strings.Contains(text, fmt.Sprintf(`"notes":"%d"`, n)) {
				t.Errorf("told before it can be read: %s", text)
			}
		}
		stopOne()
		asked := make(chan string, 100)
		p.mu.Lock()
		p.statement = func(text []byte) {
			select {
			case asked <- string(text[1:]):
			default:
			}
		}
		p.mu.Unlock()
		time.Sleep(2500 * time.Millisecond)
		if n := len(asked); n > 4 {
			t.Errorf("asked %d times in two seconds", n)
		}
		p.cut() // it continues when the server is back
		edit(t, another, setNotes("d-1", "after"))
		select {
		case <-two:
		case <-time.After(10 * time.Second):
			t.Error("not told after the connection was cut")
		}
		select {
		case <-one:
			t.Error("told after it was stopped")
		default:
		}
	})
}
