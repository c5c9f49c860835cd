package logscmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli/clitest"
	"github.com/kasoku/kasoku/fleet/gather"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/logs"
	"golang.org/x/sys/unix"
)

// TestHostsOf: what names logs of hosts, and what is a file here, or no command line.
func TestHostsOf(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("web1:", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("web1:/own.log", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := func(want string, args ...string) {
		t.Helper()
		hosts, err := hostsOf(args)
		got := ""
		for _, h := range hosts {
			got += h.Host + " " + strings.Join(h.Paths, " ") + ";"
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
	f("")
	f("", "access.log", "-", "a:b", "C:/x", "web1:/own.log")
	f("web1 /a /b;db /c;", "web1:/a", "web1:/b", "db:/c")
	f("stand apart", "web1:/a", "db:/c", "web1:/b")
	f("not read at once", "web1:/a", "b")
	f("not read at once", "b", "web1:/a")
	f("without dots", "web1:/a/../b")
}

// TestTakeAll: what a host hands over is taken as what it can be, or not at all.
func TestTakeAll(t *testing.T) {
	e, _, _ := clitest.New()
	made, err := newAccessTabler(e, json.RawMessage(`{"Bots":"include","By":["route"]}`))
	if err != nil {
		t.Fatal(err)
	}
	table := func(kind string, b []byte) []byte {
		t.Helper()
		part, err := logs.AppendPart(nil, &logs.Part{Window: kasoku.LogWindow{Kind: kind, Path: "/a"}, Table: b})
		if err != nil {
			t.Fatal(err)
		}
		return part
	}
	f := func(want string, content []byte) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "a.tables")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		h := hostReading{kind: "accesslog", take: func(_ string, p *logs.Part, _ int) error { return made.check(p.Table) }}
		number := 0
		if err := h.takeAll(&gather.ReadLogs{Host: "web1", Path: path}, &number); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	f("another kind", table("slowlog", []byte("\x01")))
	f("another release", table("accesslog", []byte("\x09")))
	f("read table", table("accesslog", []byte("\x01\x05")))
	f("read table", table("accesslog", append([]byte("\x01"), make([]byte, 1<<20)...)))
	f("at most", []byte("\xff\xff\xff\xff\xff\x0f"))
	f("unexpected EOF", []byte("\xff\xff\x0fshort"))
}

// TestAccessTabler: options that are not known here are refused, as are those that would take too much.
func TestAccessTabler(t *testing.T) {
	e, _, _ := clitest.New()
	for _, bad := range []string{`{"Bots":"include","By":["route"],"File":"/etc/passwd"}`, `{"Bots":"include","By":["route"],"Slowest":1000000}`,
		`{"Bots":"include","By":["route"],"Format":"%"}`, `{"Bots":"include","By":["route"],"Where":"("}`, `[]`, ``,
		`{"Bots":"include","By":["route"],"Routes":{"Patterns":["("]}}`} {
		if _, err := newAccessTabler(e, json.RawMessage(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// TestTableName: a table belongs to a log as it is, and to how it was read.
func TestTableName(t *testing.T) {
	r := relay.Reader{Kind: "accesslog", Options: json.RawMessage(`{}`)}
	st := unix.Stat_t{Dev: 1, Ino: 2, Size: 3}
	name := tableName(&r, json.RawMessage(`1`), "/a", &st)
	for what, change := range map[string]func() string{
		"options": func() string {
			r := r
			r.Options = json.RawMessage(`{ }`)
			return tableName(&r, json.RawMessage(`1`), "/a", &st)
		},
		"word":  func() string { return tableName(&r, json.RawMessage(`2`), "/a", &st) },
		"path":  func() string { return tableName(&r, json.RawMessage(`1`), "/b", &st) },
		"size":  func() string { st := st; st.Size++; return tableName(&r, json.RawMessage(`1`), "/a", &st) },
		"ctime": func() string { st := st; st.Ctim.Nsec++; return tableName(&r, json.RawMessage(`1`), "/a", &st) },
	} {
		if change() == name {
			t.Errorf("another %s has the same name", what)
		}
	}
}

// TestTidyTables: what was cut off goes, and tables that are old.
func TestTidyTables(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"lock": 0, "a.table": 0, "b.table": 8 * 24 * time.Hour, "c.tables": 0, ".c.table.tmp123": 0} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	tidyTables(dir, now)
	left, _ := filepath.Glob(dir + "/*")
	hidden, _ := filepath.Glob(dir + "/.*")
	if len(left) != 2 || len(hidden) > 0 || filepath.Base(left[0]) != "a.table" {
		t.Errorf("left: %v %v", left, hidden)
	}
}
