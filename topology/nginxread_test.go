package topology

import (
	"bytes"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/foreign"
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
