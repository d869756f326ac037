//go:build e2e

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"stig/internal/testkit/servers"
)

// TestFromOneMachineToATeam follows docs/database.md from the start: it runs each block in the
// order of the page, on the machine that its first line names, each with its own home. The
// names of the page stand for a server and directories of the test.
func TestFromOneMachineToATeam(t *testing.T) {
	servers.Need(t, servers.MariaDB)
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Fatal("no openssl; install it")
	}
	text, err := os.ReadFile(fromHere("..", "..", "docs", "database.md"))
	if err != nil {
		t.Fatal(err)
	}
	team := newTeam(t)
	for _, block := range regexp.MustCompile("(?ms)^```(sh|sql|ini)\n(.*?)^```\n").FindAllStringSubmatch(string(text), -1) {
		switch block[1] {
		case "ini":
			team.start(block[2])
		case "sql":
			team.administer(block[2])
		case "sh":
			team.run(block[2])
		}
	}
	if team.ran < 10 {
		t.Errorf("%d blocks ran; the page has more", team.ran)
	}
}

// team is what the page needs: a server, a repository that both push to, and two machines.
type team struct {
	*testing.T
	dir, program string
	server       *servers.Server
	ran          int
}

func newTeam(t *testing.T) *team {
	p := &team{T: t, dir: t.TempDir(), program: program(t)}
	p.shell(p.dir, "", `mkdir "on the server" && git init -q --bare origin.git`)
	harbor := fromHere("..", "..", "examples", "harbor")
	for _, name := range []string{"Mara", "Bo"} {
		home := filepath.Join(p.dir, name)
		if err := os.Mkdir(home, 0o755); err != nil {
			t.Fatal(err)
		}
		p.shell(home, home, "git config --global user.name "+name+" && git config --global user.email "+name+"@harbor.example && git clone -q ../origin.git harbor")
		if name == "Mara" {
			p.shell(home+"/harbor", home, "cp -R "+harbor+"/. . && git add -A && git commit -qm 'the harbor' && git push -q origin HEAD")
		}
	}
	return p
}

// start starts the server with the settings of the page.
func (p *team) start(settings string) {
	var options []string
	for line := range strings.Lines(p.real(settings)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok && key != "bind-address" {
			options = append(options, "--"+key+"="+value)
		}
	}
	server, err := servers.StartWith(servers.Options{Kind: servers.MariaDB, Fast: true, Settings: options, CA: filepath.Join(p.dir, "tls", "ca.pem")})
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(server.Stop)
	p.server = server
}

// administer runs the statements of the page as the administrator.
func (p *team) administer(text string) {
	for statement := range strings.SplitSeq(strings.TrimSpace(text), ";\n") {
		if err := execute(p.server.Config, strings.TrimSuffix(statement, ";")); err != nil {
			p.Fatalf("%s: %v", statement, err)
		}
	}
}

// run runs a block on the machine that its first line names.
func (p *team) run(block string) {
	first, rest, _ := strings.Cut(block, "\n")
	home, dir := "", filepath.Join(p.dir, "on the server")
	if name, ok := strings.CutPrefix(strings.TrimSuffix(first, "'s machine"), "# on "); ok && name != "the server" {
		home, dir = filepath.Join(p.dir, name), filepath.Join(p.dir, name, "harbor")
	} else if first != "# on the server" {
		p.Fatalf("no machine is named: %s", first)
	}
	p.shell(dir, home, p.real(rest))
	p.ran++
}

// real replaces the names of the page with those of the test.
func (p *team) real(text string) string {
	text = strings.ReplaceAll(text, "/etc/mysql/tls", filepath.Join(p.dir, "tls"))
	host := "db.harbor.example"
	if p.server != nil {
		text = strings.ReplaceAll(text, host+"/", "localhost:"+strconv.Itoa(p.server.Config.Port)+"/")
	}
	return strings.ReplaceAll(text, host, "localhost")
}

// shell runs commands, each of which must succeed.
func (p *team) shell(dir, home, commands string) {
	p.Helper()
	cmd := exec.Command("sh", "-ec", commands)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + filepath.Dir(p.program) + ":" + os.Getenv("PATH"), "HOME=" + home, "TZ=UTC", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.Fatalf("%s\n%v\n%s", commands, err, out)
	} else {
		p.Logf("%s\n%s", commands, out)
	}
}
