package find

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/topology"
	"github.com/kasoku/kasoku/topology/scan"
)

// TestFind_ContainerLogs: an nginx in a mount namespace, as in a container, whose log directory
// is one of this host's that is bound there. Its access log has the name of this host; its
// error log, in a file system of its own, has none, also where this host has a file of that
// name.
func TestFind_ContainerLogs(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("takes mount namespaces, and so root")
	}
	dir, err := os.MkdirTemp("", "find")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"logs", "inside", "own"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"inside/access.log", "own/error.log"} { // of this host's, by the same names
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a stranger's\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := free(t, dir, "tcp")
	conf := strings.NewReplacer("DIR", dir, "AT", at).Replace(`daemon off;
pid DIR/nginx.pid;
error_log DIR/own/error.log;
events {}
http {
  access_log DIR/inside/access.log;
  client_body_temp_path DIR/own/body;
  proxy_temp_path DIR/own/proxy;
  fastcgi_temp_path DIR/own/fastcgi;
  uwsgi_temp_path DIR/own/uwsgi;
  scgi_temp_path DIR/own/scgi;
  server { listen AT; location / { return 200; } }
}
`)
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	script := `mount --make-rprivate / && mount --bind logs inside && mount -t tmpfs none own && exec nginx -p ` + dir + ` -c ` + dir + `/nginx.conf`
	web := start(t, command.Spec{Path: "unshare", Args: []string{"-m", "sh", "-c", script}, Dir: dir}, dir, at, "")
	url := "http://" + at + "/"
	wait(t, dir, func() bool { return get(t, url) == http.StatusOK })
	access := filepath.Join(dir, "logs", "access.log")
	s, err := Find(t.Context(), Ask{URLs: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	m := s.Of(kasoku.RoleWeb)
	if len(m) != 1 || m[0].Leader().PID != web.Pid() {
		t.Fatalf("web servers %+v, unknown: %v", m, s.Unknown)
	}
	if logs := m[0].Logs; !slices.Contains(logs, access) || slices.ContainsFunc(logs, func(log string) bool {
		return strings.HasPrefix(log, dir+"/inside/") || strings.HasPrefix(log, dir+"/own/")
	}) {
		t.Errorf("it writes %q, want %s", logs, access)
	}
	snap, err := scan.Take(t.Context(), scan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	read, err := readWeb(t.Context(), snap, web.Pid())
	if err != nil || len(read.Blocks) != 1 || !slices.Equal(read.Blocks[0].Logs, []string{access}) {
		t.Errorf("%v: its block is %+v, want the log %s", err, read.Blocks, access)
	}
	found, err := topology.Look(t.Context(), topology.Options{Own: func(*topology.Service) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	var logs []string
	for _, l := range found.Logs {
		if strings.HasPrefix(l.Path, dir) {
			logs = append(logs, l.Path)
		}
	}
	if !slices.Equal(logs, []string{access}) {
		t.Errorf("a look finds the logs %q, want %s", logs, access)
	}
}
