//go:build e2e

package sql_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"stig/internal/store/sql"
	"stig/internal/testkit/servers"
)

// TestCreateSideBySide creates stores while other databases of the server are created. Dolt
// then refuses statements that look at all databases.
func TestCreateSideBySide(t *testing.T) {
	server := servers.Need(t, servers.Dolt)
	var makers sync.WaitGroup
	for i := range 8 {
		makers.Go(func() {
			for n := range 4 {
				c := server.Database(fmt.Sprintf("%s_%d_%d", t.Name(), i, n))
				if err := sql.Create(context.Background(), sql.Options{Config: c, Actor: "mara"}, "demo"); err != nil {
					t.Errorf("maker %d, store %d: %v", i, n, err)
				}
			}
		})
	}
	makers.Wait()
}
