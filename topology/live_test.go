package topology_test

import (
	"crypto/x509"
	"encoding/pem"
	_ "expvar" // what the child serves
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof" // what the child serves
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/topology"
)

// TestMain is, in a child, a Go service with profiles.
func TestMain(m *testing.M) {
	file := os.Getenv("KASOKU_TEST_SERVE")
	if file == "" {
		os.Exit(m.Run())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		err = os.WriteFile(file+".new", []byte(l.Addr().String()), 0o600)
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err == nil {
		err = http.Serve(l, nil)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// serve starts this binary as a service of another name and returns its address.
func serve(t *testing.T) (addr string, pid int) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program, file := filepath.Join(dir, "shopapp"), filepath.Join(dir, "addr")
	if err := os.Symlink(exe, program); err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(dir, "app.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err := command.Start(t.Context(), command.Spec{
		Path: program, Dir: dir, Env: []string{"KASOKU_TEST_SERVE=" + file}, Stdout: out, Stderr: out, DieWithParent: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = p.Stop() })
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.Done():
			t.Fatal("the service ended")
		case <-tick.C:
		}
		if b, err := os.ReadFile(file); err == nil {
			return string(b), p.Pid()
		}
	}
}

// find returns the service with the process.
func find(t *testing.T, f *topology.Found, pid int) topology.Service {
	t.Helper()
	i := slices.IndexFunc(f.Services, func(s topology.Service) bool { return s.PID == pid })
	if i < 0 {
		t.Fatalf("process %d is not found; notes %v", pid, f.Notes)
	}
	return f.Services[i]
}

// look looks at this host, and asks for its numbers only what this test has started.
func look(t *testing.T) *topology.Found {
	t.Helper()
	own := func(s *topology.Service) bool { return s.Kind != topology.App || s.Name == "shopapp" }
	f, err := topology.Look(t.Context(), topology.Options{Own: own})
	if err != nil {
		t.Fatal(err)
	}
	if f.Took > 3*time.Second {
		t.Errorf("took %s", f.Took)
	}
	return f
}

func TestLook_GoService(t *testing.T) {
	addr, pid := serve(t)
	f := look(t)
	s := find(t, f, pid)
	if s.Kind != topology.App || s.Name != "shopapp" || len(s.Listen) != 1 || s.Listen[0].Address != addr {
		t.Errorf("got %+v", s)
	}
	if s.Go == nil || !strings.HasPrefix(s.Go.Version, "go1.") || s.Go.Pprof != "http://"+addr+"/debug/pprof/" {
		t.Errorf("go %+v", s.Go)
	}
	i := slices.IndexFunc(f.Logs, func(l topology.Log) bool { return filepath.Base(l.Path) == "app.log" && l.Kind == topology.AppLog })
	if i < 0 {
		t.Errorf("logs %v", f.Logs)
	}
}

func TestLook_Servers(t *testing.T) {
	db := sandboxtest.MariaDB(t, sandbox.Options{})
	addr, app := serve(t)
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Upstream: addr})
	res, err := http.Get(web.URL()) // a worker answers: the leader listens before it has one
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	f := look(t)

	s := find(t, f, web.Pid())
	if s.Kind != topology.Nginx || !slices.Contains(s.Config, web.ConfigFile) || !slices.Equal(s.Nginx.Upstreams, []string{addr}) || len(s.PIDs) < 2 {
		t.Errorf("nginx %+v %+v", s, s.Nginx)
	}
	i := slices.IndexFunc(f.Logs, func(l topology.Log) bool { return l.Path == web.AccessLog })
	if i < 0 || !f.Logs[i].RequestTime || f.Logs[i].Format != nginxconf.LogFormatName {
		t.Errorf("logs %v", f.Logs)
	}
	if s := find(t, f, app); !strings.Contains(strings.Join(s.Why, "; "), "nginx passes requests on to "+addr) {
		t.Errorf("why %v", s.Why)
	}
	s = find(t, f, db.Pid())
	if s.Kind != topology.MySQL || s.MySQL.Flavor != "MariaDB" || s.MySQL.Port != db.Port || s.MySQL.Socket != db.Socket || s.MySQL.SlowLog != db.SlowLog {
		t.Errorf("database %+v %+v", s, s.MySQL)
	}
}

func TestLook_MySQL97(t *testing.T) {
	db := sandboxtest.MySQL97(t, sandbox.Options{})
	s := find(t, look(t), db.Pid())
	if s.Kind != topology.MySQL || s.MySQL.Flavor != "MySQL" || s.MySQL.Port != db.Port || s.MySQL.Socket != db.Socket {
		t.Errorf("database %+v %+v", s, s.MySQL)
	}
}

// certificate is the one of httptest, as files.
func certificate(t *testing.T) *sandbox.RedisTLS {
	t.Helper()
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	key, err := x509.MarshalPKCS8PrivateKey(srv.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out := &sandbox.RedisTLS{Cert: filepath.Join(dir, "crt"), CACert: filepath.Join(dir, "crt"), Key: filepath.Join(dir, "key")}
	for path, block := range map[string]*pem.Block{out.Cert: {Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}, out.Key: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestLook_StatusPages: where real servers publish numbers about themselves.
func TestLook_StatusPages(t *testing.T) {
	cache := sandboxtest.Redis(t, sandbox.RedisOptions{Password: "x"})
	secure := sandboxtest.Redis(t, sandbox.RedisOptions{TLS: certificate(t)})
	carbons := []*sandbox.CarbonServer{sandboxtest.Carbon(t, sandbox.CarbonOptions{}), sandboxtest.GoCarbon(t, sandbox.CarbonOptions{})}
	addr, app := serve(t)
	front := sandboxtest.Varnish(t, sandbox.VarnishOptions{Upstream: addr})
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Config: `{user}
pid "{dir}/nginx.pid"; error_log "{dir}/error.log"; events {}
http { access_log off; server { listen 127.0.0.1:{port}; location = /status { stub_status; } } }`})
	f := look(t)
	if s := find(t, f, cache.Pid()); s.Redis == nil || *s.Redis != (topology.CacheServer{Address: cache.Addr(), Password: true}) {
		t.Errorf("redis %+v %+v", s, s.Redis)
	}
	if s := find(t, f, secure.Pid()); s.Redis == nil || *s.Redis != (topology.CacheServer{Address: "rediss://" + secure.Addr(), TLS: true}) {
		t.Errorf("redis over TLS %+v %+v", s, s.Redis)
	}
	for _, carbon := range carbons {
		want := topology.CarbonServer{Query: carbon.QueryAddr(), Storage: filepath.Join(carbon.StorageDir, "whisper")}
		if s := find(t, f, carbon.Pid()); s.Kind != topology.Carbon || s.Carbon == nil || *s.Carbon != want || !slices.Contains(s.Config, carbon.ConfigFile) {
			t.Errorf("carbon %+v %+v", s, s.Carbon)
		}
	}
	if s := find(t, f, front.Pid()); s.Varnish == nil || *s.Varnish != (topology.VarnishServer{Name: front.Dir, Answers: true}) {
		t.Errorf("varnish %+v %+v", s, s.Varnish)
	}
	if s := find(t, f, web.Pid()); s.Nginx == nil || s.Nginx.Status != web.URL()+"/status" {
		t.Errorf("nginx %+v %+v", s, s.Nginx)
	}
	if s := find(t, f, app); s.Go == nil || s.Go.Vars != "http://"+addr+"/debug/vars" {
		t.Errorf("go %+v %+v", s, s.Go)
	}
}
