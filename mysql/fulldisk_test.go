package mysql_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/smalldisk"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestRestoreFullDisk: a server whose slow log has no room left can answer an error to
// the statement that switches it off, and switch it off. What counts is what the value is.
func TestRestoreFullDisk(t *testing.T) {
	disk := smalldisk.Mount(t, "2m")
	if err := os.Chmod(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		log := filepath.Join(disk, filepath.Base(t.Name())+".log")
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "SET GLOBAL slow_query_log_file = '"+log+"'")
		r := newReader(t, sandboxtest.DB(t, s, ""))
		sw := mysql.NewSwitch(r)
		plan, err := mysql.NewSlowLog(r, mysql.Settings{}).Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := sw.Apply(t.Context(), plan.Changes); err != nil {
			t.Fatal(err)
		}
		app := sandboxtest.DB(t, s, "") // its sessions log
		ballast := smalldisk.Fill(t, disk, 0)
		defer os.Remove(ballast)
		_, _ = app.Exec("DO LENGTH('" + strings.Repeat("x", 64<<10) + "')")
		if err := sw.Restore(t.Context()); err != nil {
			t.Errorf("restore: %v", err)
		}
		for _, c := range sw.Changes() {
			if !c.Restored {
				t.Errorf("%+v", c)
			}
		}
		now, err := mysql.CurrentValues(t.Context(), r, plan.Changes)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range plan.Changes {
			if now[c.Name] != c.Before {
				t.Errorf("%s is %q, was %q", c.Name, now[c.Name], c.Before)
			}
		}
	})
}
