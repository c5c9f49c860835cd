package attack

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	liars "github.com/kasoku/kasoku/internal/test/liar"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// helperEnv names the helper that this test binary is.
const helperEnv = "KASOKU_ATTACK_HELPER"

// helpers are the programs that this test binary is when it is started by that name.
var helpers = map[string]func(){"liar": beLiar, "racer": beRacer, "web": beWeb, "faulty": beFaulty, "lab": beLab,
	"silent": beSilent, "silent-liar": beSilentLiar}

// canary is what stands in private files of others.
const canary = "canary-d41c7f0a-"

// executed is what a liar's program leaves when somebody else than the test starts it.
const executed = "EXECUTED"

// reportExecution reports whether this is the program of a liar that was not started by
// the test: kasoku did what it must not do. It leaves a file that says so.
func reportExecution() bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	dir := filepath.Dir(self)
	if _, err := os.Stat(filepath.Join(dir, "liar")); err != nil {
		return false
	}
	by, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", os.Getppid())) // empty when it has gone
	text := fmt.Sprintf("%s runs as uid %d: %q\n", by, os.Geteuid(), os.Args)
	f, err := os.OpenFile(filepath.Join(dir, executed), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, _ = f.WriteString(text)
		_ = f.Close()
	}
	return true
}

// beLiar holds files and sockets open that never answer, until it is killed.
func beLiar() {
	for _, path := range strings.Split(os.Getenv("LIAR_OPEN"), ":") {
		if f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			defer f.Close()
		}
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") // accepted by the kernel, answered by no one
	if err == nil {
		defer ln.Close()
	}
	if unix, err := net.Listen("unix", filepath.Join(os.Getenv("LIAR_DIR"), "s.sock")); err == nil {
		defer unix.Close()
	}
	if os.Getenv("LIAR_ENDLESS") != "" {
		if err := liars.Endless(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
	}
	_ = os.WriteFile(filepath.Join(os.Getenv("LIAR_DIR"), "ready"), nil, 0o600)
	select {}
}

// beRacer starts processes that call themselves servers and end, or become another
// program, while they are looked at.
func beRacer() {
	self := os.Getenv("LIAR_PROGRAM")
	for n := 0; ; n++ {
		// What they start carries their environment, and so the victim's mark.
		c := exec.Command("sleep", "0.01")
		c.Args[0] = "nginx: master process " + self
		if n%2 == 0 {
			c = exec.Command("sh", "-c", "exec -a 'mysqld --defaults-file=/etc/shadow' sleep 0.01")
			c.Path = "/bin/bash"
		}
		_ = c.Run()
	}
}

// A liar is a local user who has processes that call themselves servers.
type liar struct {
	w   *world
	uid int
	dir string // only the user may enter it
}

// addLiar makes a user's directory, with files of his own that no one else may read.
func (w *world) addLiar(uid int) *liar {
	w.Helper()
	l := &liar{w: w, uid: uid, dir: w.mkdir(fmt.Sprintf("user-%d", uid))}
	self, err := os.Executable()
	if err != nil {
		w.Fatal(err)
	}
	b, err := os.ReadFile(self)
	if err != nil {
		w.Fatal(err)
	}
	for _, name := range []string{"nginx", "mysqld", "redis-server", "varnishd", "php-fpm8.2"} {
		l.file(name, string(b), 0o755)
		b = []byte("#!" + l.path("nginx") + "\n") // one copy is enough
	}
	secret := canary + fmt.Sprint(uid)
	l.file("liar", "", 0o644)
	l.file("secret.cnf", "[mysqld]\npassword="+secret+"\nlog_error="+secret+"\n[client]\npassword="+secret+"\n", 0o600)
	l.file("secret.conf", "user "+secret+";\nhttp { access_log "+l.path("access.log")+"; include "+l.path("*.inc")+"; server { listen 80; # "+secret+"\n } }\n", 0o600)
	l.file("access.log", "time:2026-01-02T03:04:05+00:00\tmethod:GET\turi:/"+secret+"\tstatus:200\n", 0o600)
	l.file("slow.log", "# Query_time: 9 "+secret+"\nselect '"+secret+"';\n", 0o600)
	if err := syscall.Mkfifo(l.path("fifo"), 0o666); err != nil {
		w.Fatal(err)
	}
	_ = os.Symlink("/etc/shadow", l.path("shadow.cnf"))
	_ = os.Symlink(l.path("loop.inc"), l.path("loop.inc"))
	_ = os.Chmod(l.dir, 0o700)
	if err := os.Chown(l.dir, uid, uid); err != nil {
		w.Fatal(err)
	}
	return l
}

func (l *liar) path(name string) string { return filepath.Join(l.dir, name) }

func (l *liar) file(name, text string, mode fs.FileMode) {
	l.w.Helper()
	path := l.path(name)
	// A child of another test that has this file open for a moment would keep the
	// kernel from running it: ETXTBSY, execve(2).
	syscall.ForkLock.RLock()
	err := os.WriteFile(path, []byte(text), mode)
	syscall.ForkLock.RUnlock()
	if err != nil {
		l.w.Fatal(err)
	}
	if err := os.Chown(path, l.uid, l.uid); err != nil {
		l.w.Fatal(err)
	}
}

// endlessly as the last argument of a liar gives it a command line and an environment of 2 GiB.
const endlessly = "--endless"

// run starts a process of the user that shows these arguments, argv[0] first.
func (l *liar) run(exe string, open []string, argv ...string) {
	l.w.Helper()
	_ = os.Remove(l.path("ready"))
	_ = os.Remove(l.path("s.sock"))
	c := exec.Command(l.path("nginx"))
	c.Args = argv
	if exe != "nginx" { // what it runs is the same program by another name
		if b, err := os.ReadFile(l.path("nginx")); err == nil {
			_ = os.Remove(l.path(exe)) // it may run: its file cannot be written to
			l.file(exe, string(b), 0o755)
		}
		c.Path = l.path(exe)
	}
	c.Dir = l.dir
	c.Env = []string{helperEnv + "=liar", victimMark, "LIAR_DIR=" + l.dir, "LIAR_OPEN=" + strings.Join(open, ":"),
		"MYSQL_PWD=" + canary, "SHELL=\x1b[2J\nnginx"}
	if argv[len(argv)-1] == endlessly {
		c.Env = append(c.Env, "LIAR_ENDLESS=1")
	}
	l.begin(c)
	ready := func() bool { _, err := os.Stat(l.path("ready")); return err == nil }
	if !eventually(ready) {
		l.w.Fatalf("liar %q does not start", argv)
	}
}

func (l *liar) begin(c *exec.Cmd) {
	l.w.Helper()
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(l.uid), Gid: uint32(l.uid)}, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := c.Start(); err != nil {
		l.w.Fatal(err)
	}
	l.w.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	})
}

// lies starts the user's processes. The victim is the user whose files they point to.
func (l *liar) lies(victim *liar) {
	l.w.Helper()
	l.run("nginx", []string{l.path("access.log"), l.path("fifo")}, "nginx: master process "+l.path("nginx")+" -c "+victim.path("secret.conf"))
	l.run("mysqld", []string{l.path("slow.log")}, "mysqld", "--defaults-file="+victim.path("secret.cnf"), "--port=1", "--slow-query-log-file="+l.path("slow.log"))
	l.run("mariadbd", nil, "mariadbd", "--defaults-file="+l.path("fifo"), "--defaults-extra-file="+l.path("shadow.cnf"))
	l.run("redis-server", nil, "redis-server "+"\x1b[2J\x1b]0;evil\x07\n127.0.0.1:6379", "--requirepass", canary)
	l.run("varnishd", nil, "varnishd", "-f", l.path("shadow.cnf"), "-n", l.path("\x1b[31m"))
	l.run("php-fpm8.2", nil, "php-fpm: master process ("+l.path("loop.inc")+")\n\nnginx: master process")
	l.run("nginx", nil, "nginx: master process", endlessly)
	l.run("mariadbd", nil, "mariadbd", endlessly)
}

// makers are command lines that look at the host and write files.
func makers(n int) [][]string {
	return [][]string{
		{"record", "--for", "1500ms", "--interval", "100ms", "-o", fmt.Sprintf("liars-%d.kasoku", n)},
		{"doctor"},
		{"init", "--print"},
		{"init", "--out", fmt.Sprintf("init-%d.toml", n)},
		{"checkpoint"},
		{"watch", "--for", "1s"},
		{"export", "--live", "--to", "csv", "--for", "1s"},
	}
}

// TestLiars: three local users have processes that call themselves servers and point to
// programs, files, FIFOs and links of their own, and of one another. kasoku runs as
// root: it runs nothing of theirs, hangs nowhere, and no file that it makes, nor what
// it prints, has a byte of their private files.
func TestLiars(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	if os.Geteuid() != 0 {
		t.Skip("three other users take root")
	}
	var all []*liar
	for _, uid := range []int{61001, 61002, 61003} {
		all = append(all, w.addLiar(uid))
	}
	for i, l := range all {
		l.lies(all[(i+1)%len(all)])
		for _, name := range []string{"secret.cnf", "secret.conf", "access.log", "slow.log", "nginx"} {
			w.kept = append(w.kept, l.path(name))
		}
	}
	race := exec.Command(all[0].path("nginx"))
	race.Env = []string{helperEnv + "=racer", victimMark, "PATH=/usr/bin:/bin", "LIAR_PROGRAM=" + all[0].path("nginx")}
	all[0].begin(race)
	for n := range times(1, 3) {
		for _, args := range makers(n) {
			w.liedTo(all, args)
		}
	}
}

func (w *world) liedTo(all []*liar, args []string) {
	w.Helper()
	what := strings.Join(args, " ")
	w.unchanged(what, func() {
		p := w.start(args...)
		code, out := p.wait(patience), p.printed()
		w.wants(what, code, out, 0, 1, 2, 3)
		if held := maxRSS(p); held > mostMemory {
			w.Errorf("%s: holds %d MB beside processes of others", what, held>>20)
		}
		if strings.Contains(out, canary) {
			w.Errorf("%s prints private bytes of another user\n%s", what, tail(around(out, canary)))
		}
	})
	for _, l := range all {
		// Another kasoku of this host, an older one perhaps, meets the liars too.
		if b, err := os.ReadFile(l.path(executed)); err == nil && bytes.Contains(b, []byte(program+" runs ")) {
			w.Errorf("%s runs a program of uid %d: %s", what, l.uid, b)
			_ = os.Remove(l.path(executed))
		}
	}
	w.holdsNo(what, canary)
}

// holdsNo fails when a file that kasoku made holds a text.
func (w *world) holdsNo(what, text string) {
	w.Helper()
	for _, dir := range []string{"work", "tmp", "home", "state"} {
		_ = filepath.WalkDir(filepath.Join(w.dir, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(text)) {
				w.Errorf("%s: private bytes of another user are in %s: %q", what, path, around(string(b), text))
				_ = os.Remove(path)
			}
			return nil
		})
	}
}

func around(text, what string) string {
	i := strings.Index(text, what)
	return text[max(0, i-200):min(len(text), i+200)]
}
