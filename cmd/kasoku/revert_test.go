package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// typed runs a command line and wants its exit code.
func typed(t *testing.T, code int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	e := &cli.Env{Name: "kasoku", Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }, Now: time.Now}
	if got := run(e); got != code {
		t.Fatalf("%q exits with %d, want %d\n%s%s", args, got, code, out.String(), errs.String())
	}
	return out.String()
}

// An index that was dropped comes back with revert --apply, one that was added goes.
func TestRevertIndexes(t *testing.T) {
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.users (id INT PRIMARY KEY, mail VARCHAR(99), KEY idx_mail (mail))")
	t.Chdir(t.TempDir())
	if err := os.WriteFile("kasoku.toml", []byte("[mysql]\ndsn = \""+s.DSN("", "")+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	typed(t, cli.ExitGood, "checkpoint", "--out", "then.kasoku", "with the index")
	sandboxtest.Exec(t, db, "ALTER TABLE shop.users DROP INDEX idx_mail, ADD INDEX other (mail, id)")
	shown := typed(t, cli.ExitGood, "revert", "then")
	for _, want := range []string{"ALTER TABLE `shop`.`users` ADD KEY `idx_mail` (`mail`);", "ALTER TABLE `shop`.`users` DROP INDEX `other`;", "2 indexes differ; --apply"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	var got struct {
		Indexes    []struct{ Done bool }
		Checkpoint string
	}
	if err := json.Unmarshal([]byte(typed(t, cli.ExitGood, "revert", "then", "--apply", "-o", "json")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Indexes) != 2 || !got.Indexes[0].Done || !got.Indexes[1].Done || got.Checkpoint == "" {
		t.Errorf("%+v", got)
	}
	if shown := typed(t, cli.ExitGood, "revert", "then"); !strings.Contains(shown, "nothing differs") {
		t.Errorf("still differs:\n%s", shown)
	}
	// The checkpoint before it goes forth again, and a comparison names the index.
	typed(t, cli.ExitGood, "revert", "before-revert", "--only", "shop.users", "--apply")
	if shown := typed(t, cli.ExitGood, "compare", "then.kasoku", got.Checkpoint); !strings.Contains(shown, "index idx_mail dropped") {
		t.Errorf("the comparison does not name the index:\n%s", shown)
	}
}
