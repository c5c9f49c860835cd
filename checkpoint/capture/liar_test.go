package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/test/liar"
)

func TestMain(m *testing.M) {
	liar.Main()
	os.Exit(m.Run())
}

// planted is what no run may hold.
const planted = "PLANTED-FOR-CAPTURE" // not that of other packages, whose liars are of the same users

// lies are option files that a process may name; none is its own to read but the last.
func lies(t *testing.T, dir string) map[string]string {
	t.Helper()
	private := liar.Write(t, filepath.Join(liar.Dir(t, liar.Ann), "private.cnf"), "[mysqld]\n# "+planted+"\n", liar.Ann, 0o600)
	huge := liar.Write(t, filepath.Join(dir, "huge.cnf"), planted, liar.Eve, 0o644)
	if err := os.Truncate(huge, 1<<40); err != nil {
		t.Fatal(err)
	}
	shadow := filepath.Join(dir, "shadow.cnf")
	if err := os.Symlink("/etc/shadow", shadow); err != nil {
		t.Fatal(err)
	}
	including := liar.Write(t, filepath.Join(dir, "including.cnf"),
		"[mysqld]\n!include "+private+"\n!includedir "+filepath.Dir(private)+"\n", liar.Eve, 0o644)
	return map[string]string{
		"private": private, "pipe": liar.Pipe(t, filepath.Join(dir, "pipe.cnf"), liar.Eve), "huge": huge, "shadow": shadow, "directory": dir,
		"environ": "/proc/self/environ", "including": including,
	}
}

// Of a liar nothing is kept and nothing of his is run; nor is anything kept of a process
// that is believed and names what is not its own to read.
func TestLiars(t *testing.T) {
	for _, believed := range []bool{false, true} {
		sudo := ""
		if believed {
			sudo = "61001" // Eve is the one who asks
		}
		t.Setenv("SUDO_UID", sudo)
		dir := liar.Dir(t, liar.Eve)
		conf := liar.Write(t, filepath.Join(dir, "nginx.conf"), "http { include /etc/shadow; include "+dir+"/*.cnf; }\n", liar.Eve, 0o644)
		var all []*liar.Liar
		for name, path := range lies(t, dir) {
			l := liar.Start(t, liar.Eve, "mysqld", "", "--defaults-file="+path, "--"+name)
			all = append(all, l)
			if believed {
				chown(t, filepath.Join(l.Dir(), "mysqld"))
			}
		}
		web := liar.Start(t, liar.Eve, "nginx", "nginx: master process /usr/sbin/nginx -c "+conf)
		if all = append(all, web); believed {
			chown(t, filepath.Join(web.Dir(), "nginx"))
		}
		taken := Take(t.Context(), Options{Everything: true})
		warnings := strings.Join(texts(taken.Warnings), "\n")
		for _, l := range all {
			if how := l.Run(); how != "" {
				t.Errorf("believed %v: it was run as %s", believed, how)
			}
		}
		for _, c := range taken.Configs {
			if strings.Contains(c.Text, planted) || strings.Contains(c.Text, "root:") ||
				!believed && strings.HasPrefix(c.Name, dir) {
				t.Errorf("believed %v: kept %s %s: %.200q", believed, c.Kind, c.Name, c.Text)
			}
		}
		if c := findText(taken, filepath.Base(dir)+"/nginx.conf"); (c != nil) != believed {
			t.Errorf("believed %v: nginx.conf %+v; %s", believed, c, warnings)
		}
		want := []string{"calls itself nginx and belongs to uid 61001: not read", "calls itself mysqld and belongs to uid 61001: not read"}
		if believed {
			want = []string{"/etc/shadow: permission denied", "private.cnf: permission denied", "it lies in /proc"}
		}
		for _, w := range want {
			if !strings.Contains(warnings, w) {
				t.Errorf("believed %v: no warning %q in\n%s", believed, w, warnings)
			}
		}
	}
}

func chown(t *testing.T, path string) {
	t.Helper()
	if err := os.Chown(path, liar.Eve, liar.Eve); err != nil {
		t.Fatal(err)
	}
}

// The option files are those of the server that the user's DSN leads to, which he named;
// they are read with its rights all the same.
func TestNamedServer(t *testing.T) {
	dir := liar.Dir(t, liar.Eve)
	private := liar.Write(t, filepath.Join(liar.Dir(t, liar.Ann), "private.cnf"), "# "+planted+"\n", liar.Ann, 0o600)
	own := liar.Write(t, filepath.Join(dir, "own.cnf"), "[mysqld]\nport=1\n!include "+private+"\n", liar.Eve, 0o600)
	other := liar.Write(t, filepath.Join(dir, "other.cnf"), "[mysqld]\n", liar.Mal, 0o644)
	named := liar.Start(t, liar.Eve, "mysqld", "", "--defaults-file="+own)
	liar.Start(t, liar.Mal, "mysqld", "", "--defaults-file="+other)
	taken := Take(t.Context(), Options{Servers: []int{named.PID}})
	var got []string
	for _, c := range taken.Configs {
		if c.Kind == KindMySQL {
			got = append(got, c.Name)
		}
	}
	if len(got) != 1 || got[0] != own {
		t.Errorf("kept %q; %q", got, texts(taken.Warnings))
	}
}

// TestLiars_Worker: the title of a worker hides a process that calls itself nginx from no one.
func TestLiars_Worker(t *testing.T) {
	l := liar.Start(t, liar.Eve, "nginx", "nginx: worker process")
	taken := Take(t.Context(), Options{Members: []int{l.PID}})
	text := strings.Join(texts(taken.Warnings), "\n")
	if !strings.Contains(text, "calls itself nginx and belongs to uid 61001") {
		t.Errorf("no warning of it: %s", text)
	}
}

// TestTaker_IsMaster: workers are those of a master that is believed.
func TestTaker_IsMaster(t *testing.T) {
	master := []string{"nginx: master process /usr/sbin/nginx"}
	tk := &taker{held: []*foreign.Process{{PID: 10, Name: "nginx", Args: master}, {PID: 11, Name: "mysqld", Args: master},
		{PID: 12, Name: "nginx", Args: []string{"nginx: worker process"}}}}
	for pid, want := range map[int]bool{10: true, 11: false, 12: false, 13: false} {
		if got := tk.isMaster(pid); got != want {
			t.Errorf("%d: %v", pid, got)
		}
	}
}
