package topology

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLook_Checkout: an application's own files make a directory its checkout; that a daemon was
// started from one does not. /srv/shop and /home/me/other are checkouts.
func TestLook_Checkout(t *testing.T) {
	const shop, other = "/srv/shop", "/home/me/other"
	for _, c := range []struct {
		name, exe, dir, args, files, fastcgi, want string
	}{
		{"a daemon that a shell started", "/opt/wiki/wiki", other,
			"/opt/wiki/wiki --work-path /var/lib/wiki web", other + "/web/a", "", ""},
		{"and of Go, in the checkout of another module", "/opt/wiki/wiki", other, "wiki", other + "/go.mod", "", ""},
		{"its program lies there", shop + "/bin/shop", "/", "shop", "", "", shop},
		{"PHP-FPM from a shell", "/usr/sbin/php-fpm8.2", other,
			"php-fpm: master process (" + other + "/fpm.conf)", other + "/fpm.conf " + other + "/index.php", "",
			""},
		{"PHP-FPM by its files", "/usr/sbin/php-fpm8.2", "/", "php-fpm: master process (/etc/fpm.conf)", "",
			"root " + shop + "/public; location ~ x { fastcgi_pass 127.0.0.1:8080; }", shop},
		{"PHP-FPM by its script, over an upstream", "/usr/sbin/php-fpm8.2", other, "php-fpm: pool", "",
			"root " + other + "; location / { fastcgi_param SCRIPT_FILENAME " + shop + "/index.php; fastcgi_pass shop; }",
			shop},
		{"PHP-FPM of a root that is elsewhere", "/usr/sbin/php-fpm8.2", other, "php-fpm: pool", "",
			"location /other { root " + other + "; } root /var/www; location / { fastcgi_pass shop; }", ""},
		{"Node.js, a script", "/usr/bin/node", shop, "node dist/app.js", shop + "/dist/app.js", "", shop},
		{"Node.js, of another directory", "/usr/bin/node", other, "node /opt/blog/app.js",
			"/opt/blog/app.js " + other + "/package.json", "", ""},
		{"Node.js, which calls itself otherwise", "/usr/bin/node", shop, "next-server (v14.2.1)",
			shop + "/package.json", "", shop},
		{"Node.js, of a directory elsewhere", "/usr/bin/node", other, "node /opt/blog",
			"/opt/blog/index.js " + other + "/package.json", "", ""},
		{"Puma", "/usr/bin/ruby3.1", shop, "puma 6.4.2 (tcp://0.0.0.0:8080) [shop]", shop + "/config.ru", "", shop},
		{"Puma of a wiki, from a shell", "/usr/bin/ruby3.1", other, "puma 6.4.2 (tcp://0.0.0.0:8080) [wiki]",
			"", "", ""},
		{"gunicorn, a module", "/usr/bin/python3.12", shop,
			"python3 /opt/venv/bin/gunicorn -w 3 shop.wsgi:application",
			"/opt/venv/bin/gunicorn " + shop + "/shop/wsgi.py", "", shop},
		{"gunicorn, a module that is elsewhere", "/usr/bin/python3.12", other,
			"python3 " + other + "/.venv/bin/gunicorn wsgi", other + "/.venv/bin/gunicorn", "", ""},
		{"Java, a class path", "/usr/lib/jvm/bin/java", "/",
			"java -Xmx1g -cp /opt/lib:" + shop + "/target/classes shop.Main", shop + "/target/classes/a", "",
			shop},
		{"Perl", "/usr/bin/perl", shop, "perl /usr/bin/plackup app.psgi", shop + "/app.psgi", "", shop},
		{"a version manager's checkout", other + "/versions/20/bin/node", "/",
			"node " + other + "/versions/20/lib/pm2.js", other + "/versions/20/lib/pm2.js", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := plant(t, "testdata/contest.txtar")
			write := func(name, text string) {
				name = filepath.Join(root, name)
				err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range append(strings.Fields(c.files), shop+"/.git/HEAD", other+"/.git/HEAD") {
				write(name, "module other\n")
			}
			for link, to := range map[string]string{"exe": c.exe, "cwd": c.dir} {
				name := filepath.Join(root, "proc/1204", link)
				if err := errors.Join(os.Remove(name), os.Symlink(to, name)); err != nil {
					t.Fatal(err)
				}
			}
			args := strings.ReplaceAll(c.args, " ", "\x00")
			if strings.Contains(c.args, "(") { // the program wrote a title there
				args = c.args
			}
			write("proc/1204/cmdline", args+"\x00")
			write("proc/1204/status", "Name:\t"+filepath.Base(c.exe)+"\nPPid:\t1\nUid:\t0\t0\t0\t0\n")
			write("etc/nginx/sites-enabled/fcgi.conf", "server { "+c.fastcgi+" }")
			f, err := Look(t.Context(), Options{Root: root})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(f.Services, func(s Service) bool { return s.PID == 1204 })
			if i < 0 || f.Services[i].Kind != App || f.Services[i].Repository != c.want {
				t.Errorf("%+v, want an application and its checkout %q", f.Services, c.want)
			}
		})
	}
}

// TestCode_Module: a Go program that was started in the checkout of its own module is of it, wherever
// its program lies.
func TestCode_Module(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{".git": "", "go.mod": "// of a shop\nmodule \"example.org/shop\" // here\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for module, want := range map[string]bool{"example.org/shop": true, "example.org/wiki": false} {
		s := &subject{Service: &Service{Exe: "/opt/shop", Dir: root + "/cmd/shop", Go: &GoProgram{Module: module}}}
		c := code{files: tree{}, of: s}
		if got := slices.Contains(c.paths(), s.Dir); got != want {
			t.Errorf("%s: paths %q", module, c.paths())
		}
	}
}
