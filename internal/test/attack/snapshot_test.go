package attack

import (
	"bufio"
	"database/sql"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A snapshot is the state of the world, a line a thing: settings and sessions of each
// database server, files, processes and sockets.
type snapshot map[string]string

// take takes a snapshot.
func (w *world) take() snapshot {
	w.Helper()
	s := snapshot{}
	for _, st := range w.stores {
		st.add(w.T, s)
	}
	w.addFiles(s)
	pids := w.processes()
	for _, pid := range pids {
		args, _ := foreign.Arguments("/proc", pid)
		s[fmt.Sprintf("process %d", pid)] = strings.Join(args, " ")
	}
	w.addSockets(s)
	return s
}

// compare returns what is different, a line each, in order.
func (s snapshot) compare(after snapshot) []string {
	var out []string
	for key, is := range after {
		if was, ok := s[key]; !ok {
			out = append(out, fmt.Sprintf("%s is left: %s", key, is))
		} else if was != is {
			out = append(out, fmt.Sprintf("%s was %q, is %q", key, was, is))
		}
	}
	for key, was := range s {
		if _, ok := after[key]; !ok {
			out = append(out, fmt.Sprintf("%s is gone: %s", key, was))
		}
	}
	slices.Sort(out)
	return out
}

// unchanged runs an attack and wants the world as it was before it. What ends a moment
// after kasoku, such as its guard process, is waited for.
func (w *world) unchanged(what string, attack func()) {
	w.Helper()
	before := w.take()
	began, cpu, runs := time.Now(), w.spent.cpu.Load(), w.spent.runs.Load()
	attack()
	took := time.Since(began)
	w.settles(what, before)
	w.Logf("%s: %.2f s and %.2f s of CPU in %d runs of kasoku; as before after %.2f s", what, took.Seconds(),
		time.Duration(w.spent.cpu.Load()-cpu).Seconds(), w.spent.runs.Load()-runs, time.Since(began).Seconds())
}

// settles waits until the world is as it was.
func (w *world) settles(what string, before snapshot) {
	w.Helper()
	var different []string
	if eventually(func() bool {
		different = before.compare(w.take())
		return len(different) == 0
	}) {
		return
	}
	w.Errorf("%s (KASOKU_ATTACK_SEED=%d) left the world changed:\n  %s", what, seed, strings.Join(different, "\n  "))
	for _, pid := range w.processes() {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // so that the next attack finds none of it
		}
	}
}

// A dbServer is a database server that is watched, with the account that kasoku uses.
type dbServer struct {
	s   *sandbox.Server
	db  *sql.DB
	dsn string // kasoku's
}

// account is the database user that kasoku is in these tests.
const account = "kasoku_attack"

// addStore starts a database server and has its settings and sessions watched.
func (w *world) addStore(start func(testing.TB, sandbox.Options) *sandbox.Server) *dbServer {
	w.Helper()
	s := start(w.T, sandbox.Options{Args: []string{"--skip-log-bin", "--performance-schema=ON"}})
	st := &dbServer{s: s, db: sandboxtest.DB(w.T, s, ""), dsn: fmt.Sprintf("%s@tcp(%s)/", account, s.Addr())}
	st.db.SetMaxOpenConns(1)
	for _, host := range []string{"'%'", "localhost"} {
		sandboxtest.Exec(w.T, st.db, "CREATE USER "+account+"@"+host+" IDENTIFIED BY ''", "GRANT ALL ON *.* TO "+account+"@"+host)
	}
	sandboxtest.Exec(w.T, st.db, "SET GLOBAL min_examined_row_limit = 5", "SET GLOBAL long_query_time = 3.25",
		"UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'statements_digest'")
	w.stores, w.ports = append(w.stores, st), append(w.ports, s.Port)
	return st
}

// queries are what is watched of a database server.
var queries = map[string]string{
	"setting":    "SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE 'gtid%' AND Variable_name <> 'timestamp'",
	"consumer":   "SELECT NAME, ENABLED FROM performance_schema.setup_consumers",
	"instrument": "SELECT NAME, CONCAT(ENABLED, COALESCE(TIMED, '')) FROM performance_schema.setup_instruments",
	"session of": "SELECT USER, COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = '" + account + "' GROUP BY USER",
}

func (st *dbServer) add(t *testing.T, s snapshot) {
	t.Helper()
	for kind, query := range queries {
		rows, err := st.db.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var name, value string
			if err := rows.Scan(&name, &value); err != nil {
				t.Fatal(err)
			}
			s[fmt.Sprintf("%s %s of %s %d", kind, name, st.s.Kind, st.s.Port)] = value
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
	}
}

// addFiles adds the files that kasoku must not leave: journals, temporary ones, those
// of its home, what lies in the places that all share; and those that it must not touch.
func (w *world) addFiles(s snapshot) {
	for _, dir := range []string{"state", "tmp", "home"} {
		_ = filepath.WalkDir(filepath.Join(w.dir, dir), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				s["file "+path] = d.Type().String()
			}
			return nil // what has gone meanwhile is gone
		})
	}
	for _, pattern := range []string{"/run/*kasoku*", "/dev/shm/*kasoku*", "/run/lock/*kasoku*"} {
		paths, _ := filepath.Glob(pattern) // the pattern is good
		for _, path := range paths {
			s["file "+path] = ""
		}
	}
	for _, path := range w.kept {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		sum := fnv.New64()
		if info.Mode().IsRegular() {
			b, _ := os.ReadFile(path)
			_, _ = sum.Write(b)
		}
		s["file "+path] = fmt.Sprintf("%s %d bytes %x", info.Mode(), info.Size(), sum.Sum64())
	}
}

// processes are those that run our program or carry the world's directory in their
// environment or command line.
func (w *world) processes() (pids []int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		w.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		// One that becomes another program meanwhile, as the racer does all the time, has the arguments
		// of before and no environment: it is looked at three times.
		ours := true
		for range 3 {
			ours = ours && w.isOurs(pid)
		}
		if ours {
			pids = append(pids, pid)
		}
	}
	return pids
}

// isOurs reports whether a process is of this world, and none for kasoku to meet.
func (w *world) isOurs(pid int) bool {
	args, _ := foreign.Arguments("/proc", pid) // none when it has gone
	return (strings.Contains(strings.Join(args, " "), w.dir) || foreign.EnvironmentHas(pid, w.dir)) &&
		!foreign.EnvironmentHas(pid, victimMark)
}

// victimMark is in the environment of the programs that tests start for kasoku to meet.
const victimMark = "KASOKU_ATTACK_VICTIM=1"

// addSockets adds the connections that others than this process have to the watched
// ports, and unix sockets in the world's directory.
func (w *world) addSockets(s snapshot) {
	own := ownSockets()
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		for sc := bufio.NewScanner(f); sc.Scan(); {
			// sl local remote state queues timer retransmits uid timeout inode …: proc(5)
			fields := strings.Fields(sc.Text())
			if len(fields) < 10 || fields[3] != "01" || own[fields[9]] {
				continue
			}
			_, port, _ := strings.Cut(fields[2], ":")
			if n, err := strconv.ParseUint(port, 16, 16); err == nil && slices.Contains(w.ports, int(n)) {
				s[fmt.Sprintf("socket %s to port %d", fields[9], n)] = "connected"
			}
		}
		_ = f.Close()
	}
	b, _ := os.ReadFile("/proc/net/unix")
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, w.dir+"/state") || strings.Contains(line, w.dir+"/tmp") {
			s["socket "+strings.TrimSpace(line)] = "open"
		}
	}
}

// ownSockets are the inodes of this process's sockets.
func ownSockets() map[string]bool {
	out := map[string]bool{}
	paths, _ := filepath.Glob("/proc/self/fd/*") // the pattern is good
	for _, path := range paths {
		if to, err := os.Readlink(path); err == nil && strings.HasPrefix(to, "socket:[") {
			out[strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")] = true
		}
	}
	return out
}
