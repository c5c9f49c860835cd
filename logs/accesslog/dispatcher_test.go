package accesslog

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// dispatcherPy is an application that chooses what it does by page, and shows the page of a tenant by
// the same key, as small applications do.
const dispatcherPy = `
import http.server, sqlite3, urllib.parse
db = sqlite3.connect(":memory:", check_same_thread=False)
db.execute("CREATE TABLE bills (tenant TEXT, n INTEGER, note TEXT)")
sizes = {"acme": 20, "globex": 200, "initech": 2000}
for tenant, n in sizes.items():
    db.executemany("INSERT INTO bills VALUES (?, ?, ?)", [(tenant, i, "bill %06d of the month" % i) for i in range(n)])
def home(q): return "welcome"
def about(q): return "about us " * 40
def rows(*sql): return "\n".join(str(r) for r in db.execute(*sql))
def report(q): return rows("SELECT tenant, SUM(n) FROM bills GROUP BY tenant") * 90
def tenant(q): return rows("SELECT note FROM bills WHERE tenant = ? ORDER BY n", (q["page"][0],))
pages = {"home": home, "about": about, "report": report}
class App(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        q = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        body = pages.get(q.get("page", ["home"])[0], tenant)(q).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *a): pass
s = http.server.ThreadingHTTPServer(("127.0.0.1", 0), App)
print(s.server_address[1], flush=True)
s.serve_forever()
`

// TestChosenOfProxy: of an application in Python, in the log of an nginx that passes requests on to
// it, the pages are endpoints and the tenants are not.
func TestChosenOfProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("needs servers")
	}
	app := exec.CommandContext(t.Context(), "python3", "-c", dispatcherPy)
	out, err := app.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := app.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Process.Kill(); app.Wait() })
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Dir: t.TempDir(), Upstream: "127.0.0.1:" + strings.TrimSpace(port)})
	for i := range 240 {
		page := []string{"home", "acme", "about", "globex", "report", "initech"}[i%6]
		answer, err := http.Get(fmt.Sprintf("http://%s/index?page=%s", web.Addr(), page))
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	if err := web.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	table, _, err := CollectAll(t.Context(), []lines.Input{{Path: web.AccessLog}}, Options{Detail: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "GET /index 120, GET /index?page=about 40, GET /index?page=home 40, GET /index?page=report 40"
	if got := strings.Join(endpointNames(table), ", "); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
