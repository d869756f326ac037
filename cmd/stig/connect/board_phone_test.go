package connect

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net"
	"strings"
	"testing"
	"time"

	"stig/cmd/stig/cli"
	"stig/internal/workspace"
)

// TestCertified: the certificate is valid for the address, and has the printed fingerprint.
func TestCertified(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "quay.local"} {
		plain, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l, fingerprint, err := certified(plain, host, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			if c, err := l.Accept(); err == nil {
				_ = c.(*tls.Conn).Handshake()
			}
		}()
		c, err := tls.Dial("tcp", plain.Addr().String(), &tls.Config{InsecureSkipVerify: true}) // it signs itself
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		sent := c.ConnectionState().PeerCertificates[0]
		if err := sent.VerifyHostname(host); err != nil {
			t.Error(err)
		}
		sum := sha256.Sum256(sent.Raw)
		if want := strings.ToUpper(hex.EncodeToString(sum[:])); strings.ReplaceAll(fingerprint, ":", "") != want {
			t.Errorf("fingerprint %s, want %s", fingerprint, want)
		}
	}
}

// TestPrintedCode: the code is at most 24 lines of a terminal, in colours of its own.
func TestPrintedCode(t *testing.T) {
	var out bytes.Buffer
	a := &cli.App{Run: &workspace.Run{Getenv: func(name string) string { return map[string]string{"CLICOLOR_FORCE": "1"}[name] }}, Out: &out}
	printCode(a, "https://192.168.100.200:41823/?token=ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(rows) > 24 {
		t.Errorf("%d lines", len(rows))
	}
	for _, row := range rows[2:] {
		if !strings.HasPrefix(row, "\x1b[97;40m") {
			t.Errorf("%q", row)
		}
	}
}
