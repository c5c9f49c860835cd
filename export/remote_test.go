package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRemoteWrite_Prometheus: a real Prometheus takes a run and answers with its values.
func TestRemoteWrite_Prometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("runs prometheus")
	}
	rec := recording()
	rec.Run.Started, rec.Run.Project, rec.Run.ID = time.Now().Add(-time.Minute), "shop", "20261120-140211-before"
	address := prometheusServer(t)
	w, err := NewRemoteWrite(address + "/api/v1/write")
	if err != nil {
		t.Fatal(err)
	}
	if sent, err := w.Run(t.Context(), rec, nil); err != nil || sent == 0 {
		t.Fatalf("%d values sent, %v", sent, err)
	}
	var refused *Refusal
	if _, err := w.Run(t.Context(), rec, nil); !errors.As(err, &refused) || !strings.Contains(refused.Hint(), "has it already") {
		t.Errorf("again: %v", err)
	}
	for query, want := range map[string]string{
		`last_over_time(kasoku_mysql_threads_connected{run="20261120-140211-before"}[5m])`:       "151",
		`last_over_time(kasoku_host_disk_reads_total{entity="vda",host="web1"}[5m])`:             "20",
		`last_over_time(kasoku_process_rss_bytes{entity="12 a\"b,c =1+1",project="shop"}[5m])`:   "1073741824",
		`count(count by (__name__) (last_over_time({__name__=~"kasoku_load_.*"}[5m]))) > bool 0`: "1",
	} {
		res, err := http.Get(address + "/api/v1/query?query=" + url.QueryEscape(query))
		if err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Data struct {
				Result []struct{ Value [2]any }
			}
		}
		err = json.NewDecoder(res.Body).Decode(&answer)
		_ = res.Body.Close()
		if err != nil || len(answer.Data.Result) != 1 || fmt.Sprint(answer.Data.Result[0].Value[1]) != want {
			t.Errorf("%s: %+v, %v, want %s", query, answer, err, want)
		}
	}
	rec.Run.Started = time.Now().Add(-1000 * time.Hour)
	if _, err := w.Run(t.Context(), rec, nil); !errors.As(err, &refused) || !strings.Contains(refused.Hint(), "older") {
		t.Errorf("an old run: %v", err)
	}
}

// prometheusServer starts a Prometheus on loopback, and returns its URL.
func prometheusServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close() // Prometheus is to have it
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address, "--web.enable-remote-write-receiver")
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; `tools/setup test` installs it", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		if res, err := http.Get("http://" + address + "/-/ready"); err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return "http://" + address
			}
		}
		<-time.After(50 * time.Millisecond)
	}
	t.Fatal("prometheus does not begin to answer")
	return ""
}

// TestRemoteWrite_Refused: what a server says is passed on, without the password of its address.
func TestRemoteWrite_Refused(t *testing.T) {
	var user string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, _ = r.BasicAuth()
		_, _ = io.Copy(io.Discard, r.Body)
		http.Error(w, "tenant is full\nmore", http.StatusTooManyRequests)
	}))
	defer server.Close()
	w, err := NewRemoteWrite(strings.Replace(server.URL, "http://", "http://me:hidden@", 1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Run(t.Context(), recording(), nil)
	if err == nil || !strings.HasSuffix(err.Error(), "429 Too Many Requests: tenant is full") ||
		strings.Contains(err.Error(), "hidden") || user != "me" {
		t.Errorf("%v, user %q", err, user)
	}
	for _, bad := range []string{"", "127.0.0.1:9090", "ftp://a/b", "http:///x"} {
		if _, err := NewRemoteWrite(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestRemoteWrite_Redirect: where an address leads to a page that answers well, nothing was sent.
func TestRemoteWrite_Redirect(t *testing.T) {
	for _, status := range []int{http.StatusFound, http.StatusSeeOther, http.StatusPermanentRedirect} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			if r.URL.Path != "/login" {
				http.Redirect(w, r, "/login", status)
			}
		}))
		w, err := NewRemoteWrite(server.URL + "/api/v1/write")
		if err != nil {
			t.Fatal(err)
		}
		sent, err := w.Run(t.Context(), recording(), nil)
		server.Close()
		var refused *Refusal
		if !errors.As(err, &refused) || !strings.Contains(refused.Hint(), "login") || sent != 0 || asked != 1 {
			t.Errorf("%d: %v, %d sent, %d requests", status, err, sent, asked)
		}
	}
}
