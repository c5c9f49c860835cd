package capture

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func find(taken *Taken, name string) *kasoku.Config {
	for i := range taken.Configs {
		if strings.HasSuffix(taken.Configs[i].Name, name) {
			return &taken.Configs[i]
		}
	}
	return nil
}

const nginxConf = `pid {dir}/nginx.pid;
error_log {dir}/error.log;
events {}
http {
	access_log off;
	include {dir}/conf.d/*.conf;
	server {
		listen 127.0.0.1:{port};
		location / { proxy_set_header Authorization "Bearer s3cret"; return 200; }
	}
}
`

// A running nginx is found and asked by the call that it was started with.
func TestRunningNginx(t *testing.T) {
	programsMayTake(t, 15*time.Second)
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "conf.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	const part = "gzip on;" // without an end of line
	if err := os.WriteFile(filepath.Join(dir, "conf.d", "gzip.conf"), []byte(part), 0o604); err != nil {
		t.Fatal(err)
	}
	srv := sandboxtest.Nginx(t, sandbox.NginxOptions{Dir: dir, Config: nginxConf})
	sandboxtest.Nginx(t, sandbox.NginxOptions{}) // a neighbour
	taken := Take(t.Context(), Options{Members: []int{srv.Pid()}})
	for _, c := range taken.Configs {
		if c.Kind == KindNginx && !strings.HasPrefix(c.Name, dir) {
			t.Errorf("kept of a neighbour: %s", c.Name)
		}
	}
	c := find(taken, "conf.d/gzip.conf")
	if c == nil || c.Text != part || c.Mode != 0o604 || c.Kind != KindNginx {
		t.Fatalf("gzip.conf is %+v; warnings %v", c, taken.Warnings)
	}
	main := find(taken, filepath.Base(dir)+"/nginx.conf")
	if main == nil || main.Masked != 1 || !strings.Contains(main.Text, `Authorization "‹masked›";`) || main.Mode == 0 {
		t.Errorf("nginx.conf is %+v", main)
	}
	// With a command given, it asks that one alone.
	given := Take(t.Context(), Options{Nginx: []string{srv.Program, "-T", "-p", dir, "-c", main.Name}})
	if c := find(given, "conf.d/gzip.conf"); c == nil || c.Text != part {
		t.Errorf("reported: %+v, warnings %v", c, given.Warnings)
	}
}

// What fails, or does not end, is a warning with a hint.
func TestProgramsThatFail(t *testing.T) {
	if testing.Short() {
		t.Skip("waits two seconds; not in short mode")
	}
	began := time.Now()
	for name, o := range map[string]Options{
		"exit status 3":          {Nginx: []string{"sh", "-c", "exit 3"}},
		"printed no conf":        {Nginx: []string{"true"}},
		"no answer within 2 s":   {Nginx: []string{"sleep", "60"}},
		`start "/no/such/nginx"`: {Nginx: []string{"/no/such/nginx", "-T"}},
		"not a git repository":   {Nginx: []string{"true"}, Repository: t.TempDir()},
	} {
		taken := Take(t.Context(), o)
		found := false
		for _, w := range taken.Warnings {
			found = found || strings.Contains(w.Text, name) && w.Hint != "" && w.Code == "not-captured"
		}
		if !found {
			t.Errorf("no warning %q with a hint: %+v", name, taken.Warnings)
		}
	}
	if d := time.Since(began); d > Within {
		t.Errorf("took %s", d)
	}
}

// programsMayTake lets programs answer later until the end of the test.
func programsMayTake(t *testing.T, d time.Duration) {
	t.Helper()
	was := programWithin
	t.Cleanup(func() { programWithin = was })
	programWithin = d
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	_, err := command.Output(t.Context(), command.Spec{Path: "git", Args: append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)}, 0)
	if err != nil {
		t.Fatal(err)
	}
}

func TestGit(t *testing.T) {
	programsMayTake(t, 15*time.Second)
	dir := t.TempDir()
	file := filepath.Join(dir, "app.env")
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "init", "-q", "-b", "main")
	put("DB_PASSWORD=one\nPORT=80\n")
	git(t, dir, "add", "app.env")
	git(t, dir, "commit", "-q", "-m", "first words")
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	o := Default(sub)
	o.Root = t.TempDir()
	if o.Repository != sub || !o.Schema {
		t.Fatalf("default %+v", o)
	}
	taken := Take(t.Context(), o)
	if h := find(taken, "HEAD"); h == nil || !strings.Contains(h.Text, "subject first words\nbranch main\n") || find(taken, "diff") != nil {
		t.Errorf("clean: %+v %v", taken.Configs, taken.Warnings)
	}
	put("DB_PASSWORD=two\nPORT=80\n")
	taken = Take(t.Context(), o)
	d := find(taken, "diff")
	if d == nil || d.Masked != 2 || !strings.Contains(d.Text, "-DB_PASSWORD=‹masked›\n+DB_PASSWORD=‹masked›\n PORT=80\n") {
		t.Errorf("dirty: %+v %v", d, taken.Warnings)
	}
	put("PORT=80\n" + strings.Repeat(strings.Repeat("x y ", 32)+"\n", MostBytes/64))
	taken = Take(t.Context(), o)
	if d = find(taken, "diff"); d == nil {
		t.Errorf("large: no diff: %v", taken.Warnings)
	} else if len(d.Text) < MostBytes || len(d.Text) > MostBytes+100 || d.Note != "cut at 1.0 MiB" {
		t.Errorf("large: %d bytes, %q", len(d.Text), d.Note)
	}
	if o := Default(t.TempDir()); o.Repository != "" {
		t.Errorf("outside of a work tree: %+v", o)
	}
}

// A context that is over takes nothing from those who wait for it.
func TestTakeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	taken := Take(ctx, Options{Root: tree(t, map[string]string{"/etc/a.conf": "a"}), Files: []string{"/etc/a.conf"}, Nginx: []string{"sleep", "60"}})
	if find(taken, "a.conf") == nil || len(taken.Warnings) == 0 {
		t.Errorf("%+v", taken)
	}
}

func TestIsOthersSite(t *testing.T) {
	const path = "/etc/nginx/sites-enabled/blog"
	web := func(file string) *kasoku.Service {
		m := kasoku.Member{Role: kasoku.RoleWeb, Sure: kasoku.High, Configs: []string{"/etc/nginx/nginx.conf", path}}
		if file != "" {
			m.Blocks = []kasoku.ConfigBlock{{File: file, Line: 1}}
		}
		return &kasoku.Service{Members: []kasoku.Member{m}}
	}
	f := func(text string, s *kasoku.Service, want bool) {
		t.Helper()
		if got := IsOthersSite(&kasoku.Config{Kind: KindNginx, Name: path, Text: text}, s); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	const site = "upstream blog { server 127.0.0.1:1; }\nserver { listen 80; }\n"
	f(site, web("/etc/nginx/sites-enabled/shop"), true)
	f(site, web(path), false)
	f(site, web(""), false)
	f(site, nil, false)
	f(site, &kasoku.Service{}, false)
	f("gzip on;\n", web("/etc/nginx/sites-enabled/shop"), false)
	f("gzip on;\nserver { listen 80; }\n", web("/etc/nginx/sites-enabled/shop"), false)
	f("server {", web("/etc/nginx/sites-enabled/shop"), false)
}
