package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A logsRig is hosts with access logs, as network namespaces.
type logsRig struct {
	*teamRig
	names []string
}

func newLogsRig(t *testing.T) *logsRig {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("namespaces are made by root")
	}
	r := &logsRig{&teamRig{fleetRig: newFleetRig(t), ns: map[string]string{}, agents: map[string]*exec.Cmd{}},
		[]string{"web1", "web2", "web3"}}
	for i, name := range r.names {
		r.ns[name], _ = r.namespace(i + 11)
		if err := os.MkdirAll(filepath.Join(r.dir, name, "log"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.hubUp()
	for _, name := range r.names {
		line, errs, code := r.run("hub", "hub", "invite", name)
		if code != 0 {
			t.Fatalf("invite: exit %d, %s", code, errs)
		}
		r.reading(name, strings.TrimSpace(line))
	}
	return r
}

func (r *logsRig) hubUp() {
	r.t.Helper()
	_, r.hub = r.background("hub at", r.command(context.Background(), "hub", "hub", "--listen", r.address(11, 1)+":7433", "--invites", "0"))
}

// reading starts the agent of a host that may read its logs.
func (r *logsRig) reading(name string, more ...string) {
	r.t.Helper()
	cmd := r.command(context.Background(), name, append([]string{"agent", "--name", name, "--allow",
		"logs=" + filepath.Join(r.dir, name, "log", "*"), "--lease", "4s"}, more...)...)
	cmd.Args = append([]string{"ip", "netns", "exec", r.ns[name], cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Err = exec.LookPath("ip")
	_, r.agents[name] = r.background("answers at hub", cmd)
}

// log writes a log of a host, of so many requests.
func (r *logsRig) log(host, name string, n int) {
	r.t.Helper()
	x := rand.New(rand.NewPCG(uint64(len(host)*int(host[len(host)-1])), uint64(len(name))))
	var b strings.Builder
	for i := range n {
		if i%1000 == 500 {
			b.WriteString("this line is no request\n")
		}
		uri := fmt.Sprintf("/items/%d", x.IntN(500))
		switch x.IntN(5) {
		case 0:
			uri = fmt.Sprintf("/%s/list?page=%d", host, i)
		case 1:
			uri = "/index.php?action=" + []string{"list", "export"}[x.IntN(2)]
		case 2:
			uri = fmt.Sprintf("/users/u%c%c%c/posts", 'a'+x.IntN(26), 'a'+x.IntN(26), 'a'+x.IntN(26))
		}
		fmt.Fprintf(&b, "time:20/Nov/2026:%02d:%02d:%02d +0900\tmethod:%s\turi:%s\tstatus:%d\tsize:%d\treqtime:%.3f\tua:%s\n",
			10+i*3/n, i/60%60, i%60, []string{"GET", "POST"}[x.IntN(2)], uri, []int{200, 200, 304, 404, 500}[x.IntN(5)],
			x.IntN(5000), x.ExpFloat64()*0.1, []string{"curl/8", "Googlebot/2.1"}[x.IntN(2)])
	}
	path := filepath.Join(r.dir, host, "log", name)
	f, err := os.Create(path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	if !strings.HasSuffix(name, ".gz") {
		_, err = f.WriteString(b.String())
	} else {
		w := gzip.NewWriter(f)
		_, err = w.Write([]byte(b.String()))
		if err == nil {
			err = w.Close()
		}
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// at names the logs of hosts by a pattern, as the command does.
func (r *logsRig) at(pattern string) (hosts, own []string) {
	for _, name := range r.names {
		path := filepath.Join(r.dir, name, "log", pattern)
		hosts, own = append(hosts, name+":"+path), append(own, path)
	}
	return hosts, own
}

// same takes the names of hosts out of what was reported.
func (r *logsRig) same(out string) string {
	for _, name := range r.names {
		out = strings.ReplaceAll(out, name+":"+r.dir, r.dir)
	}
	return out
}

// equal holds what hosts read to one reading of all logs, byte for byte.
func (r *logsRig) equal(pattern string, flags ...string) {
	r.t.Helper()
	r.equalBy("accesslog", pattern, flags...)
}

func (r *logsRig) equalBy(command, pattern string, flags ...string) {
	r.t.Helper()
	hosts, own := r.at(pattern)
	want, errs, code := r.run("own", append(append([]string{command}, own...), flags...)...)
	got, hostErrs, hostCode := r.run("hub", append(append([]string{command}, hosts...), flags...)...)
	if got = r.same(got); got != want || code != hostCode || len(want) < 300 && code == 0 {
		r.t.Errorf("%s %v: exit %d and %d, %d and %d bytes differ at %s\n%s%s", pattern, flags, code, hostCode, len(want),
			len(got), difference(want, got), errs, hostErrs)
	}
	if r.same(hostErrs) != errs {
		r.t.Errorf("%s %v: said on one host\n%sand of all\n%s", pattern, flags, errs, hostErrs)
	}
}

func difference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return fmt.Sprintf("%d: %.200q and %.200q", i, a[i:], b[i:])
}

// refused holds what the command says when nothing is read.
func (r *logsRig) refused(code int, want string, args ...string) {
	r.t.Helper()
	out, errs, got := r.run("hub", append([]string{"accesslog", "-o", "json"}, args...)...)
	if got != code || !strings.Contains(errs, want) || strings.Contains(out+errs, "root:") {
		r.t.Errorf("%v: exit %d, want %d with %q; %s%s", args, got, code, want, out, errs)
	}
}

// readers are the readers of a host that live.
func (r *logsRig) readers(name string) (out []int) {
	for pid := range processes("host-reader") {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if strings.Contains(string(env), "XDG_STATE_HOME="+filepath.Join(r.dir, name)+"\x00") {
			out = append(out, pid)
		}
	}
	return out
}

// held begins a reading of all hosts, holds the reader of one before it looks at a log, or, mid, when it has read
// some of its largest, does something, and lets the reader go on.
func (r *logsRig) held(host string, mid bool, meanwhile func(cmd *exec.Cmd, reader int), flags ...string) (out, errs string, code int) {
	r.t.Helper()
	lock, err := os.OpenFile(filepath.Join(r.dir, host, "kasoku", "agent", "readings", "lock"), os.O_RDWR, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	r.await("the end of the reader before", func() bool {
		return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
	})
	hosts, _ := r.at("access*")
	cmd := r.command(r.t.Context(), "hub", append(append([]string{"accesslog", "-o", "json"}, hosts...), flags...)...)
	var text, said strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &said
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.await("a reader", func() bool { return len(r.readers(host)) == 1 })
	reader := r.readers(host)[0]
	if !mid {
		_ = syscall.Kill(reader, syscall.SIGSTOP)
	}
	_ = lock.Close()
	if mid {
		for n := 0; n < 4_000_000; { // bytes, of 10 MB
			io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", reader))
			if _, scanErr := fmt.Sscanf(string(io), "rchar: %d", &n); err != nil || scanErr != nil {
				r.t.Fatalf("the reader has ended: %v, %v", err, scanErr)
			}
		}
		_ = syscall.Kill(reader, syscall.SIGSTOP)
	}
	meanwhile(cmd, reader)
	_ = syscall.Kill(reader, syscall.SIGCONT)
	_ = cmd.Wait()
	return text.String(), said.String(), cmd.ProcessState.ExitCode()
}

// TestFleetLogs: hosts read their own logs, and what is reported is that of one reading of all of them; nothing
// else of a host is read, and what is cut off goes on.
func TestFleetLogs(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	r := newLogsRig(t)
	for i, name := range r.names {
		r.log(name, "access.log", 9000+i)
		r.log(name, "access.log.1", 4000)
		r.log(name, "access.log.2.gz", 3000)
	}
	r.log("web2", "access.log.3", 0)
	r.equalities()
	r.slowLogs()
	r.attacks()
	r.cutOff()
}

func (r *logsRig) equalities() {
	openapi := filepath.Join(r.dir, "openapi.json")
	if err := os.WriteFile(openapi, []byte(`{"openapi":"3.1.0","paths":{"/users/{name}/posts":{"get":{},"post":{}}}}`), 0o600); err != nil {
		r.t.Fatal(err)
	}
	for _, flags := range [][]string{
		{"-o", "json"},
		{"-o", "json", "--by", "status,route", "--slowest", "3", "--seconds"},
		{"-o", "json", "--since", "2026-11-20 11:00:10", "--until", "2026-11-20 12:30"},
		{"-o", "json", "--by", "hour,class", "--location", "UTC", "--where", "status >= 400"},
		{"-o", "json", "--routes", openapi, "--bots", "exclude", "-m", "shop=^/web"},
		{"-o", "tsv", "--keep-query", "page"},
		{"-o", "csv", "--percentiles", "50,99.9", "--workers", "1"},
	} {
		r.equal("access.log*", flags...)
	}
	r.log("web1", "none.log", 0)
	if err := os.WriteFile(filepath.Join(r.dir, "web2", "log", "none.log"), []byte("no format\n"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.log("web3", "none.log", 100)
	r.equal("none.log", "-o", "json")                           // one of them is not understood
	r.equal("access.log", "-o", "json", "--format", "combined") // none is
	r.equal("access.log", "-o", "json", "--where", "status == 799")
}

// slowLogs: logs of statements of three servers, whose connections have the same numbers.
func (r *logsRig) slowLogs() {
	for _, name := range r.names {
		for i := range 2 {
			x := rand.New(rand.NewPCG(uint64(name[3]), uint64(i)))
			var b strings.Builder
			at := 1795143600
			entry := func(sql string) {
				at += x.IntN(2)
				fmt.Fprintf(&b, "# User@Host: app[app] @ %s [10.0.0.%d]\n# Thread_id: %d  Schema: shop  QC_hit: No\n"+
					"# Query_time: %.6f  Lock_time: 0.000100  Rows_sent: %d  Rows_examined: %d\n# Rows_affected: %d  Bytes_sent: 70\n"+
					"SET timestamp=%d;\n%s;\n", name, x.IntN(40), 10+x.IntN(9), x.ExpFloat64()*0.01, x.IntN(10), x.IntN(1e5), x.IntN(2), at, sql)
			}
			for n := range 500 {
				entry("BEGIN")
				entry(fmt.Sprintf("UPDATE stock SET n = n - 1 WHERE id = %d", x.IntN(100)))
				entry([]string{"COMMIT", "ROLLBACK"}[x.IntN(2)])
				entry(fmt.Sprintf("SELECT * FROM item WHERE shop = %d AND note = 'n%d'", x.IntN(60), n))
				entry(fmt.Sprintf("SELECT name FROM %s_own WHERE id = %d", name, x.IntN(4000)))
			}
			path := filepath.Join(r.dir, name, "log", fmt.Sprintf("slow.log.%d", i))
			if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	for _, flags := range [][]string{
		{"-o", "json"}, {"-o", "json", "--seconds", "--mask", "--by", "tag"}, {"-o", "tsv", "--by", "host", "--slower", "5ms"},
		{"-o", "csv", "--since", "2026-11-20 03:05", "--until", "2026-11-20 12:30", "--location", "Asia/Tokyo"},
		{"-o", "json", "--match", "nothing of the kind"},
	} {
		r.equalBy("slowlog", "slow.log.*", flags...)
	}
}

func (r *logsRig) attacks() {
	dir := filepath.Join(r.dir, "web1", "log")
	secret := filepath.Join(r.dir, "web1", "secret.log")
	plant := func(err error) {
		r.t.Helper()
		if err != nil {
			r.t.Fatal(err)
		}
	}
	plant(os.WriteFile(secret, []byte("root:x:0:0\n"), 0o600))
	plant(os.Symlink("/etc/passwd", filepath.Join(dir, "link.log")))
	plant(os.Symlink(filepath.Join(r.dir, "web1"), filepath.Join(dir, "up")))
	plant(syscall.Mkfifo(filepath.Join(dir, "pipe.log"), 0o600))
	plant(os.Mkdir(filepath.Join(dir, "below"), 0o700))
	const fix = "kasoku agent --allow logs="
	r.refused(3, fix, "web1:/etc/passwd")
	r.refused(3, fix, "web1:"+secret)
	r.refused(3, fix, "web1:/etc/not-there")
	r.refused(3, fix, "web1:/*/*")
	r.refused(2, "without dots", "web1:"+dir+"/../secret.log")
	r.refused(3, fix, "web1:"+dir+"/up/secret.log")
	r.refused(3, "none is followed", "web1:"+dir+"/link.log")
	r.refused(3, "none is followed", "web1:"+dir+"/[al]*.log") // one of the logs that match is a link
	r.refused(3, "is no file", "web1:"+dir+"/pipe.log")
	r.refused(3, "is no file", "web1:"+dir+"/below")
	r.refused(3, "only directories match", "web1:"+dir+"/bel*")
	r.refused(3, "not connected", "web1:"+dir+"/access.log", "web9:/var/log/x")
	r.refused(2, "does not go with logs of hosts", "web1:"+dir+"/access.log", "--nginx-conf", "/etc/nginx/nginx.conf")
	r.refused(2, "does not go with logs of hosts", "web1:"+dir+"/access.log", "--follow")
	r.refused(2, "need one time zone", "web1:"+dir+"/access.log", "--by", "minute")
	r.refused(2, "not read at once", "web1:"+dir+"/access.log", "/etc/hostname")
	r.refused(2, "stand apart", "web1:"+dir+"/access.log", "web2:/a.log", "web1:"+dir+"/access.log.1")
	for _, name := range []string{"link.log", "up", "pipe.log", "below"} {
		plant(os.Remove(filepath.Join(dir, name)))
	}
}

func (r *logsRig) cutOff() {
	t := r.t
	r.log("web1", "access-big.gz", 400_000)
	_, own := r.at("access*")
	read := func(flags ...string) string {
		t.Helper()
		out, errs, code := r.run("own", append(append([]string{"accesslog", "-o", "json"}, own...), flags...)...)
		if code != 0 {
			t.Fatalf("exit %d, %s", code, errs)
		}
		return out
	}
	whole := func(what, want, out, errs string, code int) {
		t.Helper()
		if out = r.same(out); code != 0 || out != want {
			t.Errorf("%s: exit %d, differs at %s\n%s", what, code, difference(want, out), errs)
		}
	}
	nothing := func(*exec.Cmd, int) {}
	want := read()
	out, errs, code := r.held("web1", true, func(_ *exec.Cmd, reader int) { // both are killed as they read
		_ = syscall.Kill(reader, syscall.SIGKILL)
		r.kill("web1", false)
		r.reading("web1")
	}, "-v")
	whole("its agent and reader were killed", want, out, errs, code)
	if !strings.Contains(errs, "web1: read") || !strings.Contains(errs, "were read before") {
		t.Errorf("whole logs were read again: %s", errs)
	}
	// What was read before is not read again, unless it changed.
	out, errs, code = r.held("web1", false, nothing, "-v")
	whole("again", want, out, errs, code)
	if strings.Count(errs, "were read before") != 3 || !strings.Contains(errs, "web1: read 0 B") {
		t.Errorf("it was read again: %s", errs)
	}
	r.log("web1", "access.log.1", 5000)
	want = read()
	out, errs, code = r.held("web1", false, nothing)
	whole("changed", want, out, errs, code)
	// kill -9 of the agent alone, of the hub: what was asked for goes on.
	want = read("--slowest", "11")
	out, errs, code = r.held("web1", true, func(*exec.Cmd, int) { r.kill("web1", false); r.reading("web1") }, "--slowest", "11")
	whole("its agent was killed", want, out, errs, code)
	want = read("--slowest", "12")
	out, errs, code = r.held("web1", true, func(*exec.Cmd, int) {
		r.killHub()
		r.hubUp()
	}, "--slowest", "12")
	whole("the hub came back", want, out, errs, code)
	r.ended()
}

// ended: readings that are ended, by who asks or because he is gone.
func (r *logsRig) ended() {
	t := r.t
	out, errs, code := r.held("web1", true, func(cmd *exec.Cmd, _ int) { _ = cmd.Process.Signal(syscall.SIGINT) }, "--slowest", "13")
	var got struct {
		Complete bool
		Requests int
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 3 || got.Complete || got.Requests < 50_000 ||
		got.Requests > 440_000 || !strings.Contains(errs, " were read") {
		t.Errorf("Ctrl-C: exit %d, %v, %+v, %s", code, err, got, errs)
	}
	// A reader alone is killed: its host is named, and the rest is reported as not all.
	out, errs, code = r.held("web1", true, func(_ *exec.Cmd, reader int) { _ = syscall.Kill(reader, syscall.SIGKILL) }, "--slowest", "14")
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 3 || got.Complete || got.Requests != 32_003 ||
		!strings.Contains(errs, "web1: the reader ended") {
		t.Errorf("its reader was killed: exit %d, %v, %+v, %s", code, err, got, errs)
	}
	// Who asks is gone: hosts end by themselves, and what comes after him is read.
	_, _, _ = r.held("web1", false, func(cmd *exec.Cmd, _ int) { _ = cmd.Process.Kill(); _, _ = cmd.Process.Wait() }, "--slowest", "15")
	for _, name := range r.names {
		r.await("the end of the reader of "+name, func() bool { return len(r.readers(name)) == 0 })
	}
	r.equal("access.log*", "-o", "json", "--slowest", "16")
	for _, name := range r.names {
		if left, _ := filepath.Glob(filepath.Join(r.dir, name, "kasoku", "agent", "readings", "*.tables")); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
}
