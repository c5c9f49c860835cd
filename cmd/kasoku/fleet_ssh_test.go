package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/store"
)

// An sshHosts are hosts in network namespaces, each with an sshd, keys and a state of its own, and a
// configuration of ssh that leads to them. The address of this host is h.address(1, 1) for all of them.
type sshHosts struct {
	*fleetRig
	config string
	ns     map[string]string
}

func must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.Background(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

func newSSHHosts(t *testing.T, names ...string) *sshHosts {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("namespaces are made by root")
	}
	if _, err := exec.LookPath("/usr/sbin/sshd"); err != nil {
		t.Fatal("no sshd here; tools/setup installs openssh-server")
	}
	h := &sshHosts{fleetRig: newFleetRig(t), ns: map[string]string{}}
	t.Cleanup(func() {
		if t.Failed() {
			said, _ := os.ReadFile(filepath.Join(h.dir, "hub", "kasoku", "fleet", "hub.log"))
			audit, _ := os.ReadFile(filepath.Join(h.dir, "hub", "kasoku", "hub", "audit.log"))
			t.Logf("the hub said:\n%s\n%s", said, audit)
		}
	})
	h.config = filepath.Join(h.dir, "ssh_config")
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
		t.Fatal(err)
	}
	must(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(h.dir, "id"))
	h.write("ssh_config", fmt.Sprintf("Host *\n User root\n IdentityFile %s/id\n IdentitiesOnly yes\n UserKnownHostsFile %[1]s/known\n"+
		" StrictHostKeyChecking yes\n ConnectTimeout 5\n", h.dir))
	for i, name := range names {
		ns, address := h.namespace(i + 1)
		h.ns[name] = ns
		h.sshd(name, ns, address, 22, "")
	}
	return h
}

// address is one of the n-th network of a test, in which this host is 1 and the namespace 2. Tests that run at
// the same time have networks of their own.
func (r *fleetRig) address(n, host int) string {
	if r.net == 0 {
		r.net = ownNetwork(r.t)
	}
	return fmt.Sprintf("10.%d.%d.%d", r.net, n, host)
}

// ownNetwork is the second number of addresses that no other test of this machine has.
func ownNetwork(t *testing.T) int {
	t.Helper()
	for n := 81; n < 100; n++ {
		f, err := os.OpenFile(fmt.Sprintf("/run/lock/kasoku-test-10.%d", n), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			t.Cleanup(func() { _ = f.Close() })
			return n
		}
		_ = f.Close()
	}
	t.Fatal("all networks are in use")
	return 0
}

// hubAddress is an address of this host that is on no link, so that each host's path leads there.
func (r *fleetRig) hubAddress() string {
	r.t.Helper()
	at := r.address(0, 1)
	_ = exec.CommandContext(r.t.Context(), "ip", "address", "add", at+"/32", "dev", "lo").Run() // it may be there
	r.t.Cleanup(func() {
		_ = exec.CommandContext(context.Background(), "ip", "address", "del", at+"/32", "dev", "lo").Run()
	})
	return at
}

// namespace makes the n-th host of a test: a network namespace.
func (r *fleetRig) namespace(n int) (ns, address string) {
	t := r.t
	t.Helper()
	own := r.address(n, 1)
	ns, peer := fmt.Sprintf("kf%d-%d", os.Getpid(), n), fmt.Sprintf("kf%d-%d", r.net, n)
	_ = exec.CommandContext(t.Context(), "ip", "link", "del", peer).Run() // of a test that was killed
	must(t, "ip", "netns", "add", ns)
	t.Cleanup(func() {
		for _, pid := range strings.Fields(must(t, "ip", "netns", "pids", ns)) { // of a test that failed
			if n, _ := strconv.Atoi(pid); n > 1 && n != os.Getpid() {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
		must(t, "ip", "netns", "del", ns)
		_ = exec.CommandContext(context.Background(), "ip", "link", "del", peer).Run() // it may have gone with ns
	})
	must(t, "ip", "link", "add", peer, "type", "veth", "peer", "name", "eth0", "netns", ns)
	must(t, "ip", "address", "add", own+"/24", "dev", peer)
	must(t, "ip", "link", "set", peer, "up")
	address = r.address(n, 2)
	for _, c := range [][]string{{"address", "add", address + "/24", "dev", "eth0"}, {"link", "set", "eth0", "up"},
		{"link", "set", "lo", "up"}, {"route", "add", "default", "via", own}} {
		must(t, "ip", append([]string{"-n", ns}, c...)...)
	}
	return ns, address
}

func (h *sshHosts) write(name, text string) {
	h.t.Helper()
	f, err := os.OpenFile(filepath.Join(h.dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	_ = f.Close()
}

// sshd runs an sshd in a namespace, and makes it known to ssh under a name.
func (h *sshHosts) sshd(name, ns, address string, port int, more string) {
	h.t.Helper()
	key := filepath.Join(h.dir, name+".key")
	must(h.t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
	h.write(name+".conf", fmt.Sprintf("ListenAddress %s:%d\nHostKey %s\nPidFile none\nAuthorizedKeysFile %s/id.pub\nStrictModes no\nUsePAM no\n"+
		"PasswordAuthentication no\nSetEnv XDG_STATE_HOME=%[4]s/%[5]s PATH=%[4]s/%[5]s-bin:/usr/bin:/bin\n", address, port, key, h.dir, name))
	public, err := os.ReadFile(key + ".pub")
	if err != nil {
		h.t.Fatal(err)
	}
	h.write("known", fmt.Sprintf("%s %s", name, public))
	h.write("ssh_config", fmt.Sprintf("Host %s\n HostName %s\n Port %d\n HostKeyAlias %[1]s\n%[4]s", name, address, port, more))
	cmd := exec.CommandContext(context.Background(), "ip", "netns", "exec", ns, "/usr/sbin/sshd", "-D", "-e", "-f", filepath.Join(h.dir, name+".conf"))
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
}

// fleet runs `kasoku fleet` and holds its exit code and what it prints to what is wanted.
func (h *sshHosts) fleet(code int, want string, args ...string) string {
	h.t.Helper()
	out, errs, got := h.run("hub", append([]string{"fleet"}, args...)...)
	if got != code || !strings.Contains(out+errs, want) {
		h.t.Errorf("fleet %v: exit %d, want %d with %q; %s%s", args, got, code, want, out, errs)
	}
	return out + errs
}

// answering holds how many hosts are up and answer.
func (h *sshHosts) answering(n int) {
	h.t.Helper()
	out, errs, code := h.run("hub", "fleet", "status", "-o", "json")
	if code != 0 || strings.Count(out, `"connected": true`) != n {
		h.t.Errorf("status: exit %d, want %d hosts; %s%s", code, n, out, errs)
	}
}

func (h *sshHosts) up(code int, want, url string, hosts ...string) string {
	h.t.Helper()
	return h.fleet(code, want, append([]string{"up", "--ssh-config", h.config, "--allow", "load=" + url + "/"}, hosts...)...)
}

// processes are the command lines that hold a text, by pid.
func processes(text string) map[int]string {
	out := map[int]string{}
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		b, _ := os.ReadFile(path)
		if line := strings.ReplaceAll(string(b), "\x00", " "); strings.Contains(line, text) {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			out[pid] = line
		}
	}
	return out
}

// watchJoinLines fails the test when a command line shows a join line.
func (h *sshHosts) watchJoinLines() {
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			for pid, line := range processes("kasoku-join:") {
				if env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); !strings.Contains(string(env), h.dir) {
					continue // another test's
				}
				h.t.Errorf("a command line shows a join line: %s", line)
			}
			select {
			case <-ended:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	h.t.Cleanup(func() { close(ended); <-over })
}

// agent is the process of kasoku-hub that answers for a host; 0: none.
func (h *sshHosts) agent(name string) int {
	h.t.Helper()
	for pid := range processes("kasoku-hub") {
		env, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if strings.Contains(string(env), filepath.Join(h.dir, name, "kasoku/fleet/up")) {
			return pid
		}
	}
	return 0
}

func (h *sshHosts) await(what string, good func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !good(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("waited 20 s for %s", what)
		}
	}
}

// TestFleetUp: hosts in namespaces are brought up by a real sshd, one of them by a jump host; what
// breaks is mended by the same command, and nothing is left.
func TestFleetUp(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	h := newSSHHosts(t, "gen1", "gen2", "gen3")
	h.sshd("inner", h.ns["gen1"], "127.0.0.1", 2222, " ProxyJump gen1\n")
	var came atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) }))
	l, err := net.Listen("tcp", h.address(1, 1)+":0")
	if err != nil {
		t.Fatal(err)
	}
	srv.Listener = l
	srv.Start()
	defer srv.Close()

	h.fleet(3, "kasoku fleet up HOST", "status")
	h.watchJoinLines()
	before := time.Now()
	if out := h.up(0, "inner is up, kept by s", srv.URL, "gen1", "gen2", "gen3", "inner"); strings.Count(out, "the program copied") != 4 {
		t.Errorf("copied: %s", out)
	}
	t.Logf("four hosts are up after %s", time.Since(before).Round(time.Millisecond))
	defer h.fleet(3, "no host is up", "down") // all is down then
	h.answering(4)
	for _, name := range []string{"gen2", "gen3"} {
		if out := must(t, "ip", "netns", "exec", h.ns[name], "ss", "-Htln"); strings.Count(out, "\n") != 1 {
			t.Errorf("%s has ports open: %s", name, out)
		}
	}
	if out, errs, code := h.run("hub", "attack", "--from", "gen1,gen2,gen3,inner", "-rate", "400", "-duration", "1s", "-o", "text",
		srv.URL+"/"); code != 0 || came.Load() != 400 {
		t.Errorf("attack: exit %d, %d came; %s%s", code, came.Load(), out, errs)
	}
	h.fleet(0, "gen2: ", "logs", "gen2")

	// An agent that is killed comes back; a connection that broke is made anew by the same command.
	pid := h.agent("gen1")
	if pid == 0 {
		t.Fatal("no agent of gen1")
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	h.await("another agent of gen1", func() bool {
		_, _, code := h.run("hub", "fleet", "status")
		return code == 0 && h.agent("gen1") != pid
	})
	for pid, line := range processes("kasoku-ssh-") {
		if strings.Contains(line, "gen2") && strings.Contains(line, h.config) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	h.await("the end of a connection", func() bool {
		_, _, code := h.run("hub", "fleet", "status")
		return code == 1
	})
	h.fleet(1, "the ssh connection is gone", "status")
	if out := h.up(0, "gen2 is up", srv.URL, "gen2"); strings.Contains(out, "copied") {
		t.Errorf("the program was there: %s", out)
	}
	h.answering(4)

	h.recorded(srv.URL)
	h.fleetMistakes(srv.URL)
	h.fleetInterrupted(srv.URL)
	h.fleet(0, "gen3 is down", "down", "gen3", "--purge")
	if _, err := os.Stat(filepath.Join(h.dir, "gen3", "kasoku", "fleet")); !os.IsNotExist(err) {
		t.Errorf("something is left on gen3: %v", err)
	}
	h.answering(3)
	h.fleet(0, "gen1 is down", "down")
	for _, name := range []string{"gen1", "gen2", "gen3", "inner"} {
		if pid := h.agent(name); pid != 0 {
			t.Errorf("the agent of %s, %d, is left", name, pid)
		}
	}
	h.await("the hub's end, and that of ssh", func() bool {
		return len(processes(h.config)) == 0 && h.agent("hub") == 0
	})
	if left, _ := filepath.Glob(filepath.Join(h.dir, "hub", "kasoku", "fleet", "hosts.json")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestFleetFirstRun: from hosts that have nothing of kasoku to the first run of all of them it is two commands, and
// less than a minute.
func TestFleetFirstRun(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	h := newSSHHosts(t, "web", "app", "db")
	out := filepath.Join(h.dir, "first.kasoku")
	began := time.Now()
	up := h.fleet(0, "db is up", "up", "--ssh-config", h.config, "--allow", "record", "web", "app", "db")
	wentUp := time.Since(began)
	said, errs, code := h.run("hub", "record", "--with", "web,app,db", "--for", "10s", "--out", out)
	took := time.Since(began)
	h.fleet(0, "db is down", "down")
	if n := strings.Count(up, "the program copied"); n != 3 {
		t.Errorf("copied to %d hosts: %s", n, up)
	}
	rec, err := store.Open(out)
	if code != 0 || err != nil || len(rec.Run.Hosts) != 4 {
		t.Fatalf("the first run: exit %d, %v; %s%s", code, err, said, errs)
	}
	if took > time.Minute {
		t.Errorf("the first run took %s", took)
	}
	t.Logf("three fresh hosts are up after %s, their first run of 10 s is there after %s",
		wentUp.Round(10*time.Millisecond), took.Round(10*time.Millisecond))
}

// recorded: a host that may be recorded gets kasoku itself, too, can be recorded, and records itself.
func (h *sshHosts) recorded(url string) {
	h.t.Helper()
	h.fleet(0, "gen2 is up, kept by sh, the program copied", "up", "--allow", "load="+url+"/", "--allow", "record",
		"gen2")
	if out := h.fleet(0, "Each host can do what it may be asked.", "doctor", "gen2"); !strings.Contains(out,
		"it can be recorded") {
		h.t.Errorf("doctor: %s", out)
	}
	path := filepath.Join(h.dir, "recorded.kasoku")
	if out, errs, code := h.run("hub", "record", "--with", "gen2", "--for", "2s", "--out", path); code != 0 {
		h.t.Errorf("record --with: exit %d, %s%s", code, out, errs)
		return
	}
	rec, err := store.Open(path)
	if err != nil {
		h.t.Fatal(err)
	}
	if len(rec.Run.Hosts) != 2 || rec.Run.Hosts[1].Name != "gen2" {
		h.t.Errorf("hosts %v", rec.Run.Hosts)
	}
	h.up(0, "gen2 is up", url, "gen2")
}

// fleetMistakes: what goes wrong has its exit code and a line that helps, and the others stay up.
func (h *sshHosts) fleetMistakes(url string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Join(h.dir, "other-bin"), 0o755); err != nil {
		h.t.Fatal(err)
	}
	uname := "#!/bin/sh\n[ \"$1\" = -m ] && echo riscv64 || exec /usr/bin/uname \"$@\"\n"
	if err := os.WriteFile(filepath.Join(h.dir, "other-bin", "uname"), []byte(uname), 0o755); err != nil {
		h.t.Fatal(err)
	}
	h.sshd("other", h.ns["gen1"], h.address(1, 2), 2223, "")
	h.await("an sshd", func() bool {
		c, err := net.Dial("tcp", h.address(1, 2)+":2223")
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	h.up(3, "other is Linux riscv64", url, "other")
	h.up(3, "ssh absent.invalid has to get there by itself", url, "absent=absent.invalid")
	h.up(2, "two hosts have the name gen1", url, "gen1", "root@gen1")
	h.up(2, "bad host", url, "--", "-oProxyCommand")
	h.fleet(2, "no host is named", "up")
	h.fleet(2, "no host \"gen9\" is up", "down", "gen9")
	h.fleet(2, "bad permission", "up", "gen1", "--allow", "run=rm")
	h.answering(4)
}

// fleetInterrupted: Ctrl-C while ssh waits for a host that accepts and says nothing.
func (h *sshHosts) fleetInterrupted(url string) {
	h.t.Helper()
	l, err := net.Listen("tcp", h.address(1, 1)+":0")
	if err != nil {
		h.t.Fatal(err)
	}
	defer l.Close()
	h.write("ssh_config", fmt.Sprintf("Host silent\n HostName %s\n Port %d\n ConnectTimeout 60\n", h.address(1, 1),
		l.Addr().(*net.TCPAddr).Port))
	ctx, stop := context.WithTimeout(h.t.Context(), 2*time.Second)
	defer stop()
	cmd := h.command(ctx, "hub", "fleet", "up", "--ssh-config", h.config, "--allow", "load="+url+"/", "silent")
	before := time.Now()
	out, _ := cmd.CombinedOutput()
	if took := time.Since(before); cmd.ProcessState.ExitCode() != 3 || took > 8*time.Second {
		h.t.Errorf("exit %d after %s: %s", cmd.ProcessState.ExitCode(), took, out)
	}
	h.answering(4)
}
