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
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func findText(taken *Taken, name string) *kasoku.Config {
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
	c := findText(taken, "conf.d/gzip.conf")
	if c == nil || c.Text != part || c.Mode != 0o604 || c.Kind != KindNginx {
		t.Fatalf("gzip.conf is %+v; warnings %v", c, taken.Warnings)
	}
	main := findText(taken, filepath.Base(dir)+"/nginx.conf")
	if main == nil || main.Masked != 1 || !strings.Contains(main.Text, `Authorization "‹masked›";`) || main.Mode == 0 {
		t.Errorf("nginx.conf is %+v", main)
	}
	// With a command given, it asks that one alone.
	given := Take(t.Context(), Options{Nginx: []string{srv.Program, "-T", "-p", dir, "-c", main.Name}})
	if c := findText(given, "conf.d/gzip.conf"); c == nil || c.Text != part {
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
	if h := findText(taken, "HEAD"); h == nil || !strings.Contains(h.Text, "subject first words\nbranch main\n") || findText(taken, "diff") != nil {
		t.Errorf("clean: %+v %v", taken.Configs, taken.Warnings)
	}
	put("DB_PASSWORD=two\nPORT=80\n")
	taken = Take(t.Context(), o)
	d := findText(taken, "diff")
	if d == nil || d.Masked != 2 || !strings.Contains(d.Text, "-DB_PASSWORD=‹masked›\n+DB_PASSWORD=‹masked›\n PORT=80\n") {
		t.Errorf("dirty: %+v %v", d, taken.Warnings)
	}
	put("PORT=80\n" + strings.Repeat(strings.Repeat("x y ", 32)+"\n", MostBytes/64))
	taken = Take(t.Context(), o)
	if d = findText(taken, "diff"); d == nil {
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
	if findText(taken, "a.conf") == nil || len(taken.Warnings) == 0 {
		t.Errorf("%+v", taken)
	}
}

func TestWithoutOthersSites_File(t *testing.T) {
	const path = "/etc/nginx/sites-enabled/blog"
	web := func(file string) *kasoku.Service {
		m := kasoku.Member{Role: kasoku.RoleWeb, Sure: kasoku.High, Configs: []string{"/etc/nginx/nginx.conf", path}}
		if file != "" {
			m.Blocks = []kasoku.ConfigBlock{{File: file, Line: 2}}
		}
		return &kasoku.Service{Members: []kasoku.Member{m}}
	}
	f := func(text string, s *kasoku.Service, want bool) {
		t.Helper()
		got := WithoutOthersSites(t.Context(), []kasoku.Config{{Kind: KindNginx, Name: path, Text: text}, {Kind: KindFile, Name: path,
			Text: text}}, s, nil)
		if len(got) == 0 != want || !want && (got[0].Text != text || got[0].Note != "") {
			t.Errorf("%q: %+v", text, got)
		}
	}
	const site = "upstream blog { server 127.0.0.1:1; }\nserver { listen 80; }\n"
	f(site, web("/etc/nginx/sites-enabled/shop"), true)
	f(site, web(path), false)
	f(site, web(""), false)
	f(site, &kasoku.Service{}, false)
	f("gzip on;\n", web("/etc/nginx/sites-enabled/shop"), false)
	f("gzip on;\nserver { listen 80; }\n", web("/etc/nginx/sites-enabled/shop"), false)
	f("server {", web("/etc/nginx/sites-enabled/shop"), false)
}

// TestWithoutOthersSites: in one file with the service's, other sites are left out, and no line moves.
func TestWithoutOthersSites(t *testing.T) {
	const path = "/etc/nginx/nginx.conf"
	text := `events {}
http {
    gzip on;
    upstream shop { server 127.0.0.1:3000; }
    upstream blog {
        server 10.9.8.7:4000;
    }
    map $host $pool { default mapped; }
    upstream mapped { server 127.0.0.1:3001; }
    server { # ours
        server_name shop.test;
        location / { proxy_pass http://shop; } location /in { proxy_pass http://127.0.0.1:8089/; }
    }
    # a wiki of Alice
    # and Bob
    server {
        server_name wiki.test; # }
        location / { proxy_pass http://blog; }
    } # wiki
    server { server_name one.test; root /srv/one; } gzip_types text/css;
    server { server_name two.test; return 301 https://two.test; }
    server { server_name www.shop.test; return 301 https://shop.test; }
    server { listen 127.0.0.1:81; location /s { stub_status; } root /srv; }
    server { return 444; }
    server { listen 127.0.0.1:8089; server_name inner.test; root /srv; } # ours again
}
stream { server { listen 1; proxy_pass 127.0.0.1:2; } }
`
	s := &kasoku.Service{Members: []kasoku.Member{{Role: kasoku.RoleWeb, Sure: kasoku.High, Configs: []string{path,
		"/etc/nginx/a"}, Blocks: []kasoku.ConfigBlock{{File: path, Line: 10}}}}}
	all := []kasoku.Config{{Kind: KindNginx, Name: path, Text: text}}
	got := WithoutOthersSites(t.Context(), all, s, nil)
	if len(got) != 1 || all[0].Text != text {
		t.Fatalf("%+v", got)
	}
	was, is := strings.Split(text, "\n"), strings.Split(got[0].Text, "\n")
	if len(was) != len(is) {
		t.Fatalf("%d lines of %d:\n%s", len(is), len(was), got[0].Text)
	}
	const said = "    # kasoku: of another site, left out"
	left := map[int]string{4: said, 5: "", 6: "", 13: strings.TrimSpace(said), 14: "", 15: "", 16: "", 17: "", 18: "",
		19: "     gzip_types text/css;", 20: said}
	for i := range was {
		want, ok := left[i]
		if !ok {
			want = was[i]
		}
		if is[i] != want {
			t.Errorf("line %d: %q, want %q", i+1, is[i], want)
		}
	}
	if conf, err := nginxconf.Parse(got[0].Text, path); err != nil || len(conf) < 10 ||
		got[0].Note != "3 server blocks of other sites are left out" {
		t.Errorf("%v, note %q", err, got[0].Note)
	}
	// The service's block is not where it was when the service was looked at: the file is another.
	moved := []kasoku.Config{{Kind: KindNginx, Name: path, Text: "\n" + text}}
	if got := WithoutOthersSites(t.Context(), moved, s, nil); got[0].Text != moved[0].Text {
		t.Error(got[0].Text)
	}
	// An upstream is used by a block in another file.
	all = append(all, kasoku.Config{Kind: KindNginx, Name: "/etc/nginx/a",
		Text: "proxy_set_header A b;\nproxy_pass http://blog/;\n"})
	if got := WithoutOthersSites(t.Context(), all, s, nil); !strings.Contains(got[0].Text, "10.9.8.7") || strings.Contains(got[0].Text,
		"wiki") {
		t.Error(got[0].Text)
	}
}

// TestWithoutOthersSites_Named: files that the user named are cut as those that nginx has read, though
// it is not seen which nginx that is.
func TestWithoutOthersSites_Named(t *testing.T) {
	const both = "server {\n listen 80; server_name shop.test; root /srv/shop; include snippets/shop.conf;\n}\n" +
		"server {\n listen 80; server_name blog.test; root /srv/blog; include snippets/blog.conf;\n}\n"
	all := []kasoku.Config{
		{Kind: KindFile, Name: "/etc/nginx/sites/both", Text: both},
		{Kind: KindFile, Name: "/etc/nginx/sites/wiki", Text: "server {\n listen 80; server_name wiki.test; root /srv/wiki; }\n"},
		{Kind: KindFile, Name: "/etc/nginx/snippets/shop.conf", Text: "gzip on;\n"},
		{Kind: KindFile, Name: "/etc/nginx/snippets/blog.conf", Text: "gzip off;\n"},
		{Kind: KindFile, Name: "/etc/app.toml", Text: "[server]\nport = 80\n"},
	}
	web := &kasoku.Service{Members: []kasoku.Member{{Role: kasoku.RoleWeb, Sure: kasoku.High}}}
	read := &kasoku.Service{Members: []kasoku.Member{{Role: kasoku.RoleWeb, Sure: kasoku.High,
		Configs: []string{"/etc/nginx/nginx.conf", "/etc/nginx/sites/both"},
		Blocks:  []kasoku.ConfigBlock{{File: "/etc/nginx/sites/both", Line: 1}}}}}
	for name, c := range map[string]struct {
		s       *kasoku.Service
		targets []string
		want    string // names of files, and the sites of the first
	}{
		"by the target":              {web, []string{"http://shop.test/"}, "both shop.conf app.toml: shop"},
		"by the Host of the request": {web, []string{"http://127.0.0.1:80/ shop.test"}, "both shop.conf app.toml: shop"},
		"it is not known":            {web, []string{"http://127.0.0.1:80/"}, "app.toml: "},
		"at another port":            {web, []string{"http://shop.test:81/"}, "app.toml: "},
		"no target":                  {&kasoku.Service{}, nil, "app.toml: "},
		"what nginx has read":        {read, nil, "both shop.conf app.toml: shop"},
	} {
		got := WithoutOthersSites(t.Context(), all, c.s, c.targets)
		var names, sites []string
		for _, k := range got {
			names = append(names, filepath.Base(k.Name))
			for _, site := range []string{"shop", "blog", "wiki"} {
				if strings.Contains(k.Text, site+".test") {
					sites = append(sites, site)
				}
			}
		}
		if text := strings.Join(names, " ") + ": " + strings.Join(sites, " "); text != c.want {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
	one := all[1:2]
	if got := WithoutOthersSites(t.Context(), one, web, nil); len(got) != 1 || got[0].Text != one[0].Text {
		t.Errorf("the only server block: %+v", got)
	}
}
