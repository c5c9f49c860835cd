package live

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/prove"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

const victim = "KASOKU_TEST_LIVE_DSN"

// TestMain is the process that is killed between a change and the decision on it, too.
func TestMain(m *testing.M) {
	dsn := os.Getenv(victim)
	if dsn == "" {
		os.Exit(m.Run())
	}
	s, err := Open(context.Background(), options(dsn, os.Args[1]))
	if err == nil {
		err = s.Apply(context.Background(), edits())
	}
	if err == nil {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	fmt.Fprintln(os.Stderr, "not killed:", err)
	os.Exit(1)
}

const conf = "http {\n    server {\n        listen 127.0.0.1:1;\n    }\n}\n"

// options are of a service in a directory, whose commands write down that they ran.
func options(dsn, dir string) Options {
	says := func(what string) []string { return []string{"sh", "-c", "echo " + what + " >>commands"} }
	return Options{
		Journal: filepath.Join(dir, "runs", "autopilot.json"), DSN: dsn, Dir: dir, Files: []string{filepath.Join(dir, "nginx.conf")},
		Reset: says("reset"), Restart: says("restart"), Reload: says("reload"),
		Guard: func() (guard.Options, func(bool), error) {
			return guard.Options{Dir: filepath.Join(dir, "journals")}, func(bool) {}, nil
		},
		Record: func(_ context.Context, label, _ string) (*kasoku.Recording, error) {
			return &kasoku.Recording{Run: kasoku.Run{ID: label, Score: &kasoku.Score{Value: 1, Outcome: kasoku.Passed}}}, nil
		},
	}
}

func edits() []kasoku.Edit {
	return []kasoku.Edit{
		{Kind: kasoku.EditIndex, Do: "CREATE INDEX items_kind ON items (kind)", Undo: "DROP INDEX items_kind ON items"},
		{Kind: kasoku.EditVariable, Do: "SET GLOBAL max_connections = 77"},
		{Kind: kasoku.EditNginx, Context: "server", Lines: "gzip on;"},
	}
}

// A place is a service with its database.
type place struct {
	t   *testing.T
	db  *sql.DB
	dir string
	o   Options
}

func newPlace(t *testing.T, s *sandbox.Server) *place {
	t.Helper()
	p := &place{t: t, db: sandboxtest.DB(t, s, ""), dir: t.TempDir()}
	sandboxtest.Exec(t, p.db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY, kind INT)")
	p.o = options(s.DSN("", "shop"), p.dir)
	p.write("nginx.conf", conf)
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(p.dir, name)) // one that is not there has no text
	return string(text)
}

func (p *place) open() *Service {
	p.t.Helper()
	s, err := Open(p.t.Context(), p.o)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// state is whether the index is there, the variable, and the directive.
func (p *place) state() string {
	p.t.Helper()
	var n, most int
	err := errors.Join(p.db.QueryRowContext(p.t.Context(), "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE INDEX_NAME = 'items_kind'").Scan(&n),
		p.db.QueryRowContext(p.t.Context(), "SELECT @@GLOBAL.max_connections").Scan(&most))
	if err != nil {
		p.t.Fatal(err)
	}
	return fmt.Sprint(n, most, strings.Contains(p.read("nginx.conf"), "gzip on;"))
}

func (p *place) want(what, state string) {
	p.t.Helper()
	if got := p.state(); got != state {
		p.t.Errorf("%s: index, variable, directive: %s, want %s", what, got, state)
	}
}

const before, during = "0 151 false", "1 77 true"

func story(s *Service, outcome string) *prove.Story {
	st := &prove.Story{First: 10}
	if e := s.Earlier(); e != nil {
		st = e
	}
	st.Steps = append(st.Steps, prove.Step{Number: len(st.Steps) + 1, Finding: kasoku.Finding{ID: "IDX-01", Title: "an index"}, Edits: edits(),
		Before: 10, After: 20, Outcome: outcome, Runs: []*kasoku.Recording{{Run: kasoku.Run{ID: "a-run"}}}})
	return st
}

func TestService(t *testing.T) {
	p := newPlace(t, sandboxtest.MariaDB(t, sandboxtest.Unsafe()))
	ctx := t.Context()
	s := p.open()
	if _, err := Open(ctx, p.o); !errors.Is(err, ErrBusy) {
		t.Errorf("a second one: %v", err)
	}

	// A change that is taken back leaves nothing.
	if err := s.Apply(ctx, edits()); err != nil {
		t.Fatal(err)
	}
	p.want("applied", during)
	if err := s.Undo(ctx); err != nil {
		t.Fatal(err)
	}
	p.want("taken back", before)
	if p.read("nginx.conf") != conf || p.read("runs/autopilot.json") != "" || p.read("commands") != "reload\nrestart\nreload\nrestart\n" {
		t.Errorf("left: %q, %q, %q", p.read("nginx.conf"), p.read("runs/autopilot.json"), p.read("commands"))
	}

	// One that is kept outlives the program, and is known to the next.
	if err := s.Apply(ctx, edits()); err != nil {
		t.Fatal(err)
	}
	if err := s.Decided(ctx, story(s, prove.Kept)); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(ctx, edits()); !errors.Is(err, prove.ErrInForce) {
		t.Errorf("what is there is made again: %v", err)
	}
	p.want("what is there is refused", during)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	p.want("closed", during)
	s = p.open()
	if e := s.Earlier(); e == nil || e.First != 10 || len(e.Steps) != 1 || e.Steps[0].Outcome != prove.Kept || e.Steps[0].Runs[0].Run.ID != "a-run" {
		t.Errorf("earlier: %+v", e)
	}
	if !strings.Contains(s.Patch(), "+        gzip on;") {
		t.Errorf("patch:\n%s", s.Patch())
	}

	// What reset takes away is made again; what the load takes away is said.
	sandboxtest.Exec(t, p.db, "DROP INDEX items_kind ON shop.items")
	if _, err := s.Run(ctx, "x", ""); err != nil {
		t.Error(err)
	}
	p.want("after a reset", during)
	record := s.o.Record
	s.o.Record = func(ctx context.Context, label, base string) (*kasoku.Recording, error) {
		sandboxtest.Exec(t, p.db, "DROP INDEX items_kind ON shop.items")
		return record(ctx, label, base)
	}
	if _, err := s.Run(ctx, "y", ""); err == nil || !strings.Contains(err.Error(), "items_kind") {
		t.Errorf("the load drops the index: %v", err)
	}

	if n, err := s.TakeBack(ctx); n != 1 || err != nil {
		t.Errorf("%d taken back, %v", n, err)
	}
	p.want("all taken back", before)
	if p.read("nginx.conf") != conf || p.read("runs/autopilot.json") != "" {
		t.Errorf("left: %q, %q", p.read("nginx.conf"), p.read("runs/autopilot.json"))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestKilled: what was made and not decided on is gone when it is gone on with.
func TestKilled(t *testing.T) {
	server := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	p := newPlace(t, server)
	cmd := exec.Command("/proc/self/exe", p.dir)
	cmd.Env = append(os.Environ(), victim+"="+p.o.DSN)
	out, err := cmd.CombinedOutput()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Fatalf("%v: %s", err, out)
	}
	p.want("killed", during)
	s := p.open()
	p.want("gone on with", before)
	if p.read("nginx.conf") != conf || len(s.Notes) != 1 {
		t.Errorf("%q, notes %q", p.read("nginx.conf"), s.Notes)
	}
	if err := s.Apply(t.Context(), edits()); err != nil {
		t.Fatal(err)
	}
	// A file that somebody edits meanwhile is theirs.
	p.write("nginx.conf", conf+"# mine\n")
	if err := s.Undo(t.Context()); err != nil || len(s.Notes) != 2 || p.read("nginx.conf") != conf+"# mine\n" {
		t.Errorf("%v, notes %q, %q", err, s.Notes, p.read("nginx.conf"))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFailed: a command that fails takes the change back.
func TestFailed(t *testing.T) {
	p := newPlace(t, sandboxtest.MariaDB(t, sandboxtest.Unsafe()))
	p.o.Reload = []string{"sh", "-c", "if grep -q gzip nginx.conf; then echo unknown directive; exit 1; fi"}
	s := p.open()
	if err := s.Apply(t.Context(), edits()); err == nil || !strings.Contains(err.Error(), "unknown directive") {
		t.Errorf("%v", err)
	}
	p.want("refused", before)
	if p.read("runs/autopilot.json") != "" {
		t.Error("the journal has something")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestEdited: directives go into one block of one file, and nowhere where it could be another's.
func TestEdited(t *testing.T) {
	dir := t.TempDir()
	p := &place{t: t, dir: dir}
	s := &Service{}
	for name, text := range map[string]string{"a.conf": conf, "b.conf": "server { listen 1; }\nserver { listen 2; }\n", "my.cnf": "[mysqld]\n"} {
		p.write(name, text)
		s.o.Files = append(s.o.Files, filepath.Join(dir, name))
	}
	if _, err := s.edited([]kasoku.Edit{{Kind: kasoku.EditNginx, Context: "server", Lines: "gzip on;"}}); !errors.Is(err, ErrSeveral) {
		t.Errorf("three servers: %v", err)
	}
	if _, err := s.edited([]kasoku.Edit{{Kind: kasoku.EditNginx, Context: "location /", Lines: "gzip on;"}}); !errors.Is(err, nginxconf.ErrNoContext) {
		t.Errorf("no such place: %v", err)
	}
	out, err := s.edited([]kasoku.Edit{{Kind: kasoku.EditNginx, Context: "http", Lines: "gzip on;"}, {Kind: kasoku.EditNginx, Context: "http", Lines: "sendfile on;"}})
	if err != nil || len(out) != 1 || !strings.Contains(out[0].During, "gzip on;") || !strings.Contains(out[0].During, "sendfile on;") {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestParseJournal: a journal that says what no autopilot does is none.
func TestParseJournal(t *testing.T) {
	for _, text := range []string{
		`{"Kept":[{"Database":[{"Name":"init_connect","Before":"","During":"DROP DATABASE shop"}]}]}`,
		`{"Open":{"Database":[{"Name":"index shop.items.x","Before":"DROP TABLE items","During":"CREATE INDEX x ON items (id)"}]}}`,
		`{"Kept":`,
	} {
		if j, err := parseJournal([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, j)
		}
	}
	if _, err := parseJournal([]byte(`{"Kept":[{"Database":[{"Name":"max_connections","Before":"151","During":"77"}]}]}`)); err != nil {
		t.Error(err)
	}
}

// TestNginx: directives count at a real nginx, and what it does not take is put back.
func TestNginx(t *testing.T) {
	n := sandboxtest.Nginx(t, sandbox.NginxOptions{})
	before, err := os.ReadFile(n.ConfigFile)
	if err != nil {
		t.Fatal(err)
	}
	call := strings.Join(append([]string{n.Program}, n.Args()...), " ")
	s, err := Open(t.Context(), Options{Journal: filepath.Join(t.TempDir(), "autopilot.json"), Files: []string{n.ConfigFile},
		Reload: []string{"sh", "-c", call + " -t && " + call + " -s reload"}})
	if err != nil {
		t.Fatal(err)
	}
	tuned := func() bool {
		resp, err := http.Get(n.URL() + "/")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		return resp.Header.Get("X-Tuned") == "yes"
	}
	if kinds, missing := s.Kinds(); fmt.Sprint(kinds) != "[nginx]" || len(missing) != 1 {
		t.Errorf("kinds %v, missing %v", kinds, missing)
	}
	if err := s.Apply(t.Context(), []kasoku.Edit{{Kind: kasoku.EditNginx, Context: "server", Lines: "add_header X-Tuned yes always;"}}); err != nil {
		t.Fatal(err)
	}
	if !tuned() { // what is asked next is asked of new workers
		t.Error("nginx is without the directive")
	}
	if err := s.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if tuned() {
		t.Error("nginx still has the directive")
	}
	err = s.Apply(t.Context(), []kasoku.Edit{{Kind: kasoku.EditNginx, Context: "server", Lines: "nosuch on;"}})
	if after, _ := os.ReadFile(n.ConfigFile); err == nil || !strings.Contains(err.Error(), `unknown directive "nosuch"`) || string(after) != string(before) {
		t.Errorf("%v, the file is\n%s", err, after)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
