package tenants

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestSocketsOf: the sockets of sessions on real servers are found: each is gone with its session.
func TestSocketsOf(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		r, err := mysql.New(t.Context(), sandboxtest.DB(t, srv, ""))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		unix := strings.Replace(srv.DSN("", ""), "tcp("+srv.Addr()+")", "unix("+srv.Socket+")", 1)
		before := socketsIn(t, srv.Pid())
		ends := map[uint64]func(){}
		for range 5 {
			db, err := mysqlflags.OpenDSN(unix)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			var id uint64
			if err := db.QueryRowContext(t.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
				t.Fatal(err)
			}
			ends[id] = func() { _ = db.Close() }
		}
		some := slices.DeleteFunc(socketsIn(t, srv.Pid()), func(inode uint32) bool { return slices.Contains(before, inode) })
		got := socketsOf(t.Context(), mysql.NewClients(r).Threads, srv.Pid(), some)
		if len(some) != 5 || len(got) != 5 {
			t.Fatalf("of %v: %v", some, got)
		}
		for id, end := range ends {
			if !slices.Contains(socketsIn(t, srv.Pid()), got[id]) {
				t.Errorf("%d: no socket %d", id, got[id])
			}
			end()
			sandboxtest.Until(t, "the socket of the session is gone", func() bool {
				return !slices.Contains(socketsIn(t,
					srv.Pid()), got[id])
			})
		}
	})
}

// socketsIn returns the sockets that a process has open.
func socketsIn(t *testing.T, pid int) (inodes []uint32) {
	t.Helper()
	links, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		var inode uint32
		if to, err := os.Readlink(l); err == nil {
			if n, _ := fmt.Sscanf(to, "socket:[%d]", &inode); n == 1 {
				inodes = append(inodes, inode)
			}
		}
	}
	return inodes
}
