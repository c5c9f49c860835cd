package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/liar"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/store"
)

// TestLiars: three users' processes that call themselves nginx and mysqld make no
// command run anything of theirs, nor keep what is private, nor wait for a pipe.
func TestLiars(t *testing.T) {
	turn.Wait(t)
	const planted = "PLANTED-SECRET"
	lies := liar.Dir(t, liar.Eve)
	private := liar.Write(t, filepath.Join(liar.Dir(t, liar.Ann), "private.cnf"), "[mysqld]\n# "+planted+"\n", liar.Ann, 0o600)
	conf := liar.Write(t, filepath.Join(lies, "nginx.conf"), "# "+planted+"\nhttp { access_log "+private+"; }\n", liar.Eve, 0o644)
	all := []*liar.Liar{
		liar.Start(t, liar.Eve, "nginx", "nginx: master process /usr/sbin/nginx -c "+conf),
		liar.Start(t, liar.Mal, "mysqld", "", "--defaults-file="+private),
		liar.Start(t, liar.Eve, "mysqld", "", "--defaults-file="+liar.Pipe(t, filepath.Join(lies, "pipe"), liar.Eve)),
	}
	dir, home := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte("runs = 'runs'\n[load]\ncommand = 'true'\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	kasoku := func(wants int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		res, err := command.Run(ctx, command.Spec{
			Path: "kasoku", Args: args, Dir: dir, Stdout: &out, Stderr: &out,
			Env: []string{"HOME=" + home, "KASOKU_STATE=" + home, "SUDO_UID=", "KASOKU_COLOR=never"},
		})
		if res.ExitCode < 0 || res.ExitCode > wants {
			t.Errorf("kasoku %v: %v, %v\n%s", args, res, err, out.String())
		}
		return out.String()
	}
	said := map[string]string{
		"record":     kasoku(0, "record", "--out", "r.kasoku", "--", "true"),
		"run":        kasoku(0, "run"),
		"checkpoint": kasoku(0, "checkpoint", "before"),
		"init":       kasoku(2, "init", "--out", "other.toml"), // beside other services it asks which
		"doctor":     kasoku(1, "doctor"),
		"watch":      kasoku(0, "watch", "--for", "1s", "--out", "seen.kasoku"),
	}
	for name, text := range said {
		if strings.Contains(text, planted) {
			t.Errorf("%s prints what is private:\n%s", name, text)
		}
	}
	// A run that names no service looks at no server's configuration, and says so; doctor
	// looks at all servers, and says whom it does not believe.
	for name, want := range map[string]string{
		"record": "the configuration of nginx: which one of this host is the service's is not known",
		"doctor": "calls itself nginx and belongs to uid 61001",
	} {
		if !strings.Contains(strings.Join(strings.Fields(said[name]), " "), want) {
			t.Errorf("%s does not say %q:\n%s", name, want, said[name])
		}
	}
	for _, l := range all {
		if how := l.Run(); how != "" {
			t.Errorf("a liar's program was run as %s", how)
		}
	}
	checkFiles(t, dir, planted)
	checkFiles(t, home, planted)
}

// checkFiles looks for a text in all files of a directory, and in the texts of runs.
func checkFiles(t *testing.T, dir, planted string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.Contains(b, []byte(planted)) {
			t.Errorf("%s holds what is private", path)
		}
		if filepath.Ext(path) != store.Extension {
			return nil
		}
		run, err := store.Open(path)
		if err != nil {
			return err
		}
		for _, c := range run.Configs {
			if strings.Contains(c.Text, planted) || strings.Contains(c.Name, "kasoku-liar-") {
				t.Errorf("%s keeps %s %s", path, c.Kind, c.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
