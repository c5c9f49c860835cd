package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/smalldisk"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// A lossyPath is how a host's packets to and from the hub go: through this process, which loses some of them, where
// the kernel has no netem. All else goes as before.
type lossyPath struct {
	lost    atomic.Uint64 // of a path's packets, in 2^32nds
	dropped atomic.Int64
	delay   time.Duration // of each packet, each way; set before the first one
}

// lose has a share of the packets be lost, each way; 1 is a cut.
func (p *lossyPath) lose(share float64) { p.lost.Store(uint64(share * (1 << 32))) }

// path makes one for the n-th namespace of the test.
func (r *fleetRig) path(n int) *lossyPath {
	r.t.Helper()
	ns, name := fmt.Sprintf("kf%d-%d", os.Getpid(), n), fmt.Sprintf("kt%d-%d", r.net, n)
	here := tun(r.t, name)
	var there *os.File
	if err := inNamespace(ns, func() error { there = tun(r.t, "path"); return nil }); err != nil {
		r.t.Fatal(err)
	}
	must(r.t, "ip", "address", "add", r.address(100+n, 1)+"/24", "dev", name)
	must(r.t, "ip", "link", "set", name, "up")
	for _, c := range [][]string{{"address", "add", r.address(100+n, 2) + "/24", "dev", "path"},
		{"link", "set", "path", "up"}, {"route", "add", r.address(0, 1), "dev", "path", "src", r.address(100+n, 2)}} {
		must(r.t, "ip", append([]string{"-n", ns}, c...)...)
	}
	p := new(lossyPath)
	go p.carry(here, there)
	go p.carry(there, here)
	r.t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	return p
}

// tun makes a device whose packets are read from and written to the file.
func tun(t *testing.T, name string) *os.File {
	t.Helper()
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal("open /dev/net/tun: ", err)
	}
	req, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatal(err)
	}
	req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
		t.Fatal("make a device: ", err)
	}
	return os.NewFile(uintptr(fd), name)
}

func (p *lossyPath) carry(from, to *os.File) {
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if uint64(rand.Uint32()) < p.lost.Load() {
			p.dropped.Add(1)
			continue
		}
		if p.delay > 0 { // one goroutine's sleep is what a packet waits; those that come meanwhile wait for it
			_ = unix.Nanosleep(&unix.Timespec{Nsec: p.delay.Nanoseconds()}, nil)
		}
		_, _ = to.Write(b[:n]) // a device that is not up loses it
	}
}

// cutTime is how long a host is cut off.
func cutTime() time.Duration {
	if os.Getenv("KASOKU_LONG") != "" {
		return 30 * time.Second
	}
	return 12 * time.Second // longer than a connection is believed to be there
}

// everySecond holds that a host has each second of the run, once, or a gap with its reason: the machine of a test
// has other work, and a tick that comes late by seconds is one.
func everySecond(t *testing.T, what string, rec *kasoku.Recording, host string) {
	t.Helper()
	s := rec.Find(kasoku.Key{Host: host, Source: "host", Name: "cpu.user"})
	if s == nil || len(s.Points) < 3 {
		t.Errorf("%s: %s has no CPU", what, host)
		return
	}
	named := func(second int) bool {
		at := time.Duration(second) * time.Second
		return slices.ContainsFunc(rec.Gaps, func(g kasoku.Gap) bool {
			return g.Host == host && g.Source == "host" && g.Reason != "" && g.Interval.From <= at+time.Second &&
				g.Interval.To >= at
		})
	}
	last := int((s.Points[0].At + 50*time.Millisecond) / time.Second) // hosts begin one after the other
	if last > 3 {
		t.Errorf("%s: %s begins with %s", what, host, s.Points[0].At)
	}
	for _, p := range s.Points[1:] {
		second := int((p.At + 50*time.Millisecond) / time.Second) // clocks of hosts are that alike
		if second <= last {
			t.Errorf("%s: %s has second %d twice: at %s", what, host, second, p.At)
		}
		for last++; last < second; last++ {
			if !named(last) {
				t.Errorf("%s: %s has no second %d, and no gap: %+v", what, host, last, rec.Gaps)
			}
		}
	}
	for last++; last < int((rec.Run.Length-time.Second)/time.Second); last++ {
		if !named(last) {
			t.Errorf("%s: %s has no second %d of %s, and no gap", what, host, last, rec.Run.Length)
		}
	}
}

// TestFleetFaults: a host that is cut off, a path that loses packets, a disk that is full, an agent and the hub
// killed at once: what was recorded is in the run, each second and each request once, what is not is named, each
// server has its settings, and the run ends in order.
func TestFleetFaults(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	r := newTeam(t, time.Minute)
	path := r.path(3) // of db
	cut := cutTime()
	long := int((cut + 8*time.Second) / time.Second)
	r.ownLoad(long)
	var at time.Duration
	rec, said, code := r.record("cut", func() {
		began := time.Now()
		path.lose(1)
		<-time.After(cut)
		path.lose(0)
		at = time.Since(began)
	})
	if code != 0 || len(rec.Run.Hosts) != 4 || path.dropped.Load() == 0 {
		t.Errorf("db was cut off for %s: exit %d, hosts %v; %s", at, code, hostsOf(rec), said)
	}
	r.counted("cut", rec, 40*long)
	r.restored(0)
	r.left("web", "app", "db")

	r.ownLoad(8)
	path.lose(0.05)
	before := path.dropped.Load()
	rec, said, code = r.record("loss", nil)
	if code != 0 || len(rec.Run.Hosts) != 4 || path.dropped.Load() < before+5 {
		t.Errorf("5 %% of packets lost, %d: exit %d, hosts %v; %s",
			path.dropped.Load()-before, code, hostsOf(rec), said)
	}
	r.counted("loss", rec, 40*8)
	r.restored(0)
	path.lose(0)

	// An agent and the hub, at once; both come back.
	rec, said, code = r.record("both", func() {
		r.kill("app", false)
		r.killHub()
		r.startHub()
		r.agent("app")
	})
	if w := warningOf(rec, "short-host"); code != 3 || len(rec.Run.Hosts) != 4 || !strings.Contains(w, "host app") {
		t.Errorf("an agent and the hub killed: exit %d, hosts %v, %q; %s", code, hostsOf(rec), w, said)
	}
	r.countedAt("both", rec, 40*8)
	r.restored(0)
	r.fullDisk()
}

// ownLoad has the load of 40 requests a second go on for so many seconds.
func (r *teamRig) ownLoad(seconds int) {
	r.t.Helper()
	r.toml("own", fmt.Sprintf("project = 'shop'\n[load]\ntargets = ['GET %s/item']\nsteps = [40]\neach = '%ds'\n"+
		"[fleet]\nrecord = ['web', 'app', 'db']\n", r.target, seconds))
}

// counted holds that a run has each request and its statement, and each second of each host, once.
func (r *teamRig) counted(what string, rec *kasoku.Recording, want int) {
	r.t.Helper()
	r.countedAt(what, rec, want)
	everySecond(r.t, what, rec, "app")
}

// countedAt is counted without the host app.
func (r *teamRig) countedAt(what string, rec *kasoku.Recording, want int) {
	t := r.t
	t.Helper()
	gets, queries, asked := 0, 0, 0
	codes := map[int]uint64{}
	for _, s := range rec.Seconds {
		asked += int(s.Asked)
	}
	for _, e := range rec.Endpoints {
		gets += int(e.Count)
		for code, n := range e.Codes {
			codes[int(code)] += uint64(n)
		}
	}
	for _, q := range rec.Queries {
		if strings.Contains(q.Fingerprint, "shop.item") {
			queries += int(q.Calls)
		}
	}
	if gets != want || queries != want || asked != want {
		t.Errorf("%s: %d asked, %d in the access log, answered %v, %d statements; want %d; %+v", what, asked, gets, codes,
			queries, want, rec.Warnings)
	}
	for _, h := range []string{rec.Run.Hosts[0].Name, "web", "db"} {
		everySecond(t, what, rec, h)
	}
}

// fullDisk: the disk to which one host's recording goes is full while it records.
func (r *teamRig) fullDisk() {
	t := r.t
	t.Helper()
	disk := smalldisk.Mount(t, "6m")
	at := filepath.Join(r.dir, "db", "kasoku", "agent", "recordings")
	if err := errors.Join(os.Chmod(disk, 0o700), unix.Mount(disk, at, "", unix.MS_BIND, "")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	r.kill("db", false) // one that starts now sees the mount
	r.agent("db")
	rec, said, code := r.record("full", func() { smalldisk.Fill(t, disk, 0) })
	w := warningOf(rec, "lost-host") + warningOf(rec, "short-host")
	if code != 3 || !strings.Contains(w, "host db") || !strings.Contains(w, "no space left") {
		t.Errorf("a full disk: exit %d, hosts %v, %q; %s", code, hostsOf(rec), w, said)
	}
	for _, name := range []string{rec.Run.Hosts[0].Name, "web", "app"} {
		everySecond(t, "full", rec, name)
	}
	r.restored(10 * time.Second)
}

// TestFleetLoadFaults: a generator that is cut off from the hub, and one whose packets to it get lost, sends its
// share all the same, and each request counts once.
func TestFleetLoadFaults(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("it builds both programs")
	}
	if os.Getuid() != 0 {
		t.Skip("namespaces are made by root")
	}
	r := newFleetRig(t)
	team := &teamRig{fleetRig: r, ns: map[string]string{}, agents: map[string]*exec.Cmd{}}
	var mu sync.Mutex
	came := map[string]int{}
	for n, name := range []string{"gen1", "gen2"} {
		team.ns[name], _ = r.namespace(n + 1)
	}
	l, err := net.Listen("tcp", r.address(1, 1)+":0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		came[q.Header.Get("X-Vegeta-Seq")]++
	})}
	go srv.Serve(l)
	defer srv.Close()
	url := "http://" + l.Addr().String() + "/"
	team.startHub()
	path := r.path(2)
	for name, ns := range team.ns {
		line, errs, code := r.run("hub", "hub", "invite", name)
		if code != 0 {
			t.Fatalf("invite: exit %d, %s", code, errs)
		}
		cmd := r.command(context.Background(), name, "agent", strings.TrimSpace(line), "--name", name, "--allow",
			"load="+url)
		cmd.Args = append([]string{"ip", "netns", "exec", ns, cmd.Path}, cmd.Args[1:]...)
		cmd.Path, cmd.Err = exec.LookPath("ip")
		_, team.agents[name] = team.background("answers at hub", cmd)
	}
	f := func(what string, seconds int, meanwhile func()) {
		t.Helper()
		mu.Lock()
		clear(came)
		mu.Unlock()
		cmd := r.command(context.Background(), "hub", "attack", "--from", "gen1,gen2", "-rate", "100", "-duration",
			fmt.Sprintf("%ds", seconds), "-o", "json", url)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		meanwhile()
		_ = cmd.Wait()
		var got struct {
			Total      struct{ Requests, Success uint64 }
			Generators []struct{ Due, Reported uint64 }
		}
		err := json.Unmarshal([]byte(out.String()), &got)
		mu.Lock()
		defer mu.Unlock()
		sum, want := 0, 100*seconds
		for _, n := range came {
			sum += n
		}
		if err != nil || cmd.ProcessState.ExitCode() != 0 || sum != want || len(came) != want ||
			int(got.Total.Requests) != want || int(got.Total.Success) != want || len(got.Generators) != 2 ||
			int(got.Generators[1].Reported) != want/2 {
			t.Errorf("%s: exit %d, %v, %d came, %d different, want %d; %+v; %s", what, cmd.ProcessState.ExitCode(), err,
				sum, len(came), want, got, errs.String())
		}
	}
	cut := cutTime()
	f("cut off", int(cut/time.Second)+5, func() {
		team.await("the load", func() bool { mu.Lock(); defer mu.Unlock(); return len(came) > 50 })
		path.lose(1)
		<-time.After(cut)
		path.lose(0)
	})
	path.lose(0.05)
	f("5 % lost", 8, func() {})
	if path.dropped.Load() == 0 {
		t.Error("nothing was lost")
	}
}
