//go:build e2e

package sql_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/store/mysql"
	"stig/internal/store/sql"
)

// TestHeldTogether: Held accepts a line that no event has. c commented after a, and b commented
// at the same time as c without having read a's comment.
func TestHeldTogether(t *testing.T) {
	onEach(t, func(t *testing.T, config mysql.Config) {
		a := create(t, config, `{"id":"demo-1","title":"one","status":"open","comments":[{"id":1,"author":"a","text":"first"}]}`+"\n")
		b, c := open(t, config, ""), open(t, config, "")
		comment := func(s *sql.Store, text string, minutes time.Duration, meanwhile func()) error {
			o := options()
			o.Now = now.Add(minutes * time.Minute)
			_, err := s.Edit(t.Context(), o, func(tx *beads.Tx) error {
				meanwhile()
				meanwhile = func() {}
				return addComment("demo-1", text)(tx)
			})
			return err
		}
		read, written, ended := make(chan bool), make(chan bool), make(chan error)
		err := comment(b, "of b", 1, func() {
			if err := comment(a, "of a", 2, func() {}); err != nil {
				t.Error(err)
			}
			go func() { ended <- comment(c, "of c", 3, func() { close(read); <-written }) }()
			<-read
		})
		close(written)
		if other := <-ended; err != nil || other != nil {
			t.Fatal(err, other)
		}
		whole := strings.TrimSuffix(textOf(t, a), "\n")
		var lines []sql.Line
		for _, text := range []string{
			whole,
			strings.Replace(whole, `"of a"`, `"by hand"`, 1),
			strings.Replace(whole, `"of b"`, `"by hand"`, 1),
			strings.Replace(whole, `"of c"`, `"by hand"`, 1),
			strings.Replace(whole, `"one"`, `"by hand"`, 1),
			whole[:strings.LastIndex(whole, ",{")] + "]}",
			strings.Replace(whole, `"comments":[`, `"comments":[{"id":7,"text":"by hand"},`, 1),
		} {
			lines = append(lines, sql.Line{ID: "demo-1", Text: []byte(text)})
		}
		held, err := a.Held(t.Context(), lines)
		if err != nil || !slices.Equal(held, []bool{true, false, false, false, false, false, false}) {
			t.Errorf("%v, %v, of %s", held, err, whole)
		}
	})
}
