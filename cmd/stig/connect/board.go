package connect

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"stig/cmd/stig/cli"
	"stig/internal/board"
	"stig/internal/process"
	"stig/internal/service"
	"stig/internal/workspace"
)

// boardOptions are the flags of stig board.
type boardOptions struct {
	addr                  string
	names                 []string
	open, readOnly, write bool
	all                   bool
	phone                 bool
}

// BoardCommand returns stig board.
func BoardCommand(a *cli.App) *cobra.Command {
	o := boardOptions{}
	cmd := &cobra.Command{
		Use:   "board",
		Short: "show the store in a browser",
		Long: "Show the store in a browser: open questions, what each actor does, what was closed and with\n" +
			"which proof, issues, graph, actors and checks. Pages update themselves. Edits on the board\n" +
			"run the same commands, under your name, with the same refusals.\n\n" +
			"The printed address works once, for one browser; then stig prints the next one. Only this\n" +
			"machine can reach the board, unless --addr names another address: then the board is\n" +
			"read-only, or with --write accepts answers and comments, unencrypted. Interrupt to end it.\n\n" +
			"--phone serves at this machine's address on the local network, over HTTPS with a new\n" +
			"certificate, and prints the address as a QR code. Telephones can answer and comment.\n\n" +
			"--all also shows what waits in the projects of the configuration, with the command that\n" +
			"answers there.",
		Args:    cli.Takes(0, 0, "no arguments"),
		Example: "  stig board --open\n  stig board --addr 127.0.0.1:8080 --read-only\n  stig board --phone",
		RunE:    func(cmd *cobra.Command, _ []string) error { return serveBoard(cmd.Context(), a, o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.addr, "addr", "127.0.0.1:0", "serve at `HOST:PORT`; port 0 takes a free one")
	flags.StringArrayVar(&o.names, "host", nil, "also answer to the host `NAME`; with --phone, print it")
	flags.BoolVar(&o.phone, "phone", false, "let telephones on the local network answer questions")
	flags.BoolVar(&o.open, "open", false, "open it in the browser")
	flags.BoolVar(&o.all, "all", false, "also show what waits in other projects")
	flags.BoolVar(&o.readOnly, "read-only", false, "show only; write nothing")
	flags.BoolVar(&o.write, "write", false, "accept answers and comments from other machines")
	flags.StringVar(&a.Actor, "actor", "", "act as `NAME`")
	cli.Exclude(cmd, "read-only", "write")
	cli.Exclude(cmd, "phone", "open")
	cli.Exclude(cmd, "phone", "addr")
	return cmd
}

// serveBoard listens, prints the address, and serves until it is interrupted.
func serveBoard(ctx context.Context, a *cli.App, o boardOptions) error {
	store, err := a.Discover()
	if err != nil {
		return err
	}
	if why := service.Unwritable(ctx, a.Run, store.Place()); why != "" && !o.readOnly {
		o.readOnly = true
		a.Note("the board is read-only: %s", why)
	}
	at, err := listen(ctx, a, &o)
	if err != nil {
		return err
	}
	if a.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // at most 130 MB instead of 205, with 10,000 issues and 200 pages
	}
	first := true
	b := board.New(board.Options{
		Run: a.Run, All: o.all, Names: o.names, Write: !o.readOnly && (at.local || at.secure() || o.write), Local: at.local && !o.readOnly,
		Invite: func(path string) {
			url := at.base + path
			switch {
			case at.secure():
				printCode(a, url)
				if first {
					printSteps(a, at.fingerprint)
				}
			case !first:
				a.Note("for another browser: %s", url)
			default:
				_ = a.Print(url + "\n") // closed output does not end the board
				if o.open {
					openBrowser(a, url)
				}
			}
			first = false
		},
	})
	return b.Serve(ctx, at.listener)
}

// place is where a board is served.
type place struct {
	listener    net.Listener
	base        string // of its addresses
	local       bool   // only this machine reaches it
	fingerprint string // of its certificate; "" for plain HTTP
}

func (p place) secure() bool { return p.fingerprint != "" }

// listen listens where the flags say. It adds the host of --addr to the names.
func listen(ctx context.Context, a *cli.App, o *boardOptions) (p place, err error) {
	if o.phone {
		return listenForPhones(ctx, a, o)
	}
	host, _, err := net.SplitHostPort(o.addr)
	if err != nil {
		return p, workspace.Usage(fmt.Sprintf("--addr: must be HOST:PORT; found %q", o.addr), "for example --addr 127.0.0.1:8080")
	}
	if p.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr); err != nil {
		return p, workspace.Usage(fmt.Sprintf("--addr: cannot serve at %s: %v", o.addr, err), "choose another port, or leave out --addr")
	}
	at := p.listener.Addr().(*net.TCPAddr)
	p.base, p.local = "http://"+at.String(), at.IP.IsLoopback()
	if at.IP.IsUnspecified() {
		p.base = "http://" + net.JoinHostPort("localhost", fmt.Sprint(at.Port))
	}
	if host != "" && net.ParseIP(host) == nil {
		o.names = append(o.names, host)
	}
	return p, nil
}

// openBrowser opens url in the system's browser. It does not wait for the browser, which
// outlives the board.
func openBrowser(a *cli.App, url string) {
	argv := map[string][]string{"darwin": {"open", url}, "windows": {"rundll32", "url.dll,FileProtocolHandler", url}}[runtime.GOOS]
	if argv == nil {
		argv = []string{"xdg-open", url}
	}
	if err := process.Detach(process.Command{Argv: argv, Env: a.Environ()}, argv[0]); err != nil {
		a.Warn("cannot open a browser; open the address yourself")
	}
}
