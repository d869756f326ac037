//go:build e2e && unix

package service

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stig/internal/beads"
	"stig/internal/fault"
	"stig/internal/process"
	"stig/internal/store/mysql"
	"stig/internal/store/sql"
	"stig/internal/testkit/servers"
	"stig/internal/workspace"
)

// onServer returns a front end on the database at url, as on a machine with the clone in dir.
func onServer(t *testing.T, dir, url, name string, env ...string) *workspace.Run {
	t.Helper()
	c, err := mysql.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	place := beads.Place{Path: filepath.Join(dir, ".beads", "issues.jsonl"), Dir: filepath.Join(dir, ".beads")}
	store := sql.Open(place, sql.Options{Config: c})
	t.Cleanup(func() { _ = store.Close() })
	a := claimant(t, dir, name, env...)
	a.OpenStore = func(beads.Place) beads.Store { return store }
	return a
}

// served creates a store with some issues in an empty database, and clones for machines.
func served(t *testing.T, kind string, issues, clones int) (url string, dirs []string) {
	t.Helper()
	c := servers.Need(t, kind).Database("machines")
	o := sql.Options{Config: c}
	if err := sql.Create(t.Context(), o, "demo"); err != nil {
		t.Fatal(err)
	}
	text := ""
	for n := range issues {
		text += fmt.Sprintf(`{"id":"demo-%d","title":"issue %[1]d","status":"open","priority":1,"issue_type":"task"}`, n+1) + "\n"
	}
	store := sql.Open(beads.Place{}, o)
	defer store.Close()
	if err := store.Fill(t.Context(), []byte(text), "", nil); err != nil {
		t.Fatal(err)
	}
	for range clones {
		_, dir := front(t)
		dirs = append(dirs, dir)
	}
	return c.URL(), dirs
}

// elsewhere returns a command that runs this test program as if on a machine named pier, with
// its own host name and process numbers. The test fails if Linux namespaces are not allowed.
func elsewhere(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	words := []string{"--uts", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if os.Geteuid() != 0 {
		words = append(words, "--user", "--map-root-user")
	}
	if out, err := exec.Command("unshare", append(words, "hostname", "pier")...).CombinedOutput(); err != nil {
		t.Fatalf("no other machine can be played here, which takes namespaces of Linux: %v: %s", err, out)
	}
	words = append(words, "sh", "-c", `hostname pier && exec "$0" "$@"`, os.Args[0])
	return exec.Command("unshare", append(words, argv...)...)
}

// TestMachine is a process on a machine: it claims demo-1 as a worker loop and waits to be
// killed, or claims issues until none are left.
func TestMachine(t *testing.T) {
	words := strings.Fields(os.Getenv("STIG_TEST_MACHINE"))
	if len(words) < 4 {
		return // an ordinary test run
	}
	what, dir, url, name := words[0], words[1], words[2], words[3]
	a := onServer(t, dir, url, name, "STIG_NOW=")
	if what == "work" {
		work(t, a, words[4])
		return
	}
	_, err := Claim(t.Context(), a, ClaimRequest{ID: "demo-1", Loop: &LoopClaim{Run: "r-1", Lasts: lasts, Cap: time.Hour}})
	fmt.Println(map[bool]string{true: "held"}[err == nil], err)
	time.Sleep(time.Minute)
}

// lasts is how long claims last in these tests without being renewed: long enough for two
// claims on a busy machine.
const lasts = 5 * time.Second

// TestClaimOfAnotherMachine: an issue held by a worker loop on another machine is held here
// too, and the refusal names that machine. After the loop is killed it keeps the issue until
// the claim expires, and the first sweep after that returns it.
func TestClaimOfAnotherMachine(t *testing.T) {
	url, dirs := served(t, servers.MariaDB, 1, 2)
	loop := elsewhere(t, "-test.run=^TestMachine$")
	loop.Env = append(os.Environ(), "STIG_TEST_MACHINE=hold "+dirs[0]+" "+url+" w1")
	out, err := loop.StdoutPipe()
	before := time.Now()
	if err == nil {
		err = loop.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = loop.Process.Kill(), loop.Wait() }()
	lines := bufio.NewScanner(out)
	if lines.Scan(); !strings.HasPrefix(lines.Text(), "held") {
		t.Fatal(lines.Text())
	}
	held := time.Now()
	here := func(name string) *workspace.Run { return onServer(t, dirs[1], url, name, "STIG_NOW=") }
	for _, name := range []string{"w2", "w1"} {
		_, err := Claim(t.Context(), here(name), ClaimRequest{ID: "demo-1"})
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "is claimed by w1 in "+filepath.Join(dirs[0], ".beads")+" on pier by process ") || !strings.Contains(err.Error(), " until 20") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, _ = loop.Process.Kill(), loop.Wait()
	for over := false; !over; time.Sleep(50 * time.Millisecond) {
		over = time.Since(held) > lasts+time.Second
		returned, err := SweepEnded(t.Context(), here("w2"))
		if err != nil {
			t.Fatal(err)
		}
		if len(returned) == 0 {
			continue
		}
		if after := time.Since(before); after < lasts {
			t.Errorf("returned after %s", after)
		}
		if _, err := Claim(t.Context(), here("w2"), ClaimRequest{ID: "demo-1"}); err != nil {
			t.Error(err)
		}
		return
	}
	t.Error("the claim of the dead was not returned")
}

// TestClaimReturnsEnded: a claim returns the expired claims of agents on other issues, and not
// those of people or those that were renewed.
func TestClaimReturnsEnded(t *testing.T) {
	for _, kind := range []string{servers.MariaDB, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			url, dirs := served(t, kind, 4, 2)
			const agent = "mara/claude-3f2a"
			yesterday := "STIG_NOW=" + time.Now().Add(-25*time.Hour).UTC().Format(time.RFC3339)
			for issue, name := range map[string]string{"demo-1": agent, "demo-2": "mara", "demo-3": agent} {
				if _, err := Claim(t.Context(), onServer(t, dirs[0], url, name, yesterday), ClaimRequest{ID: issue}); err != nil {
					t.Fatal(err)
				}
			}
			c, err := mysql.ParseURL(url)
			if err != nil {
				t.Fatal(err)
			}
			db := sql.Open(beads.Place{}, sql.Options{Config: c})
			defer db.Close()
			if _, err := db.DB().Exec("UPDATE stig_live SET changed = changed - INTERVAL 25 HOUR, ends = ends - INTERVAL 25 HOUR"); err != nil {
				t.Fatal(err)
			}
			a := onServer(t, dirs[0], url, agent, "STIG_NOW=")
			renewOwn(t.Context(), a, beads.Place{Path: filepath.Join(dirs[0], ".beads", "issues.jsonl"), Dir: filepath.Join(dirs[0], ".beads"), Mode: beads.Server}, "demo-3", time.Now())
			other := onServer(t, dirs[1], url, "bo", "STIG_NOW=")
			if _, err := Claim(t.Context(), other, ClaimRequest{ID: "demo-4"}); err != nil {
				t.Fatal(err)
			}
			list, err := List(other, ListRequest{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, row := range list.Rows {
				got = append(got, row.ID+" "+row.Status+" "+row.Assignee)
			}
			slices.Sort(got)
			if want := []string{"demo-1 open ", "demo-2 in_progress mara", "demo-3 in_progress " + agent, "demo-4 in_progress bo"}; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if _, ok := LeaseOf(other, "demo-1"); ok {
				t.Error("the lease is still there")
			}
		})
	}
}

// TestClaimStays: a claim on a server belongs to its actor as soon as the store shows it, even if
// the server does not answer the command again. The lease does not name the claiming process.
func TestClaimStays(t *testing.T) {
	url, dirs := served(t, servers.MariaDB, 1, 1)
	c, err := mysql.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	db, err := mysql.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range []string{
		"CREATE TABLE shown (text LONGBLOB)",
		"CREATE TRIGGER shows AFTER UPDATE ON stig_lines FOR EACH ROW INSERT INTO shown SELECT text FROM stig_live WHERE name = 'claim/demo-1'",
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Claim(t.Context(), onServer(t, dirs[0], url, "w1", "STIG_NOW="), ClaimRequest{ID: "demo-1"}); err != nil {
		t.Fatal(err)
	}
	var text string
	if err := db.QueryRow("SELECT text FROM shown").Scan(&text); err != nil || !strings.Contains(text, `"w1"`) || strings.Contains(text, `"process"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// TestRenewOnServer: a claim that is renewed in time stays valid; each renewal is one
// statement.
func TestRenewOnServer(t *testing.T) {
	url, dirs := served(t, servers.MariaDB, 1, 1)
	a := onServer(t, dirs[0], url, "w1", "STIG_NOW=")
	if _, err := Claim(t.Context(), a, ClaimRequest{ID: "demo-1", Loop: &LoopClaim{Run: "r-1", Lasts: lasts, Cap: time.Hour}}); err != nil {
		t.Fatal(err)
	}
	if err := Renew(t.Context(), a, "demo-1"); err != nil {
		t.Fatal(err)
	}
	b := onServer(t, dirs[0], url, "w2", "STIG_NOW=")
	if l, ok := LeaseOf(b, "demo-1"); !ok || l.Renewals != 1 || l.Age > time.Second || l.Age <= 0 {
		t.Errorf("%+v, %t", l, ok)
	}
	if _, err := Claim(t.Context(), b, ClaimRequest{ID: "demo-1", Take: true}); err != nil {
		t.Fatal(err)
	}
	if err := Renew(t.Context(), a, "demo-1"); !fault.Is(err, fault.Conflict) {
		t.Errorf("renewed what was taken: %v", err)
	}
	place, err := b.LivePlace()
	if err != nil {
		t.Fatal(err)
	}
	if claims, err := place.Claims(); err != nil || len(claims.Done) > 0 || len(claims.Leases) != 1 {
		t.Errorf("%+v, %v", claims, err)
	}
	if matches, _ := filepath.Glob(filepath.Join(dirs[0], ".beads", ".stig", "leases*")); len(matches) > 0 {
		t.Errorf("claims in files: %q", matches)
	}
}

// work claims issues and defers them until none are left, and logs what it claimed.
func work(t *testing.T, a *workspace.Run, path string) {
	log, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	self, _ := process.Self()
	fewest := 0
	for moved := time.Now(); ; { // moved is when the number of issues last went down
		if _, err := SweepEnded(t.Context(), a); err != nil && !fault.Is(err, fault.Conflict) {
			t.Log("sweep:", err)
		}
		list, err := List(a, ListRequest{})
		if err != nil {
			t.Fatal(err)
		}
		rows := slices.DeleteFunc(list.Rows, func(r ListRow) bool { return r.Status == "deferred" })
		left := len(rows)
		rand.Shuffle(left, func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, row := range rows {
			if row.Status != "open" {
				continue
			}
			claimed := time.Now()
			_, err := Claim(t.Context(), a, ClaimRequest{ID: row.ID, Loop: &LoopClaim{Run: "r", Lasts: lasts, Cap: time.Hour}})
			if fault.Is(err, fault.Conflict) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(log, row.ID, self.Host, self.PID, self.Space)
			time.Sleep(rand.N(60 * time.Millisecond))
			if err := putOff(t, a, row.ID); errors.Is(err, errTaken) && time.Since(claimed) > lasts {
				fmt.Fprintln(log, "late", row.ID) // the machine is busy
			} else if err != nil {
				t.Fatal(row.ID, err)
			}
			break
		}
		if left == 0 {
			return
		}
		if fewest == 0 || left < fewest {
			fewest, moved = left, time.Now()
		}
		if time.Since(moved) > 20*time.Second { // a busy server may need longer for all
			place, _ := a.LivePlace()
			claims, err := place.Claims()
			t.Fatalf("%d issues left: %+v\nclaims: %+v %v", left, rows, claims, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// errTaken means that a claim ended before the work did.
var errTaken = errors.New("not claimed any more")

// putOff defers an issue that the actor holds and ends the work on it.
func putOff(t *testing.T, a *workspace.Run, id string) error {
	store, options, err := a.ToWrite(t.Context(), false)
	if err != nil {
		return err
	}
	_, err = store.Edit(t.Context(), options, func(tx *beads.Tx) error {
		record, err := tx.Record(id)
		if err != nil {
			return err
		}
		if record.Text(beads.Assignee) != a.Actor || record.Text(beads.Status) != "in_progress" {
			return errTaken
		}
		return tx.Set(id, beads.Set{Key: beads.Status, Text: "deferred"}, beads.Set{Key: beads.Assignee})
	})
	return err
}

// TestMachinesClaim: processes on two machines claim all issues of one database, on a cluster
// through all its nodes, while some are killed at random. No issue is held by two live processes,
// each is done once, and what killed processes held is done by others.
func TestMachinesClaim(t *testing.T) {
	for _, kind := range []string{servers.MariaDB, servers.Galera, servers.Dolt} {
		t.Run(kind, func(t *testing.T) {
			if kind == servers.Galera {
				testMachinesClaim(t, kind, 100, 12)
			} else {
				testMachinesClaim(t, kind, 50, 8)
			}
		})
	}
}

func testMachinesClaim(t *testing.T, kind string, issues, processes int) {
	url, dirs := served(t, kind, issues, 2)
	server := servers.Need(t, kind)
	if err := server.Settle(); err != nil {
		t.Fatal(err)
	}
	urls := []string{url}
	for n := 1; n < len(server.Nodes); n++ {
		urls = append(urls, strings.Replace(url, fmt.Sprint(server.Config.Port), fmt.Sprint(server.Nodes[n].Config.Port), 1))
	}
	log := filepath.Join(t.TempDir(), "log")
	start := func(n int) *exec.Cmd {
		c := exec.Command(os.Args[0], "-test.run=^TestMachine$", "-test.v")
		if n%2 == 1 {
			c = elsewhere(t, "-test.run=^TestMachine$", "-test.v")
		}
		c.Env = append(os.Environ(), fmt.Sprintf("STIG_TEST_MACHINE=work %s %s w%d %s", dirs[n%2], urls[n%len(urls)], n, log))
		c.Stdout, c.Stderr = new(strings.Builder), os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	running, killed := map[int]*exec.Cmd{}, map[*exec.Cmd]bool{}
	for n := range processes {
		running[n] = start(n)
		all.Go(func() {
			for again := n; ; {
				mu.Lock()
				c := running[n]
				mu.Unlock()
				err := c.Wait()
				mu.Lock()
				if !killed[c] {
					if err != nil {
						t.Errorf("process %d: %v\n%s", n, err, c.Stdout)
					}
					delete(running, n)
					mu.Unlock()
					return
				}
				again += processes
				running[n] = start(again) // under another name, as another worker
				mu.Unlock()
			}
		})
	}
	for range 8 {
		time.Sleep(150 * time.Millisecond)
		mu.Lock()
		if c := running[rand.N(processes)]; c != nil {
			killed[c] = true
			_ = c.Process.Kill()
		}
		mu.Unlock()
	}
	all.Wait()
	if err := server.Settle(); err != nil {
		t.Fatal(err)
	}
	judge(t, url, dirs[0], log, issues, len(killed))
}

// judge checks the result. An issue that was claimed twice must have been left by a killed
// process.
func judge(t *testing.T, url, dir, log string, issues, killed int) {
	list, err := List(onServer(t, dir, url, "judge", "STIG_NOW="), ListRequest{})
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, row := range list.Rows {
		if row.Status == "deferred" && row.Assignee == "" {
			done++
		}
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	claimed, twice := map[string]int{}, 0
	for line := range strings.Lines(string(text)) {
		claimed[strings.Fields(line)[0]]++
	}
	killed += claimed["late"]
	delete(claimed, "late")
	for _, n := range claimed {
		twice += n - 1
	}
	t.Logf("%d of %d done, %d claimed again of %d killed", done, issues, twice, killed)
	if done != issues || twice > killed || len(claimed) != issues {
		t.Errorf("%d of %d done, %d claimed, %d of them again; %d killed\n%s", done, issues, len(claimed), twice, killed, text)
	}
	a := onServer(t, dir, url, "judge", "STIG_NOW=")
	place, err := a.LivePlace()
	if err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		claims, err := place.Claims()
		if err == nil && !slices.ContainsFunc(claims.Leases, Judge(a, place, time.Now()).Holds) {
			return
		}
		if err != nil || time.Since(began) > 2*lasts { // a process may be killed after its last edit and before its claim ends
			t.Fatalf("left: %+v, %v", claims.Leases, err)
		}
	}
}
