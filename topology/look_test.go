package topology

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/internal/test/golden"
)

// describe prints what was found, for goldens.
func describe(f *Found) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "host %s systemd %v docker %q client %q\n", f.Host, f.Systemd, f.Docker, f.ClientFile)
	for _, s := range f.Services {
		fmt.Fprintf(&b, "\n%s %s pid %d of %d, uid %d\n", s.Kind, s.Name, s.PID, len(s.PIDs), s.UID)
		for _, line := range []struct{ name, value string }{
			{"exe", s.Exe}, {"dir", s.Dir}, {"unit", s.Unit}, {"container", s.Container}, {"listen", strings.Trim(fmt.Sprint(s.Listen), "[]")},
			{"config", strings.Join(s.Config, " ")}, {"repository", s.Repository}, {"how", s.How}, {"why", strings.Join(s.Why, "; ")},
		} {
			if line.value != "" {
				fmt.Fprintf(&b, "  %s: %s\n", line.name, line.value)
			}
		}
		if s.Score != 0 {
			fmt.Fprintf(&b, "  score: %d\n", s.Score)
		}
		if s.Nginx != nil {
			fmt.Fprintf(&b, "  upstreams: %v\n  formats: %v\n", s.Nginx.Upstreams, s.Nginx.Formats)
		}
		if s.MySQL != nil {
			fmt.Fprintf(&b, "  database: %+v\n", *s.MySQL)
		}
		if s.Go != nil {
			fmt.Fprintf(&b, "  go: %+v\n", *s.Go)
		}
	}
	b.WriteString("\n")
	for _, l := range f.Logs {
		fmt.Fprintf(&b, "log %s %s format %q time %v\n  of %s: %s\n", l.Kind, l.Path, l.Format, l.RequestTime, l.Service, l.How)
	}
	fmt.Fprintf(&b, "options %v\n", f.OptionFiles)
	for _, n := range f.Notes {
		fmt.Fprintf(&b, "note %s: %s", n.What, n.Why)
		if n.Hint != "" {
			fmt.Fprintf(&b, " (%s)", n.Hint)
		}
		b.WriteString("\n")
	}
	return b.Bytes()
}

func TestLook_Contest(t *testing.T) {
	f, err := Look(t.Context(), Options{Root: plant(t, "testdata/contest.txtar")})
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/contest.golden", describe(f))
}

// TestLook_Repository: the checkout that an interpreter lies in, as pyenv's, is not that of the
// application; that of a program of its own is.
func TestLook_Repository(t *testing.T) {
	for exe, want := range map[string]string{
		"/home/isucon/webapp/go/shop":                          "/home/isucon/webapp",
		"/home/isucon/webapp/versions/3.12.1/bin/python3.12":   "",
		"/home/isucon/webapp/versions/3.12.1/bin/python-shop2": "/home/isucon/webapp",
	} {
		root := plant(t, "testdata/contest.txtar")
		for link, to := range map[string]string{"exe": exe, "cwd": "/srv"} {
			name := filepath.Join(root, "proc/1204", link)
			if err := errors.Join(os.Remove(name), os.Symlink(to, name)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := Look(t.Context(), Options{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(f.Services, func(s Service) bool { return s.PID == 1204 })
		if i < 0 || f.Services[i].Repository != want {
			t.Errorf("%s: %+v, want the checkout %q", exe, f.Services, want)
		}
	}
}

// TestLook_Programs: no program that a process points to is run, nor one by its name
// with what the process says.
func TestLook_Programs(t *testing.T) {
	run := func(_ context.Context, name string, args ...string) ([]byte, error) {
		if name != "varnishstat" {
			t.Errorf("%s %v is run", name, args)
		}
		return nil, fmt.Errorf("not expected: %s", name)
	}
	f, err := Look(t.Context(), Options{Root: plant(t, "testdata/contest.txtar"), Run: run})
	if err != nil {
		t.Fatal(err)
	}
	if web := f.Of(Nginx)[0]; len(web.Config) == 0 || web.Config[0] != "/etc/nginx/nginx.conf" {
		t.Errorf("config %v, notes %v", web.Config, f.Notes)
	}
}

// TestLook_Twins: access logs that one block of nginx writes side by side have the
// same requests; those of other blocks, and those with a condition, need not.
func TestLook_Twins(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		n := &nginxFile{service: &Service{Nginx: &WebServer{Formats: map[string]string{}}}, prefix: "/p"}
		config, _ := nginxconf.Parse(text, "")
		n.read(config)
		var got []string
		for _, l := range n.logs {
			if l.Kind == AccessLog {
				got = append(got, l.Path+"="+l.Twin)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%s\ngot %s\nwant %s", text, s, want)
		}
	}
	f("http { access_log /a; access_log /b ltsv; access_log /c; }", "/a= /b=/a /c=/a")
	f("http { access_log /a; server { access_log /b; } server { access_log /c; access_log /d; } }", "/a= /b= /c= /d=/c")
	f("http { access_log /a; access_log /slow combined if=$slow; }", "/a= /slow=")
	f("http { access_log /slow combined if=$slow; access_log /a; }", "/slow= /a=")
}

func TestLook_Failure(t *testing.T) {
	if f, err := Look(t.Context(), Options{Root: t.TempDir()}); f != nil || err == nil {
		t.Errorf("got %v, %v", f, err)
	}
}

// TestLook_Late: a look that has no time left says so.
func TestLook_Late(t *testing.T) {
	f, err := Look(t.Context(), Options{Root: plant(t, "testdata/contest.txtar"), Limit: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(fmt.Sprint(f.Notes), "the look took more than 1ns") {
		t.Errorf("notes %v", f.Notes)
	}
}

// TestByUser: a socket whose owner cannot be seen is that of the only hidden
// family of its user.
func TestByUser(t *testing.T) {
	f := func(want string, procs ...*process) {
		t.Helper()
		all := families(procs)
		(&census{families: all}).giveByUser(socket{network: "unix", path: "/s", uid: 27}, false)
		got := ""
		for pid := range procs {
			if fam := all[procs[pid].pid]; fam != nil && len(fam.listen) > 0 {
				got += fam.head.name
			}
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	one := &process{pid: 5, uid: 27, name: "mysqld", hidden: true}
	child := &process{pid: 6, parent: 5, uid: 27, name: "mysqld", hidden: true}
	f("mysqld", one)
	f("mysqld", one, child)
	f("mysqld", one, &process{pid: 7, uid: 28, name: "x", hidden: true})
	f("", one, &process{pid: 7, uid: 27, name: "x", hidden: true})
	f("", &process{pid: 7, uid: 27, name: "x"})
}

// TestPprof: only loopback ports are asked, and only an answer with profiles counts.
func TestPprof(t *testing.T) {
	f := func(body, want, asked string, at ...Listener) {
		t.Helper()
		var urls []string
		a := asker{view: &view{ctx: t.Context()}, get: func(_ context.Context, url string) (int, []byte, error) {
			urls = append(urls, url)
			return 200, []byte(body), nil
		}}
		got := a.pprof(&Service{Listen: at})
		if got != want || strings.Join(urls, " ") != asked {
			t.Errorf("got %q, asked %q", got, urls)
		}
	}
	loopback := Listener{Network: "tcp", Address: "127.0.0.1:6060", Port: 6060, Loopback: true}
	six := Listener{Network: "tcp", Address: "[::1]:6060", Port: 6060, Loopback: true}
	f("goroutine", "http://127.0.0.1:6060/debug/pprof/", "http://127.0.0.1:6060/debug/pprof/", loopback, six)
	f("goroutine", "http://[::1]:6060/debug/pprof/", "http://[::1]:6060/debug/pprof/", six)
	f("hello", "", "http://127.0.0.1:6060/debug/pprof/", loopback)
	f("goroutine", "", "", Listener{Network: "tcp", Address: "0.0.0.0:6060", Port: 6060})
	f("goroutine", "", "", Listener{Network: "tcp", Address: "127.0.0.1:6060", Port: 6060, Loopback: true, Private: true})
	f("goroutine", "", "", Listener{Network: "unix", Address: "/run/a.sock", Loopback: true})
}

// TestLook_Clients: each database has the applications that are connected to it.
func TestLook_Clients(t *testing.T) {
	db := func(listen ...string) *Service {
		s := &Service{Kind: MySQL, MySQL: &Database{Port: 3306}}
		for _, at := range listen {
			s.Listen = append(s.Listen, Listener{Network: "tcp", Address: at})
		}
		return s
	}
	f := func(local, remote string, s *Service, want bool) {
		t.Helper()
		c := connection{1, netip.MustParseAddrPort(local), netip.MustParseAddrPort(remote)}
		if got := c.leadsTo(s); got != want {
			t.Errorf("%s to %s leads to %v: %v, want %v", local, remote, s.Listen, got, want)
		}
	}
	f("127.0.0.1:40000", "127.0.0.1:3306", db("127.0.0.1:3306"), true)
	f("127.0.0.1:40000", "127.0.0.1:3307", db("127.0.0.1:3306"), false)
	f("127.0.0.1:40000", "127.0.0.1:3306", db("0.0.0.0:3306"), true)
	f("10.0.0.1:40000", "10.0.0.1:3306", db("[::]:3306"), true)
	f("10.0.0.1:40000", "10.0.0.2:3306", db("0.0.0.0:3306"), false) // of another host
	f("127.0.0.1:40000", "127.0.0.1:3306", db("10.0.0.1:3306"), false)
	f("127.0.0.1:40000", "127.0.0.1:3306", db(), true) // its sockets cannot be seen

	app, other, one, two := Service{Kind: App, Name: "shop", PIDs: []int{7, 8}}, Service{Kind: Other, Name: "x", PIDs: []int{9}}, *db("127.0.0.1:3306"), *db("127.0.0.1:3307")
	l := &looker{subjects: []*subject{{Service: &app}, {Service: &other}, {Service: &one}, {Service: &two}}}
	at := netip.MustParseAddrPort
	l.links = []connection{{8, at("127.0.0.1:40000"), at("127.0.0.1:3307")}, {9, at("127.0.0.1:40001"), at("127.0.0.1:3306")}}
	l.applications().nameClients()
	if a, b := one.MySQL.Clients, two.MySQL.Clients; len(a) != 0 || len(b) != 1 || b[0] != "shop" {
		t.Errorf("clients %v and %v", a, b)
	}
}

// TestLostPart: a part of the look that panics costs a note and the services that it was to
// describe; what runs beside them is found as before.
func TestLostPart(t *testing.T) {
	for _, lost := range []struct {
		part string
		kind Kind
	}{{"databases", MySQL}, {"nginx", Nginx}} {
		root := plant(t, "testdata/contest.txtar")
		whole, err := Look(t.Context(), Options{Root: root})
		if err != nil || len(whole.Of(lost.kind)) == 0 {
			t.Fatalf("%s: %d services, error %v", lost.part, len(whole.Of(lost.kind)), err)
		}
		remove := contain.Plant(contain.Part{Kind: contain.Check, Name: lost.part})
		f, err := Look(t.Context(), Options{Root: root})
		remove()
		if err != nil {
			t.Fatal(err)
		}
		var notes []string
		for _, n := range f.Notes {
			if strings.HasPrefix(n.What, "discovery: ") {
				notes = append(notes, n.What)
			}
		}
		if len(notes) != 1 || notes[0] != "discovery: "+lost.part {
			t.Errorf("%s lost: notes of %q", lost.part, notes)
		}
		if want := len(whole.Services) - len(whole.Of(lost.kind)); len(f.Services) != want || len(f.Of(lost.kind)) != 0 {
			t.Errorf("%s lost: %d services, %d of them of its kind, want %d and 0", lost.part, len(f.Services),
				len(f.Of(lost.kind)), want)
		}
	}
}
