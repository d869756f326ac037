package mysql_test

import (
	"net"
	"testing"
	"time"

	"stig/internal/store/mysql"
)

// TestServerThatHangs: a server that accepts a connection and sends nothing counts as
// unreachable.
func TestServerThatHangs(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	at := listener.Addr().(*net.TCPAddr)
	db, err := mysql.Open(mysql.Config{Host: at.IP.String(), Port: at.Port, User: "mara", Database: "harbor", Timeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	asked := make(chan error, 1)
	go func() { asked <- db.Ping() }()
	select {
	case err := <-asked:
		if !mysql.Gone(err) || !mysql.Unreached(err) {
			t.Errorf("ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("was asked for more than 10 s")
	}
}
