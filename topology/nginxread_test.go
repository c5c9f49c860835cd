package topology

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/mounts"
)

func TestParseNginxCall(t *testing.T) {
	f := func(conf, prefix string, args ...string) {
		t.Helper()
		if c, p := parseNginxCall(args); c != conf || p != prefix {
			t.Errorf("%q: conf %q, prefix %q; want %q, %q", args, c, p, conf, prefix)
		}
	}
	f("", "")
	f("", "", "nginx: master process /usr/sbin/nginx -g daemon on; master_process on;")
	f("/etc/n.conf", "/srv/a b", "nginx: master process nginx -p /srv/a b -c /etc/n.conf -g daemon off;")
	f("x.conf", "", "/usr/sbin/nginx", "-c", "x.conf")
	f("", "", "/usr/sbin/nginx", "-c")
}

func TestParseConfigure(t *testing.T) {
	if got := parseConfigure(""); !maps.Equal(got, nginxDefaults) {
		t.Errorf("without arguments %v", got)
	}
	got := parseConfigure(" --prefix=/opt/n --with-cc-opt='-g -O2' --error-log-path=stderr --conf-path=")
	if got["prefix"] != "/opt/n" || got["conf-path"] != "conf/nginx.conf" || got["error-log-path"] != "stderr" {
		t.Errorf("got %v", got)
	}
}

// A text is found wherever it stands, at the edge of what is read at once too.
func TestParseNginxVersion(t *testing.T) {
	for text, want := range map[string]string{"nginx version: nginx/1.29.7\n": "1.29.7", "nginx version: openresty/1.27.1.1": "", "": ""} {
		if got := parseNginxVersion(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestTextIn(t *testing.T) {
	const text = " --with-x --conf-path=/a/nginx.conf"
	for _, at := range []int{1, 1<<20 - len(text)/2, 1<<20 + mostText - 5, 3<<20 - 20} {
		b := make([]byte, 3<<20+100)
		copy(b[at:], text)
		got, err := textIn(bytes.NewReader(b), int64(len(b)), "--conf-path=")
		if got != text || err != nil {
			t.Errorf("at %d: %q, %v", at, got, err)
		}
	}
	long := strings.Repeat("x", 10*mostText)
	if got, _ := textIn(strings.NewReader(long+"mark"+long), 20*mostText+4, "mark"); len(got) > 2*mostText {
		t.Errorf("%d bytes of a text without an end", len(got))
	}
	if got, err := textIn(strings.NewReader(long), int64(len(long)), "mark"); got != "" || err != nil {
		t.Errorf("%q, %v of no mark", got, err)
	}
}

// TestMayName: what another names as a log is one where nginx has it open, by whatever name; and
// where what it has open is hidden, for who reads with his own rights alone.
func TestMayName(t *testing.T) {
	dir := t.TempDir()
	if dir, _ = filepath.EvalSymlinks(dir); dir == "" {
		t.Fatal("no directory")
	}
	log, other := filepath.Join(dir, "releases", "a.log"), filepath.Join(dir, "releases", "other")
	err := errors.Join(os.Mkdir(filepath.Join(dir, "releases"), 0o755), os.Symlink("releases", filepath.Join(dir, "current")),
		os.WriteFile(other, nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := foreign.Hold(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	open, err := mounts.ReadOpen(p.PID)
	if err != nil {
		t.Fatal(err)
	}
	var hidden error
	conf := &NginxConfig{others: map[string]bool{"/site": true},
		open:  func() (mounts.Open, error) { return open, hidden },
		which: func(path string) (foreign.Identity, error) { return p.Identify(t.Context(), path) }}
	check := func(name string, ok, known bool) {
		t.Helper()
		if o, k := conf.MayName("/site", name); o != ok || k != known {
			t.Errorf("%s: a log %v, known %v; want %v, %v", name, o, k, ok, known)
		}
	}
	check(log, true, true)
	check(filepath.Join(dir, "current", "a.log"), true, true)
	check(other, false, true)
	check(filepath.Join(dir, "current", "other"), false, true)
	check(filepath.Join(dir, "none"), false, true)
	check("/proc/self/status", false, false)
	open, hidden = mounts.Open{}, os.ErrPermission
	check(log, false, false)
	conf.plain = true
	check(log, true, true)
	if got, err := mounts.ReadOpen(1 << 30); err == nil {
		t.Errorf("no process: %v", got)
	}
}

// TestNginxWriters: what a file names is read for the one who wrote the file, and so is
// what is included further on.
func TestNginxWriters(t *testing.T) {
	site := new(foreign.Writer)
	files := map[string]string{
		"/n/nginx.conf": "include conf.d/*; include /n/last;",
		"/n/site":       "include /n/shared; include /n/private;",
		"/n/shared":     "include /n/deep;",
		"/n/deep":       "", "/n/last": "",
	}
	read := map[string]*foreign.Writer{}
	conf, err := readNginx(nginxFiles{
		args: []string{"nginx", "-c", "/n/nginx.conf"}, built: func() map[string]string { return nginxDefaults },
		read: func(as *foreign.Writer, path string) (foreign.File, error) {
			read[path] = as
			if path == "/n/private" {
				return foreign.File{}, os.ErrPermission
			}
			return foreign.File{Data: []byte(files[path]), Regular: true}, nil
		},
		glob: func(as *foreign.Writer, pattern string) []string {
			if pattern == "/n/conf.d/*" && as == nil {
				return []string{"/n/site"}
			}
			return []string{pattern}
		},
		writer: func(f foreign.File, as *foreign.Writer) *foreign.Writer {
			if string(f.Data) == files["/n/site"] {
				return site
			}
			return as
		},
	})
	if err != nil || len(conf.Unread) != 1 || len(conf.Files) != 5 {
		t.Errorf("%d files, %v, %v", len(conf.Files), conf.Unread, err)
	}
	want := map[string]*foreign.Writer{"/n/nginx.conf": nil, "/n/site": nil, "/n/last": nil,
		"/n/shared": site, "/n/deep": site, "/n/private": site}
	if !maps.Equal(read, want) {
		t.Errorf("read for %v, want %v", read, want)
	}
}

// TestReadNginx_Worker: of an nginx whose master cannot be seen no configuration is read: not that
// which is compiled into the program either, which may be another one's.
func TestReadNginx_Worker(t *testing.T) {
	const main = "/etc/nginx/nginx.conf"
	for title, want := range map[string]string{
		"nginx: worker process": "", "nginx: cache manager process": "", "nginx: worker process is shutting down": "",
		"nginx: master process /usr/sbin/nginx": main, "/usr/sbin/nginx": main, "nginx": main,
	} {
		var read []string
		conf, err := readNginx(nginxFiles{args: []string{title},
			built: func() map[string]string { return map[string]string{"prefix": "/usr/share/nginx", "conf-path": main} },
			read: func(_ *foreign.Writer, path string) (foreign.File, error) {
				read = append(read, path)
				return foreign.File{Data: []byte("events {}"), Regular: true}, nil
			},
			glob:   func(*foreign.Writer, string) []string { return nil },
			writer: func(foreign.File, *foreign.Writer) *foreign.Writer { return nil },
		})
		if got := strings.Join(read, " "); got != want || (err == nil) != (want != "") || err == nil && conf.Path != want {
			t.Errorf("%s: read %q, want %q; %v", title, got, want, err)
		}
	}
}
