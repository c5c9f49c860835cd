package finalize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/store"
)

// TestAssets: files that browsers are sent, in a real work tree.
func TestAssets(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		t.Helper()
		out, err := command.Output(t.Context(), command.Spec{Path: "git", Trusted: true, Dir: dir,
			Args: args, Env: []string{"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
				"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	look := func(earlier []store.Info, want Status, saw string) {
		t.Helper()
		w := walker{Options: Options{Repository: dir, Earlier: earlier}}
		w.assets(t.Context())
		i := w.result.Items[0]
		if i.Status != want || !strings.Contains(strings.Join(i.Saw, "; "), saw) || (want == Bad) != (i.Fix != "") {
			t.Errorf("%+v, want %s %q", i, want, saw)
		}
	}
	git("init", "-q")
	write("public/app.js", "1")
	write("public/logo.png", "1")
	write("server.js", "1")
	git("add", ".")
	git("commit", "-qm", "one")
	first := git("rev-parse", "--short", "HEAD")
	look(nil, OK, "changed since "+first)
	write("server.js", "2")
	write("public/app.js.gz", "new")
	write("public/new.css", "new")
	look(nil, OK, "no file")
	write("public/app.js", "2")
	look(nil, Bad, "1 file that browsers are sent changed since "+first+": public/app.js")
	git("add", ".")
	git("commit", "-qm", "two")
	second := git("rev-parse", "--short", "HEAD")
	look(nil, Bad, "public/app.js")
	at := time.Now()
	began := []store.Info{{Revision: "main@" + first, Started: at.Add(time.Hour)}, {Revision: "main@" + second, Started: at},
		{Started: at.Add(-time.Hour)}}
	look(began, OK, "changed since "+second) // what the first run had is how it was given out
	if err := os.Remove(filepath.Join(dir, "public/logo.png")); err != nil {
		t.Fatal(err)
	}
	look(began, Bad, "public/logo.png")
	look([]store.Info{{Revision: "main@--output=x", Started: at}}, Skipped, "")
	look([]store.Info{{Revision: "main@:/two|;reboot", Started: at}}, Skipped, "names no commit") // git would find one
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("what a run file calls a revision was an option of git")
	}
	w := walker{}
	w.assets(t.Context())
	if w.result.Items[0].Status != Skipped {
		t.Errorf("%+v", w.result.Items)
	}
}

// TestOutsideCalls: hosts of private networks are a contest's own.
func TestOutsideCalls(t *testing.T) {
	edge := func(from, to, address string) kasoku.Edge {
		return kasoku.Edge{From: from, To: to, At: kasoku.Listener{Network: "tcp", Address: address}}
	}
	s := &kasoku.Service{Edges: []kasoku.Edge{edge("", "nginx :80", "203.0.113.7:80"),
		edge("app", "db", "198.51.100.1:3306"),
		edge("app", "", "10.0.0.2:3306"), edge("app", "", "127.0.0.1:11211"), edge("app", "", "[fd00::1]:80"),
		edge("app", "", "/run/x.sock")}}
	if got := outsideCalls(s); got != nil {
		t.Errorf("%q", got)
	}
	s.Edges = append(s.Edges, edge("app", "", "198.51.100.1:443"), edge("app", "", "[2001:db8::1]:443"))
	got := strings.Join(outsideCalls(s), "; ")
	if got != "app was connected to 198.51.100.1:443; app was connected to [2001:db8::1]:443" {
		t.Errorf("%q", got)
	}
	w := walker{}
	w.otherHosts()
	if w.result.Items[0].Status != Skipped {
		t.Errorf("%+v", w.result.Items)
	}
}
