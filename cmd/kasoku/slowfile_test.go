package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// A database names the path of its slow log on its own host. Where that path leads to
// another server's file here, none of its statements are the run's.
func TestRecordForeignSlowLog(t *testing.T) {
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandbox.Options{Args: []string{"--skip-log-bin"}})
	db := sandboxtest.DB(t, s, "")
	dir := t.TempDir()
	log := filepath.Join(dir, "slow.log")
	sandboxtest.Exec(t, db, "SET GLOBAL slow_query_log_file = '"+log+"'", "SET GLOBAL log_output = 'FILE'", "SET GLOBAL slow_query_log = ON",
		"CREATE USER kasoku@localhost IDENTIFIED BY 'geheim'", "GRANT ALL ON *.* TO kasoku@localhost")
	if err := os.Rename(log, log+".own"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const neighbours = "# Query_time: 0.5  Lock_time: 0.0  Rows_sent: 1  Rows_examined: 9\\nSELECT secret FROM neighbours;\\n"
	run := filepath.Join(dir, "run.kasoku")
	cmd := exec.Command("kasoku", "record", "--mysql", "kasoku:geheim@unix("+s.Socket+")/", "--out", run, "--no-capture",
		"--", "sh", "-c", "printf '"+neighbours+"' >> "+log)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rec, err := store.Open(run)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Queries) > 0 || !slices.ContainsFunc(rec.Warnings, func(w kasoku.Warning) bool { return w.Code == "log-foreign" }) {
		t.Errorf("queries %+v, warnings %+v", rec.Queries, rec.Warnings)
	}
}
