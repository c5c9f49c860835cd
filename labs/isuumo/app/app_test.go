package app

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/process"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestDefects: the statements that a request causes, with a defect and without it.
func TestDefects(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE isuumo", "SET GLOBAL log_output = 'TABLE'")
	d := few()
	shipped, err := isuumo.Variant(isuumo.Initial)
	if err != nil {
		t.Fatal(err)
	}
	search := "/api/chair/search?page=0&perPage=5&kind=" + url.QueryEscape(d.Chairs[0].Kind)
	town := d.Estates[0]
	polygon := fmt.Sprintf(`{"coordinates":[{"latitude":%[1]f,"longitude":%[3]f},{"latitude":%[2]f,"longitude":%[3]f},{"latitude":%[2]f,"longitude":%[4]f},{"latitude":%[1]f,"longitude":%[3]f}]}`,
		town.Latitude-0.3, town.Latitude+0.3, town.Longitude-0.3, town.Longitude+0.3)
	f := func(id string, request func(url string), with, without string) {
		t.Helper()
		for _, x := range []struct {
			defects isuumo.Defects
			want    string
		}{{shipped, with}, {shipped.Without(id), without}} {
			url, _ := served(t, s, d, x.defects)
			post(t, url+"/initialize", "", "")
			if got := sentQueries(t, db, func() { request(url) }); !regexp.MustCompile("^" + x.want + "$").MatchString(got) {
				t.Errorf("%s with %s: %s\nwant %s", id, x.defects, got, x.want)
			}
		}
	}
	detail := func(url string) { ask(t, url+"/api/chair/1") }
	f("QRY-03", detail, `Prepare SELECT \* FROM chair .*`, `Prepare SELECT id, .* FROM chair .*`)
	f("DRV-01", detail, `Prepare (.*)\|Execute .*`, `Query SELECT \* FROM chair WHERE id = 1`)
	f("QRY-04", func(url string) { post(t, url+"/api/estate/nazotte", "application/json", polygon) },
		`(Prepare [^|]*\|Execute [^|]*\|?){4,}`, `Prepare [^|]*ST_Contains[^|]*\|Execute [^|]*`)
	f("QRY-08", func(url string) { ask(t, url+search); ask(t, url+search) }, `.*COUNT.*LIMIT.*COUNT.*LIMIT.*`, `[^|]*COUNT[^|]*\|[^|]*COUNT[^|]*\|(Prepare [^|]*LIMIT[^|]*\|Execute [^|]*\|?){2}`)
	f("LCK-01", func(url string) { post(t, url+"/api/chair/buy/1", "application/json", `{"email":"a"}`) },
		`Query START TRANSACTION\|.*FOR UPDATE.*UPDATE chair .*\|Query COMMIT`, `Prepare UPDATE chair [^|]*\|Execute [^|]*`)
	f("DRV-02", func(url string) { upload(t, url, d.VerifyChairs[:3]) },
		`Query START TRANSACTION\|(Prepare INSERT [^|]*\|Execute [^|]*\|){3}Query COMMIT`, `Query START TRANSACTION\|(Prepare INSERT [^|]*\|Execute [^|]*\|){1}Query COMMIT`)
	f("IDX-05", func(url string) { ask(t, url+"/api/chair/search?priceRangeId=1&page=0&perPage=5") }, `.*price >= .*`, `.*price_bucket = .*`)
	f("IDX-07", func(url string) { post(t, url+"/api/estate/nazotte", "application/json", polygon) }, `[^|]*latitude <= .*`, `[^|]*MBRIntersects.*`)
	testOPS09(t, s, d, db)
	testInitializeAtOnce(t, s, d, shipped)
}

// testInitializeAtOnce: calls that come together do not get into each other's way.
func testInitializeAtOnce(t *testing.T, s *sandbox.Server, d *isuumo.Data, shipped isuumo.Defects) {
	t.Helper()
	for _, defects := range []isuumo.Defects{shipped, nil} {
		base, _ := served(t, s, d, defects)
		said := make(chan string)
		for range 4 {
			go func() {
				res, err := http.Post(base+"/initialize", "", nil)
				if err != nil {
					said <- err.Error()
					return
				}
				res.Body.Close()
				said <- res.Status
			}()
		}
		for range 4 {
			if got := <-said; got != "200 OK" {
				t.Errorf("%s: %s", defects, got)
			}
		}
		ask(t, base+"/api/chair/1")
	}
}

// testOPS09: with the defect, a count that was kept before /initialize is returned after it.
func testOPS09(t *testing.T, s *sandbox.Server, d *isuumo.Data, db *sql.DB) {
	t.Helper()
	for _, defects := range []isuumo.Defects{{"CCH-07"}, {"CCH-07", "OPS-09"}} {
		base, _ := served(t, s, d, defects)
		count := func() (n int) {
			t.Helper()
			var v struct{ Count int }
			if err := json.Unmarshal(ask(t, base+"/api/chair/search?priceRangeId=1&page=0&perPage=1"), &v); err != nil {
				t.Fatal(err)
			}
			return v.Count
		}
		post(t, base+"/initialize", "", "")
		sandboxtest.Exec(t, db, "DELETE FROM isuumo.chair") // as another program may
		before := count()
		post(t, base+"/initialize", "", "")
		if stale := count() == before; stale != defects.Has("OPS-09") {
			t.Errorf("%s: stale %v", defects, stale)
		}
	}
}

// sentQueries returns what sessions of the service send to the database meanwhile, without the
// closing of statements, which is not waited for.
func sentQueries(t *testing.T, db *sql.DB, do func()) string {
	t.Helper()
	// A guard of another test's, whose server had this port before, looks which server it is.
	const others = " AND argument NOT LIKE '%/* kasoku */%'"
	sandboxtest.Exec(t, db, "TRUNCATE mysql.general_log", "SET GLOBAL general_log = ON")
	do()
	sandboxtest.Exec(t, db, "SET GLOBAL general_log = OFF")
	rows, err := db.Query("SELECT CONCAT(command_type, ' ', argument) FROM mysql.general_log WHERE command_type IN ('Query', 'Prepare', 'Execute') AND argument NOT LIKE 'SET GLOBAL%'" + others)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		out = append(out, strings.ReplaceAll(line, "\n", " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, "|")
}

func ask(t *testing.T, url string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, http.DefaultClient, req)
}

func post(t *testing.T, url, contentType, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	do(t, http.DefaultClient, req)
}

func do(t *testing.T, c *http.Client, req *http.Request) []byte {
	t.Helper()
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %v", req.Method, req.URL, resp.Status, err)
	}
	return b
}

func upload(t *testing.T, url string, chairs []isuumo.Chair) {
	t.Helper()
	const head = "--x\r\nContent-Disposition: form-data; name=\"chairs\"; filename=\"chairs.csv\"\r\n\r\n"
	post(t, url+"/api/chair", "multipart/form-data; boundary=x", head+string(data.ChairCSV(nil, chairs))+"\r\n--x--\r\n")
}

func TestOpen(t *testing.T) {
	f := func(d isuumo.Defects, open int) {
		t.Helper()
		db, err := openDB(Config{DSN: "root@tcp(127.0.0.1:1)/isuumo", Defects: d})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if n := db.Stats().MaxOpenConnections; n != open {
			t.Errorf("%s: %d connections, want %d", d, n, open)
		}
	}
	f(isuumo.Defects{"CCH-07", "POOL-06"}, 10)
	f(isuumo.Defects{"CCH-07"}, poolSize)
	f(isuumo.Defects{"POOL-06"}, poolSize) // from memory, it is not seen
}

func TestChatty(t *testing.T) {
	turn.Wait(t)
	log := command.NewTail(1 << 16)
	h := chatty(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/none" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.Header().Set("Content-Length", "12") // of what is not sent
		_, _ = io.WriteString(w, `{"a":[1,{}]}`)
	}), log)
	f := func(path string, status int, body string) {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("User-Agent", "x\"\n\x1b[31m")
		h.ServeHTTP(w, r)
		if w.Code != status || w.Body.String() != body || w.Header().Get("Content-Length") != fmt.Sprint(len(body)) {
			t.Errorf("%s: %d %q, length %s", path, w.Code, w.Body, w.Header().Get("Content-Length"))
		}
	}
	f("/some?q=%22", 200, "{\n  \"a\": [\n    1,\n    {}\n  ]\n}\n")
	f("/none", 404, "")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || strings.Contains(log.String(), "\x1b") {
		t.Fatalf("log %q", log.String())
	}
	var line struct {
		Method, URI string
		Status      int
		BytesOut    int   `json:"bytes_out"`
		Latency     int64 `json:"latency"`
	}
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil || line.Method != "GET" || line.URI != "/some?q=%22" || line.Status != 200 || line.BytesOut != 31 || line.Latency <= 0 {
		t.Errorf("%s: %+v, %v", lines[0], line, err)
	}
}

// TestServe_DatabaseDown: the service waits for its database and says so.
func TestServe_DatabaseDown(t *testing.T) {
	turn.Wait(t)
	port, err := sandbox.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	log := &firstLine{stop: cancel}
	err = Serve(ctx, Config{Listen: "127.0.0.1:0", DSN: (&sandbox.Server{Port: port}).DSN("", "isuumo"), AppLog: log})
	if err == nil || !strings.Contains(log.text, "connection refused; trying again in 100ms") {
		t.Errorf("%v, log %q", err, log.text)
	}
}

// firstLine keeps the first write and then stops.
type firstLine struct {
	text string
	stop func()
}

func (f *firstLine) Write(p []byte) (int, error) {
	if f.text == "" {
		f.text = string(p)
		f.stop()
	}
	return len(p), nil
}

// TestListen: the socket of a killed process is replaced, one that is in
// use is not.
func TestListen(t *testing.T) {
	at := "unix:" + filepath.Join(t.TempDir(), "app.sock")
	first, addr, err := listen(at)
	if err != nil || addr != at {
		t.Fatalf("%q, %v", addr, err)
	}
	if _, _, err := listen(at); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a socket in use: %v", err)
	}
	first.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, _, err := listen(at)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- process.Serve(ctx, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") })}, second)
	}()
	c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", strings.TrimPrefix(at, "unix:"))
	}}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://app/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if b := do(t, c, req); string(b) != "here" {
		t.Errorf("%q", b)
	}
	c.CloseIdleConnections()
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if _, _, err := listen("127.0.0.1:99999"); err == nil {
		t.Error("no such port")
	}
}
