package topology

import (
	"bytes"
	"maps"
	"strings"
	"testing"
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
