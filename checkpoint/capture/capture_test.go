package capture

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/foreign"
)

// tree makes a root with files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// names lists texts as "kind name bytes masked note".
func names(taken *Taken) (out []string) {
	for _, c := range taken.Configs {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %d %d %s", c.Kind, c.Name, len(c.Text), c.Masked, c.Note)))
	}
	return out
}

func texts(warnings []kasoku.Warning) (out []string) {
	for _, w := range warnings {
		out = append(out, strings.TrimPrefix(w.Text, "configuration: "))
	}
	return out
}

func TestTakeTree(t *testing.T) {
	limits := "Limit                     Soft Limit           Hard Limit           Units     \n" +
		"Max processes             96000                96000                processes \n" +
		"Max open files            %s                 524288               files     \n"
	root := tree(t, map[string]string{
		"/proc/self/comm":                  "test\n",
		"/proc/10/comm":                    "mysqld\n",
		"/proc/10/cmdline":                 "/usr/sbin/mysqld\x00--port=3306\x00",
		"/proc/10/limits":                  fmt.Sprintf(limits, "1024"),
		"/proc/14/comm":                    "mysqld\n",
		"/proc/14/cmdline":                 "/usr/sbin/mysqld\x00--defaults-file=/srv/neighbour.cnf\x00",
		"/proc/14/limits":                  fmt.Sprintf(limits, "77"),
		"/srv/neighbour.cnf":               "[mysqld]\n",
		"/proc/11/comm":                    "app\n",
		"/proc/11/limits":                  fmt.Sprintf(limits, "4096"),
		"/proc/12/comm":                    "app\n",
		"/proc/12/limits":                  fmt.Sprintf(limits, "1024"),
		"/proc/13/comm":                    "other\n",
		"/proc/sys/net/core/somaxconn":     "4096\n",
		"/proc/sys/net/ipv4/tcp_rmem":      "4096\t131072\t6291456\n",
		"/etc/mysql/my.cnf":                "[client]\npassword = s3cret\n",
		"/etc/systemd/system/app@.service": "[Service]\nEnvironment=API_TOKEN=abc\n",
		"/etc/systemd/system/app@1.service.d/more.conf": "[Service]\nLimitNOFILE=4096\n",
		"/lib/systemd/system/db.service":                "[Service]\n",
		"/usr/lib/systemd/system/db.service":            "[Service]\nA=1\n",
		"/etc/varnish/default.vcl":                      "vcl 4.1;\n",
		"/srv/a.conf":                                   "a\n",
		"/srv/binary.conf":                              "a\x00b",
		"/srv/latin1.conf":                              "gr\xfcn",
		"/srv/large.conf":                               strings.Repeat("x", MostBytes+1),
		"/srv/dir.conf/x":                               "",
	})
	if err := os.Symlink("nowhere", filepath.Join(root, "/srv/link.conf")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, "/srv/fifo.conf"), 0o600); err != nil {
		t.Fatal(err)
	}
	taken := Take(t.Context(), Options{
		Root: root, Host: "web1", Members: []int{10}, PIDs: []int{11, 12, 99}, Units: []string{"app@1", "db.service", "none"},
		VCL: []string{"/etc/varnish/*.vcl"}, Files: []string{"/srv/*.conf", "/srv/*.none", "/srv/a.conf"},
	})
	want := []string{
		"file /srv/a.conf 2 0",
		"file /srv/binary.conf 0 0 not UTF-8 text",
		"file /srv/fifo.conf 0 0 no plain file",
		"file /srv/large.conf 0 0 larger than 1.0 MiB",
		"file /srv/latin1.conf 0 0 not UTF-8 text",
		"mysql /etc/mysql/my.cnf 33 1",
		"unit /etc/systemd/system/app@.service 45 1",
		"unit /etc/systemd/system/app@1.service.d/more.conf 27 0",
		"unit /usr/lib/systemd/system/db.service 14 0",
		"vcl /etc/varnish/default.vcl 9 0",
	}
	if got := names(taken); !slices.Equal(got, want) {
		t.Errorf("texts:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := taken.Configs[0]; c.Mode != 0o640 || c.UID != os.Getuid() || c.GID != os.Getgid() || c.Host != "web1" {
		t.Errorf("mode and owner: %+v", c)
	}
	if got, want := texts(taken.Warnings), []string{`no unit "none.service"`, "file: no file /srv/link.conf", `no file matches "/srv/*.none"`}; !slices.Equal(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
	var settings []string
	for _, s := range taken.Settings {
		settings = append(settings, s.Host+" "+s.Scope+" "+s.Name+" = "+s.Value)
	}
	if want := []string{
		"web1 sysctl net.core.somaxconn = 4096", "web1 sysctl net.ipv4.tcp_rmem = 4096 131072 6291456",
		"web1 limits app open files = 1024, 4096", "web1 limits app processes = 96000",
		"web1 limits mysqld open files = 1024", "web1 limits mysqld processes = 96000",
	}; !slices.Equal(settings, want) {
		t.Errorf("settings %q, want %q", settings, want)
	}
}

// Option files are read with what they include, as the server does.
func TestTakeOptionFiles(t *testing.T) {
	root := tree(t, map[string]string{"/conf.d/a.cnf": "[mysqld]\nport = 1\n", "/conf.d/b.txt": "", "/open.cnf": ""})
	main := filepath.Join(root, "my.cnf")
	text := fmt.Sprintf("[mysqld]\n!includedir %s\n!include %s\n!include %s\n", filepath.Join(root, "conf.d"), filepath.Join(root, "open.cnf"), filepath.Join(root, "none.cnf"))
	if err := os.WriteFile(main, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(root, "open.cnf"), 0o666); err != nil {
		t.Fatal(err)
	}
	taken := Take(t.Context(), Options{OptionFiles: []string{main}})
	var got []string
	for _, c := range taken.Configs {
		if c.Kind == KindMySQL && strings.HasPrefix(c.Name, root) {
			got = append(got, strings.TrimPrefix(c.Name, root))
		}
	}
	if want := []string{"/conf.d/a.cnf", "/my.cnf"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	if w := strings.Join(texts(taken.Warnings), "\n"); !strings.Contains(w, "everybody may write to it") || !strings.Contains(w, "none.cnf") {
		t.Errorf("warnings %s", w)
	}
}

func TestServerOptionFiles(t *testing.T) {
	for args, want := range map[string]string{
		"mysqld":                                    "/etc/my.cnf /etc/mysql/my.cnf",
		"mysqld --no-defaults --port=1":             "",
		"mysqld --defaults-file=/a.cnf":             "/a.cnf",
		"mysqld --defaults-extra-file=/b.cnf --x=y": "/etc/my.cnf /etc/mysql/my.cnf /b.cnf",
	} {
		p := &process{name: "mysqld", args: strings.Fields(args)}
		if got := strings.Join(p.optionFiles(), " "); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

// What a server sees in another file system is kept under no path of this one, which
// revert could write to.
func TestNameElsewhere(t *testing.T) {
	p := &process{held: &foreign.Process{Here: true}}
	if got := p.nameOf("/etc/my.cnf"); got != "/etc/my.cnf" {
		t.Errorf("here: %q", got)
	}
	p.held.Here = false
	if got := p.nameOf("/etc/my.cnf"); got != "container:/etc/my.cnf" {
		t.Errorf("elsewhere: %q", got)
	}
}

func TestParseNginx(t *testing.T) {
	const out = "nginx: the configuration file is ok\n# configuration file /etc/nginx/nginx.conf:\nuser www;\n\n# configuration file /etc/nginx/a.conf:\nno end\n# configuration file /etc/b.conf:\n\n"
	want := []printed{{"/etc/nginx/nginx.conf", "user www;\n"}, {"/etc/nginx/a.conf", "no end"}, {"/etc/b.conf", ""}}
	if got := parseNginx(out); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestFromConfig(t *testing.T) {
	if o := FromConfig(Wanted{Off: true}, "/srv"); o != nil {
		t.Errorf("off: %+v", o)
	}
	for nginx, want := range map[string]string{"": "", "/usr/sbin/nginx": "/usr/sbin/nginx -T", "sudo -n nginx -T": "sudo -n nginx -T"} {
		o := FromConfig(Wanted{Nginx: nginx, Files: []string{"/a"}, Repository: "/srv/app"}, t.TempDir())
		if got := strings.Join(o.Nginx, " "); got != want || o.Repository != "/srv/app" || o.Schema || len(o.Files) != 1 {
			t.Errorf("%q: %+v", nginx, o)
		}
	}
}
