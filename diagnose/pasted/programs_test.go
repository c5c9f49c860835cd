package pasted

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/diagnose/rules/cache"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// plainConf is for cases that kept no configuration.
const plainConf = `user root;
pid /recorded/nginx.pid;
error_log /recorded/error.log;
events { worker_connections 64; }
http {
    access_log off;
    server {
        listen 127.0.0.1:18080;
        location / { proxy_pass http://127.0.0.1:18081; }
    }
}
`

// nginxFile puts a fix into the configuration of its case, and has nginx read that.
func (k *checker) nginxFile(f fix) (string, error) {
	text, dir, own := f.conf, f.dir, "its own file"
	if text == "" {
		text, dir, own = plainConf, "/recorded", "a plain file"
	}
	text, err := paste(text, f.Fix)
	if err != nil {
		return "", err
	}
	here := k.t.TempDir()
	text = strings.NewReplacer(dir, here, cache.CachePath, filepath.Join(here, "short")).Replace(text)
	if os.Geteuid() != 0 {
		text = strings.Replace(text, "user root;", "", 1)
	}
	path := filepath.Join(here, "nginx.conf")
	if err := os.WriteFile(path, []byte(sandbox.WithNginxTemp(text, here)), 0o600); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(k.t.Context(), k.nginx, "-t", "-p", here+"/", "-c", path, "-e", filepath.Join(here, "error.log")).CombinedOutput()
	if err != nil || strings.Contains(string(out), "[warn]") {
		return "", fmt.Errorf("nginx -t: %w: %s\n%s", err, out, text)
	}
	return "nginx -t of " + own, nil
}

// paste puts a fix where it says: by its edits where it has some, which say the same as its
// code, else the lines of each block into the first block of that name.
func paste(text string, f kasoku.Fix) (out string, err error) {
	for _, e := range f.Edits {
		if text, err = nginxconf.Edit(text, e.Context, e.Lines); err != nil {
			return "", err
		}
		for line := range strings.Lines(e.Lines) {
			if !strings.Contains(f.Code, strings.TrimSpace(line)) {
				return "", fmt.Errorf("printed is not what is done: %s", line)
			}
		}
	}
	if len(f.Edits) > 0 {
		return text, nil
	}
	for rest := f.Code; rest != ""; {
		head, body, more, block := cutBlock(rest)
		rest = more
		if !block {
			text = head + "\n" + text
			continue
		}
		at := strings.Index(text, head+" {")
		if at < 0 {
			return "", fmt.Errorf("no %s to put it in", head)
		}
		at += len(head) + 2
		text = text[:at] + "\n" + body + "\n" + text[at:]
	}
	return text, nil
}

// cutBlock cuts the first directive or block off.
func cutBlock(text string) (head, body, rest string, block bool) {
	end := strings.IndexAny(text, "{;")
	if end < 0 || text[end] == ';' {
		head, rest, _ = strings.Cut(text, ";")
		return head + ";", "", strings.TrimSpace(rest), false
	}
	depth := 0
	for i := end; i < len(text); i++ {
		switch text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return strings.TrimSpace(text[:end]), text[end+1 : i], strings.TrimSpace(text[i+1:]), true
			}
		}
	}
	return text, "", "", true
}

// vclFile has Varnish compile a fix after a plain beginning.
func (k *checker) vclFile(code string) (string, error) {
	program, err := exec.LookPath("varnishd")
	if err != nil {
		return "not checked: no varnishd", nil
	}
	dir := k.t.TempDir()
	path := filepath.Join(dir, "fix.vcl")
	text := "vcl 4.1;\nbackend default { .host = \"127.0.0.1\"; .port = \"18081\"; }\n" + code + "\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(k.t.Context(), program, "-C", "-j", "none", "-n", filepath.Join(dir, "v"), "-f", path).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("varnishd -C: %w: %.2000s", err, out)
	}
	return "compiled by varnishd", nil
}

// iniFile has a database read an option file, PHP-FPM a pool, and systemd a unit.
func (k *checker) iniFile(code string) (string, error) {
	for _, section := range []string{"[Unit]", "[Service]", "[Install]"} {
		if strings.HasPrefix(code, section) {
			return k.unitFile(code)
		}
	}
	if strings.HasPrefix(code, "[www]") {
		return k.run("fpm.conf", "[global]\nerror_log = /dev/null\n"+code+"\nlisten = 127.0.0.1:9000\nuser = root\ngroup = root\n",
			"php-fpm8.2", "-n", "-R", "-t", "-y")
	}
	if !strings.HasPrefix(code, "[") {
		code = "[mysqld]\n" + code
	}
	dir := k.t.TempDir()
	path := filepath.Join(dir, "my.cnf")
	if err := os.WriteFile(path, []byte(code+"\n"), 0o600); err != nil {
		return "", err
	}
	var read []string
	for _, name := range []string{"mariadbd", "mysqld"} {
		program, err := exec.LookPath(name)
		if err != nil {
			read = append(read, "not checked: no "+name)
			continue
		}
		out, err := exec.CommandContext(k.t.Context(), program, "--defaults-file="+path, "--user=root", "--datadir="+dir, "--verbose", "--help").CombinedOutput()
		if err != nil || strings.Contains(string(out), "unknown variable") || strings.Contains(string(out), "unknown option") {
			return "", fmt.Errorf("%s: %w: %.500s", name, err, out)
		}
		read = append(read, "read by "+name)
	}
	return strings.Join(read, ", "), nil
}

// parseJava is a program that has the compiler parse a file, and prints its errors.
const parseJava = `import javax.tools.*; import java.nio.file.*; import java.util.*;
class Parse { public static void main(String[] a) throws Exception {
  var compiler = ToolProvider.getSystemJavaCompiler(); var seen = new DiagnosticCollector<JavaFileObject>();
  var files = compiler.getStandardFileManager(seen, null, null);
  var task = (com.sun.source.util.JavacTask) compiler.getTask(null, files, seen, null, null, files.getJavaFileObjects(a[0]));
  task.parse(); for (var d : seen.getDiagnostics()) System.out.println(d);
  System.exit(seen.getDiagnostics().isEmpty() ? 0 : 1); } }
`

// javaFile has Java's compiler parse a member of a class, or statements.
func (k *checker) javaFile(code string) (string, error) {
	if strings.HasPrefix(code, "private ") {
		code = "class Fix {\n" + code + "\n}\n"
	} else {
		code = "class Fix { void run() throws Exception {\n" + code + "\n} }\n"
	}
	parser := filepath.Join(k.t.TempDir(), "Parse.java")
	if err := os.WriteFile(parser, []byte(parseJava), 0o600); err != nil {
		return "", err
	}
	return k.run("Fix.java", code, "java", parser)
}

// unitFile adds a fix to a unit, as systemctl edit does.
func (k *checker) unitFile(code string) (string, error) {
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return "not checked: no systemd-analyze", nil
	}
	dir := k.t.TempDir()
	unit := filepath.Join(dir, "userapi.service")
	if err := os.WriteFile(unit, []byte("[Unit]\nDescription=a service\n[Service]\nExecStart=/bin/true\n"+code+"\n"), 0o600); err != nil {
		return "", err
	}
	out, err := exec.CommandContext(k.t.Context(), program, "verify", "--man=no", "--recursive-errors=no", unit).CombinedOutput()
	if strings.Contains(string(out), "userapi.service:") || err != nil && strings.Contains(string(out), "userapi") {
		return "", fmt.Errorf("systemd-analyze verify: %w: %s", err, out)
	}
	return "verified by systemd-analyze", nil
}

// served is nginx in front of an application, with the fix of a rule in its file.
func served(t *testing.T, rule string, app http.Handler, more func(rec *kasoku.Recording)) *sandbox.NginxServer {
	t.Helper()
	return servedAt(t, rule, "", app, more)
}

// servedAt is served with more directives in the location that passes requests on.
func servedAt(t *testing.T, rule, beside string, app http.Handler, more func(rec *kasoku.Recording)) *sandbox.NginxServer {
	t.Helper()
	upstream := httptest.NewServer(app)
	t.Cleanup(upstream.Close)
	conf := "{user}\npid \"{dir}/nginx.pid\";\nevents { worker_connections 64; }\nhttp {\n    access_log off;\n    proxy_temp_path \"{dir}/proxy\"; # that of the package is root's\n" +
		"    server {\n        listen 127.0.0.1:{port};\n" +
		"        location / { proxy_pass http://{upstream}; proxy_set_header X-Through nginx; proxy_set_header X-Host $host; " + beside + " }\n    }\n}\n"
	parsed := strings.NewReplacer("{user}\n", "", "{dir}", "/run", "{port}", "80", "{upstream}", strings.TrimPrefix(upstream.URL, "http://")).Replace(conf)
	rec := &kasoku.Recording{Run: kasoku.Run{Length: 10 * time.Second},
		Configs: []kasoku.Config{{Kind: "nginx", Name: "/etc/nginx/nginx.conf", Text: parsed}}}
	more(rec)
	for _, r := range rules.All() {
		if r.ID() != rule {
			continue
		}
		found, silent := r.Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 {
			t.Fatalf("%+v", silent)
		}
		// What edits a file reads it first, and places in braces are no nginx.
		away := strings.NewReplacer("{user}", "#user#", "{port}", "PORT", "{upstream}", "UPSTREAM")
		back := strings.NewReplacer("#user#", "{user}", "PORT", "{port}", "UPSTREAM", "{upstream}")
		text, err := paste(away.Replace(conf), found[0].Fixes[0])
		if err != nil {
			t.Fatal(err)
		}
		text = strings.ReplaceAll(back.Replace(text), cache.CachePath, filepath.Join(t.TempDir(), "short"))
		return sandboxtest.Nginx(t, sandbox.NginxOptions{Config: text, Upstream: strings.TrimPrefix(upstream.URL, "http://")})
	}
	t.Fatal("no such rule")
	return nil
}

// answerOf asks for a path, and returns the status and the body.
func answerOf(t *testing.T, url, header, value string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != "" {
		req.Header.Set(header, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// endpoint is one that the application answered in all of 1,000 requests.
func endpoint(route string, each time.Duration, variants uint64) kasoku.Endpoint {
	const n = 1000
	return kasoku.Endpoint{Method: "GET", Route: route, Count: n, Codes: map[int]uint64{200: n}, Bytes: n * 9, MinBytes: 9, MaxBytes: 9,
		Total: n * each, Upstream: n * each, UpstreamCount: n, Paths: 1, Variants: variants, Seconds: map[int]kasoku.EndpointSecond{1: {Count: n}}}
}

// TestStaticFix: with NGX-02's fix nginx sends the file, and what is no file comes from the
// application as before, with its headers: a row's image, a path that was not found, a file
// that was deleted.
func TestStaticFix(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "page.css"), []byte("from disk"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "secret.js"), []byte("the source"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := served(t, "NGX-02", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "from "+r.Header.Get("X-Through")+" "+r.URL.Path)
	}), func(rec *kasoku.Recording) {
		rec.Endpoints = []kasoku.Endpoint{endpoint("/page.css", 2*time.Millisecond, 10), endpoint("/gone.png", 2*time.Millisecond, 10), endpoint("/row.png", 2*time.Millisecond, 10)}
		rec.Settings = []kasoku.Setting{{Scope: kasoku.FilesScope, Name: "/page.css", Value: root}, {Scope: kasoku.FilesScope, Name: "/gone.png", Value: root}}
	})
	for path, want := range map[string]string{"/page.css": "from disk", "/gone.png": "from nginx /gone.png", "/row.png": "from nginx /row.png",
		"/secret.js": "from nginx /secret.js", "/a/page.css": "from nginx /a/page.css", "/": "from nginx /"} {
		if code, body := answerOf(t, s.URL()+path, "", ""); code != 200 || body != want {
			t.Errorf("%s: %d %q, want %q", path, code, body, want)
		}
	}
}

// TestStaticFix_Guarded: who may not ask for what the application sends may not ask for the
// file either, and headers are those of before; what was refused to some is no file for all.
func TestStaticFix_Guarded(t *testing.T) {
	root := t.TempDir()
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(root, "users")
	for name, text := range map[string]string{"page.css": "from disk", "bill.html": "a customer's", "users": "ada:{PLAIN}pw\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := servedAt(t, "NGX-02", "auth_basic shop; auth_basic_user_file "+users+"; add_header X-Frame-Options deny;",
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "from the application") }), func(rec *kasoku.Recording) {
			rec.Endpoints = []kasoku.Endpoint{endpoint("/page.css", 2*time.Millisecond, 10), endpoint("/bill.html", 2*time.Millisecond, 10)}
			rec.Endpoints[1].Codes = map[int]uint64{200: 990, 403: 10}
			rec.Settings = []kasoku.Setting{{Scope: kasoku.FilesScope, Name: "/page.css", Value: root}, {Scope: kasoku.FilesScope, Name: "/bill.html", Value: root}}
		})
	for path, want := range map[string]string{"/page.css": "from disk", "/bill.html": "from the application"} {
		if code, _ := answerOf(t, s.URL()+path, "", ""); code != http.StatusUnauthorized {
			t.Errorf("%s without a password: %d", path, code)
		}
		if code, body := answerOf(t, s.URL()+path, "Authorization", "Basic YWRhOnB3"); code != 200 || body != want {
			t.Errorf("%s: %d %q, want %q", path, code, body, want)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/page.css", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("ada", "pw")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if h := res.Header.Get("X-Frame-Options"); h != "deny" {
		t.Errorf("X-Frame-Options: %q", h)
	}
}

// TestKeptConnections: with NGX-01's fix one connection to the application is kept, and the
// application gets the Host that it got before; its redirects are taken back as before.
func TestKeptConnections(t *testing.T) {
	var opened sync.Map
	s := served(t, "NGX-01", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		opened.Store(r.RemoteAddr, r.Host)
		w.Header().Set("Location", "http://"+r.Host+"/there")
		fmt.Fprintf(w, "through %s by %s", r.Header.Get("X-Through"), r.Proto)
	}), func(rec *kasoku.Recording) {
		rec.Endpoints = []kasoku.Endpoint{endpoint("/trend", 20*time.Millisecond, 10)}
		rec.Endpoints[0].Connects, rec.Endpoints[0].ConnectCount = 1000, 1000
	})
	for range 5 {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/trend", nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if at := res.Header.Get("Location"); err != nil || string(body) != "through nginx by HTTP/1.1" || at != s.URL()+"/there" {
			t.Errorf("%v: %q, to %q", err, body, at)
		}
	}
	n, host := 0, any(nil)
	opened.Range(func(_, h any) bool { n, host = n+1, h; return true })
	if name, ok := host.(string); n != 1 || !ok || !strings.HasPrefix(name, "127.0.0.1:") {
		t.Errorf("%d connections, to %q", n, host)
	}
}

// TestKeptAnswer: with CCH-01's fix an answer is kept for those who send nothing of their own;
// who sends a cookie or Authorization gets his own, and his is never kept.
func TestKeptAnswer(t *testing.T) {
	var asked atomic.Int64
	s := served(t, "CCH-01", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "for %q%q", r.Header.Get("Cookie"), r.Header.Get("Authorization"))
		asked.Add(1)
	}), func(rec *kasoku.Recording) {
		rec.Endpoints = []kasoku.Endpoint{endpoint("/trend", 20*time.Millisecond, 10), endpoint("/other.cgi", time.Millisecond, 1000)}
		rec.Settings = []kasoku.Setting{{Scope: kasoku.ContractScope, Name: "stale GET /trend", Value: "1h0m0s"}}
	})
	for range 3 {
		for _, h := range []string{"", "Cookie", "Authorization"} {
			want := map[string]string{"": `for """"`, "Cookie": `for "a=1"""`, "Authorization": `for """a=1"`}[h]
			if code, body := answerOf(t, s.URL()+"/trend", h, "a=1"); code != 200 || body != want {
				t.Errorf("%s: %d %q", h, code, body)
			}
		}
	}
	if n := asked.Load(); n != 7 {
		t.Errorf("the application was asked %d times, want once, and each time for those who send something", n)
	}
}

// TestKeptAnswer_Headers: an answer is kept as long as CCH-01's fix says, for each Host its own,
// whatever age the application gives it; not what is private or sets a cookie.
func TestKeptAnswer_Headers(t *testing.T) {
	var asked atomic.Int64
	kept := func(name, value, stale string) func(host string) string {
		asked.Store(0)
		s := served(t, "CCH-01", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set(name, value)
			asked.Add(1)
			fmt.Fprint(w, "of ", r.Header.Get("X-Host"))
		}), func(rec *kasoku.Recording) {
			rec.Endpoints = []kasoku.Endpoint{endpoint("/trend", 20*time.Millisecond, 10), endpoint("/other.cgi", time.Millisecond, 1000)}
			if stale != "" {
				rec.Settings = []kasoku.Setting{{Scope: kasoku.ContractScope, Name: "stale GET /trend", Value: stale}}
			}
		})
		return func(host string) string {
			req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"/trend", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(body)
		}
	}
	for _, c := range []struct {
		name, value string
		want        int64
	}{
		{"Cache-Control", "max-age=300", 2}, {"Expires", "Thu, 01 Jan 1970 00:00:00 GMT", 2}, {"X-Accel-Expires", "0", 2},
		{"Cache-Control", "private, max-age=300", 6}, {"Cache-Control", "no-store", 6}, {"Set-Cookie", "a=1", 6},
	} {
		get := kept(c.name, c.value, "1h0m0s")
		for range 3 {
			for _, host := range []string{"a.test", "b.test"} {
				if got := get(host); got != "of "+host {
					t.Errorf("%s gets the answer %q", host, got)
				}
			}
		}
		if n := asked.Load(); n != c.want {
			t.Errorf("%s: %s: asked %d times, want %d", c.name, c.value, n, c.want)
		}
	}
	get := kept("Cache-Control", "max-age=300", "") // kept for a second
	for end := time.Now().Add(20 * time.Second); asked.Load() < 3; get("a.test") {
		if time.Now().After(end) {
			t.Fatalf("asked %d times in 20 s: the answer is kept for longer than a second", asked.Load())
		}
	}
}

// TestKeptAge: with CCH-08's fix clients get the age that the contract allows, answers and the
// headers that nginx adds stay as they were, and other paths get no age.
func TestKeptAge(t *testing.T) {
	s := served(t, "CCH-08", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "of "+r.Header.Get("X-Host")+r.URL.RequestURI())
	}), func(rec *kasoku.Recording) {
		rec.Endpoints = []kasoku.Endpoint{endpoint("/trend", 20*time.Millisecond, 10)}
		rec.Settings = append((kasoku.ComparedAnswers{Asked: 1, Bare: map[string]string{"GET /trend": "shop.test"}}).Settings(),
			kasoku.FetchedAgain{Method: "GET", Route: "/trend", Requests: 900, Bytes: 900 * 9, Time: time.Second}.Setting(""),
			kasoku.Setting{Scope: kasoku.ContractScope, Name: "stale GET /trend", Value: "1m0s"})
		at := strings.Index(rec.Configs[0].Text, "        location")
		rec.Configs[0].Text = rec.Configs[0].Text[:at] + "        add_header X-Frame-Options DENY;\n" + rec.Configs[0].Text[at:]
	})
	for path, age := range map[string]string{"/trend": "private, max-age=60", "/trend?page=2": "private, max-age=60", "/trends": ""} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "shop.test"
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if got := res.Header.Get("Cache-Control"); err != nil || string(body) != "of shop.test"+path || got != age {
			t.Errorf("%s: %v: %q, Cache-Control %q, want %q", path, err, body, got, age)
		}
		if got := res.Header.Get("X-Frame-Options"); (got == "DENY") != (age != "") {
			t.Errorf("%s: X-Frame-Options %q", path, got)
		}
	}
}
