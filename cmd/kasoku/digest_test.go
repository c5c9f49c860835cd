package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestDigest reads the digests of real servers: whole, as a difference, from
// snapshots and as slowquery2tsv does.
func TestDigest(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--performance-schema=ON", "--skip-log-bin"}}, func(t *testing.T, srv *sandbox.Server) {
		dir, db := t.TempDir(), sandboxtest.DB(t, srv, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY, a VARCHAR(9))")
		first := kasokuIn(t, dir, "digest", "--dsn", srv.DSN("", ""), "-o", "json")
		if err := os.WriteFile(filepath.Join(dir, "before.json"), []byte(first), 0o600); err != nil {
			t.Fatal(err)
		}
		sandboxtest.Exec(t, db, "INSERT INTO shop.t VALUES (1, 'x')", "INSERT INTO shop.t VALUES (2, 'y'), (3, 'z')", "SELECT a FROM shop.t WHERE a = 'x'")
		var added encode.DigestFile
		out := ""
		eventually(func() bool { // the server answers a statement before it counts it
			out = kasokuIn(t, dir, "digest", "--dsn", srv.DSN("", ""), "--snapshot", "before.json", "-o", "json")
			added = encode.DigestFile{}
			return json.Unmarshal([]byte(out), &added) == nil && strings.Contains(out, "SELECT `a`")
		})
		var inserts, reads *encode.Digest
		for i := range added.Classes {
			c := &added.Classes[i]
			switch {
			case strings.HasPrefix(c.Text, "INSERT INTO `shop`"):
				inserts = c
			case strings.HasPrefix(c.Text, "SELECT `a`"):
				reads = c
			}
		}
		if inserts == nil || reads == nil || added.Over == nil || reads.Calls != 1 || reads.RowsSent != 1 || reads.RowsExamined != 3 || reads.NoIndex != 1 || reads.Database != "" {
			t.Fatalf("added %s", out)
		}
		if err := os.WriteFile(filepath.Join(dir, "after.json"), []byte(kasokuIn(t, dir, "digest", "--dsn", srv.DSN("", ""), "-o", "json")), 0o600); err != nil {
			t.Fatal(err)
		}
		if text := kasokuIn(t, dir, "digest", "before.json", "after.json"); !strings.Contains(text, "SELECT `a`") || !strings.Contains(text, "examined") {
			t.Errorf("between two snapshots:\n%s", text)
		}
		tsv := kasokuIn(t, dir, "digest", "--as", "slowquery2tsv", "-u", "root", "-P", srv.Addr()[strings.LastIndexByte(srv.Addr(), ':')+1:])
		head, _, _ := strings.Cut(tsv, "\n")
		if want := "cnt\tsum\tmin\tavg\tmax\tsumLock\tsumRows\tavgRows\tdb\t" + map[string]string{sandbox.KindMySQL97: "query"}[srv.Kind]; !strings.HasPrefix(head, want) ||
			!strings.Contains(tsv, "FROM") {
			t.Errorf("slowquery2tsv:\n%.600s", tsv)
		}
	})
}

// TestDigest_Off: a server without performance_schema is reported, with what to do; it may be
// that of kasoku.toml.
func TestDigest_Off(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	srv, err := sandbox.MariaDB(t.Context(), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Stop(t.Context())
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte("[mysql]\ndsn = '"+srv.DSN("", "")+"'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--dsn", srv.DSN("", "")}, {}, {"--as", "slowquery2tsv", "-P", srv.Addr()[strings.LastIndexByte(srv.Addr(), ':')+1:]}} {
		cmd := exec.Command("kasoku", append([]string{"digest"}, args...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "performance_schema is off") || !strings.Contains(string(out), "performance_schema=ON") || !strings.Contains(string(out), "kasoku slowlog") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}
