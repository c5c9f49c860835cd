package record

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// captured makes options that keep one file with a secret.
func captured(t *testing.T) Options {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "app.conf")
	if err := os.WriteFile(file, []byte("workers = 4\npassword = s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Options{
		Path:     filepath.Join(dir, "run.kasoku"),
		Course:   Course{For: 100 * time.Millisecond},
		Interval: 100 * time.Millisecond,
		Sources:  Sources{PIDs: []int{os.Getpid()}},
		Capture:  &capture.Options{Files: []string{file, filepath.Join(dir, "none.conf")}, Schema: true},
	}
}

// keptConfig fails unless the recording holds the file, its secret masked, and the warning.
func keptConfig(t *testing.T, rec *kasoku.Recording, path string) {
	t.Helper()
	i := slices.IndexFunc(rec.Configs, func(c kasoku.Config) bool { return filepath.Base(c.Name) == "app.conf" })
	if i < 0 || rec.Configs[i].Text != "workers = 4\npassword = ‹masked›\n" || rec.Configs[i].Mode != 0o600 || rec.Configs[i].Host != rec.Run.Hosts[0].Name {
		t.Errorf("configurations %+v", rec.Configs)
	}
	if !slices.ContainsFunc(rec.Settings, func(s kasoku.Setting) bool { return s.Scope == "sysctl" && s.Name == "net.core.somaxconn" }) ||
		!slices.ContainsFunc(rec.Settings, func(s kasoku.Setting) bool { return s.Scope == "limits" && strings.HasSuffix(s.Name, " open files") }) {
		t.Error("no settings of the kernel, or no limits")
	}
	if !slices.ContainsFunc(rec.Warnings, func(w kasoku.Warning) bool { return w.Code == "not-captured" && strings.Contains(w.Text, "none.conf") }) {
		t.Errorf("warnings %+v", rec.Warnings)
	}
	if b, err := os.ReadFile(path); err != nil || strings.Contains(string(b), "s3cret") {
		t.Errorf("the file holds the secret, or cannot be read: %v", err)
	}
}

func TestRecordKeepsConfiguration(t *testing.T) {
	o := captured(t)
	res, err := Record(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	keptConfig(t, res.Recording, o.Path)
	o.Path, o.Capture = o.Path+"2", nil
	if res, err = Record(t.Context(), o); err != nil || len(res.Recording.Configs) != 0 {
		t.Errorf("without capture: %v, %+v", err, res.Recording.Configs)
	}
}

func TestCheckpoint(t *testing.T) {
	o := captured(t)
	res, err := Checkpoint(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	keptConfig(t, res.Recording, o.Path)
	if r := res.Recording.Run; r.Load != store.Checkpoint || r.State != kasoku.Finished {
		t.Errorf("run %+v", r)
	}
	if _, err := Checkpoint(t.Context(), o); err == nil {
		t.Error("a file that exists was written over")
	}
}

func TestCheckpointOfDatabase(t *testing.T) {
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(99), KEY name (name))")
	o := captured(t)
	o.MySQL = s.DSN("", "")
	res, err := Checkpoint(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	keptConfig(t, res.Recording, o.Path)
	if !slices.ContainsFunc(res.Recording.Configs, func(c kasoku.Config) bool {
		return c.Kind == "schema" && c.Name == "shop.items" && strings.Contains(c.Text, "KEY `name` (`name`)")
	}) {
		t.Errorf("configurations %+v", res.Recording.Configs)
	}
	if _, ok := res.Recording.Setting("mysql", "max_connections"); !ok {
		t.Error("no variables of the server")
	}
}
