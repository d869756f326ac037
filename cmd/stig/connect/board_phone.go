package connect

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"strings"
	"time"

	"github.com/mdp/qrterminal/v3"

	"stig/cmd/stig/cli"
	"stig/internal/workspace"
)

// listenForPhones listens over TLS at the first name of --host, or else at this machine's
// address on the local network.
func listenForPhones(ctx context.Context, a *cli.App, o *boardOptions) (p place, err error) {
	host, at := "", ""
	if len(o.names) > 0 {
		host = o.names[0]
	}
	switch ip := net.ParseIP(host); {
	case ip != nil:
		at = host
	case strings.Trim(strings.ToLower(host), "abcdefghijklmnopqrstuvwxyz0123456789-.") != "":
		return p, workspace.Usage(fmt.Sprintf("--host: must be an address or a name of this machine, without a port; found %q", host), "leave out --host")
	case host == "":
		if ip, err = networkAddress(ctx); err != nil {
			return p, err
		}
		host, at = ip.String(), ip.String()
	}
	plain, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(at, "0"))
	if err != nil {
		return p, workspace.Usage(fmt.Sprintf("--host: cannot serve at %s: %v", host, err), "leave out --host")
	}
	p.base = "https://" + net.JoinHostPort(host, fmt.Sprint(plain.Addr().(*net.TCPAddr).Port))
	p.listener, p.fingerprint, err = certified(plain, host, a.Now())
	return p, err
}

// networkAddress returns the address by which the local network reaches this machine: that of
// the interface with the default route, or else the first private one.
func networkAddress(ctx context.Context) (net.IP, error) {
	if c, err := (&net.Dialer{}).DialContext(ctx, "udp", "192.0.2.1:9"); err == nil { // chooses a route, sends nothing
		defer c.Close()
		if ip := c.LocalAddr().(*net.UDPAddr).IP; !ip.IsLoopback() {
			return ip, nil
		}
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsPrivate() {
			return n.IP, nil
		}
	}
	return nil, workspace.Usage("--phone: this machine has no address on a local network", "connect it to the network of the telephone, or name an address with --host")
}

// certified returns a listener that speaks TLS with a new certificate for host, and the
// certificate's SHA-256 fingerprint as browsers print it.
func certified(l net.Listener, host string, now time.Time) (net.Listener, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, "", err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, "", err
	}
	about := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "stig board"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateAge),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(host); ip != nil {
		about.IPAddresses = []net.IP{ip}
	} else {
		about.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		return nil, "", err
	}
	print := strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(der)), " ", ":")
	own := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}), print, nil
}

// certificateAge is how long the certificate of a board is valid.
const certificateAge = 30 * 24 * time.Hour

// printCode prints an address for a telephone, as text and as a QR code.
func printCode(a *cli.App, url string) {
	var code strings.Builder
	qrterminal.GenerateWithConfig(url, qrterminal.Config{Level: qrterminal.L, Writer: &code, HalfBlocks: true, QuietZone: 2})
	s := a.Sheet()
	s.Line(cli.Plain, url)
	s.Blank()
	for row := range strings.Lines(code.String()) {
		s.Line("97;40", strings.TrimSuffix(row, "\n")) // white on black, whatever the terminal's colours
	}
	s.Blank()
	_ = a.Show(s) // closed output does not end the board
}

// printSteps prints how to open the address on a telephone.
func printSteps(a *cli.App, fingerprint string) {
	s, half := a.Sheet(), len(fingerprint)/2+1
	s.Wrap(cli.Plain, "", "", "Scan the code with a telephone on the same network. Its browser warns of the certificate, which is new: accept it if its SHA-256 fingerprint is\n\n  "+
		fingerprint[:half]+"\n  "+fingerprint[half:]+"\n\nThen tap Open on this phone.")
	_ = a.Show(s)
}
