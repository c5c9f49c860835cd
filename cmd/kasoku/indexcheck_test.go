package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// A recording that has given up the rights it does not need still asks a private server,
// which as root's takes a change of user.
func TestRecordChecksIndexes(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandbox.Options{Args: []string{"--skip-log-bin"}})
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop",
		"CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, price INT NOT NULL, name VARCHAR(50) NOT NULL)",
		"INSERT INTO shop.items (price, name) SELECT seq % 500, CONCAT('item ', seq) FROM shop.seq_1_to_3000",
		"ANALYZE TABLE shop.items", "CREATE USER kasoku@localhost IDENTIFIED BY 'geheim'", "GRANT ALL ON *.* TO kasoku@localhost")
	run := filepath.Join(t.TempDir(), "run.kasoku")
	cmd := exec.Command("kasoku", "record", "--mysql", "kasoku:geheim@unix("+s.Socket+")/shop", "--check-indexes",
		"-o", run, "--no-capture", "--", "sh", "-c", "echo begun; read end")
	end, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := said.Read(make([]byte, 16)); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	app := sandboxtest.DB(t, s, "shop")
	for range 200 {
		sandboxtest.Exec(t, app, "SELECT id, name FROM items WHERE price = 17")
	}
	if err := end.Close(); err != nil {
		t.Fatal(err)
	}
	go func() { // what it prints at its end is of no interest, and must not block it
		for b := make([]byte, 4096); ; {
			if _, err := said.Read(b); err != nil {
				return
			}
		}
	}()
	_ = cmd.Wait() // the exit code is the command's
	rec, err := store.Open(run)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	for _, table := range rec.Tables {
		for _, k := range table.Checks {
			if k.Note == "" && len(k.Classes) > 0 && k.Classes[0].Helps {
				return
			}
		}
	}
	t.Errorf("no index was checked: tables %+v\n%s", rec.Tables, stderr.String())
}
