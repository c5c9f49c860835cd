package attack

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	liars "github.com/kasoku/kasoku/internal/test/liar"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/store"
)

// silentUser is whose file system answers nothing: an account of the system, as that of a web
// application that was broken into. kasoku believes its processes where it believes no person's.
const silentUser = 33

// silentLiars are processes that have the file system at point for their files, by what they do
// with it, and the command line that they show. What they run is dir/nginx and its like, but for
// that of the first.
func silentLiars(dir, point string) map[string][]string {
	return map[string][]string{
		"program":   {point + "/nginx", "nginx: master process nginx -c " + point + "/nginx.conf"},
		"config":    {dir + "/nginx", "nginx: master process nginx -c " + point + "/nginx.conf"},
		"log":       {dir + "/nginx", "nginx: master process nginx -c " + dir + "/own.conf"},
		"link":      {dir + "/nginx", "nginx: master process nginx -c " + dir + "/link.conf"},
		"database":  {dir + "/mariadbd", "mariadbd", "--defaults-file=" + point + "/my.cnf", "--datadir=" + point + "/work", "--socket=" + point + "/d.sock"},
		"cache":     {dir + "/redis-server", "redis-server " + point + "/redis.conf"},
		"files":     {dir + "/app", "app"},
		"root":      {dir + "/app", "app"},
		"namespace": {dir + "/app", "app"},
		"bound":     {dir + "/nginx", "nginx: master process nginx -c " + dir + "/bound/nginx.conf"},
		"text":      {dir + "/app", "app"},
	}
}

// beSilentLiar has its files where its name says, until it is killed.
func beSilentLiar() {
	if err := haveSilentFiles(os.Getenv("SILENT_LIAR"), os.Getenv("SILENT_DIR")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

func haveSilentFiles(what, dir string) error {
	point := dir + "/fuse"
	log := point + "/access.log"
	steps := map[string]func() error{
		"files": func() error {
			if _, err := net.Listen("unix", point+"/app.sock"); err != nil {
				return err
			}
			return os.Chdir(point + "/work")
		},
		"cache": func() error {
			_, err := net.Listen("unix", point+"/r.sock")
			return err
		},
		"root": func() error {
			log = "/access.log"
			return unix.Chroot(point)
		},
		"namespace": func() error { // here a directory has the name of a link there
			log = dir + "/ns/logs/access.log"
			if err := unix.Mount("ns", dir+"/ns", "tmpfs", 0, ""); err != nil {
				return err
			}
			return os.MkdirAll(filepath.Dir(log), 0o777)
		},
		"bound": func() error {
			log = dir + "/bound/access.log"
			return unix.Mount(point, dir+"/bound", "", unix.MS_BIND, "")
		},
		"text": func() error {
			f, err := os.Open(point + "/text")
			if err != nil {
				return err
			}
			text, err := unix.Mmap(int(f.Fd()), 0, 1<<16, unix.PROT_READ, unix.MAP_PRIVATE)
			if err != nil {
				return err
			}
			return liars.ShowMemory(text)
		},
	}
	if what == "namespace" || what == "bound" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
	}
	if step := steps[what]; step != nil {
		if err := step(); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	if _, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	if err := syscall.Setgid(silentUser); err != nil {
		return err
	}
	if err := syscall.Setuid(silentUser); err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		fmt.Println(ln.Addr())
	}
	return err
}

// mountSilent mounts the file system at dir/fuse; dir/app is what serves it. It returns the file
// with what kasoku asked of it.
func (w *world) mountSilent() (dir, asked string) {
	w.Helper()
	if os.Geteuid() != 0 {
		w.Skip("mounting takes root")
	}
	if _, err := os.Stat("/dev/fuse"); err != nil {
		w.Skip("this host has no FUSE: ", err)
	}
	dir = w.mkdir("silent")
	point := w.mkdir("silent/fuse")
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		w.Fatal(err)
	}
	syscall.ForkLock.RLock() // as in liar.file
	err = os.WriteFile(dir+"/app", self, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		w.Fatal(err)
	}
	asked = dir + "/asked"
	// The kernel's end of the mount goes when the server does, and takes all who wait along.
	w.Cleanup(func() { _ = unix.Unmount(point, unix.MNT_DETACH) })
	w.startSilent(0, []string{victimMark, "SILENT_DIR=" + dir, helperEnv + "=silent", fmt.Sprint("SILENT_UID=", silentUser),
		"SILENT_OF=" + program, "SILENT_ASKED=" + asked}, dir+"/app", "silent")
	return dir, asked
}

// addSilent mounts the file system, and starts what has files there. It returns the file with
// what kasoku asked of it.
func (w *world) addSilent() (asked string, ports map[string]string) {
	w.Helper()
	dir, asked := w.mountSilent()
	for _, name := range []string{"silent/ns", "silent/bound"} {
		w.mkdir(name)
	}
	point := dir + "/fuse"
	var err error
	for _, name := range []string{"nginx", "mariadbd", "redis-server"} {
		if err == nil {
			err = os.Link(dir+"/app", dir+"/"+name)
		}
	}
	if err == nil {
		err = os.WriteFile(dir+"/own.conf", []byte("http { access_log "+point+"/access.log; server { listen 1; } }\n"), 0o644)
	}
	for to, name := range map[string]string{point + "/nginx.conf": "link.conf", point: "ns/logs"} {
		if err == nil {
			err = os.Symlink(to, dir+"/"+name)
		}
	}
	if err == nil {
		err = os.Lchown(dir+"/link.conf", silentUser, silentUser)
	}
	if err != nil {
		w.Fatal(err)
	}
	ports = map[string]string{}
	for _, what := range sorted(silentLiars(dir, point)) {
		line := silentLiars(dir, point)[what]
		flags := uintptr(0)
		if what == "namespace" || what == "bound" {
			flags = unix.CLONE_NEWNS
		}
		ports[what] = w.startSilent(flags, []string{victimMark, "SILENT_DIR=" + dir, helperEnv + "=silent-liar", "SILENT_LIAR=" + what}, line[0], line[1:]...)
	}
	return asked, ports
}

// startSilent starts a program of the test, and returns the word that it says when it is ready.
func (w *world) startSilent(flags uintptr, env []string, path string, argv ...string) (word string) {
	w.Helper()
	c := exec.Command(path)
	c.Args, c.Env = argv, env
	var said strings.Builder
	c.Stderr = &said
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: flags}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		w.Fatalf("%s: %v", path, err)
	}
	w.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	if _, err := fmt.Fscan(out, &word); err != nil {
		_ = c.Wait()
		w.Fatalf("%q: %v\n%s", argv, err, said.String())
	}
	return word
}

// usual is how long a command may take here that looks at the host: its own time, and a part of
// silence that shows one wait as such.
const usual = 15 * time.Second

// TestSilent: a user's own file system (FUSE) answers all but kasoku, and processes have their
// logs, programs, directories, configurations, sockets and command lines there. kasoku asks it
// nothing: it could not even be killed while it waits. The honest service beside is seen.
func TestSilent(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	w := newWorld(t)
	honest := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(honest.Close)
	asked, ports := w.addSilent()
	for _, args := range makers(0) {
		w.silently(asked, "", args)
	}
	w.silently(asked, strings.TrimPrefix(honest.URL, "http://"), []string{"init", "--print", "--url", honest.URL})
	if !whole() {
		return
	}
	for n, what := range sorted(ports) {
		w.silently(asked, "", []string{"init", "--print", "--url", "http://" + ports[what]})
		w.write("kasoku.toml", "[service]\nurl = 'http://"+ports[what]+"'\n")
		for _, args := range append(makers(n+1), []string{"finalize"}) {
			if args[0] != "init" {
				w.silently(asked, "", args)
			}
		}
		w.forget("kasoku.toml")
	}
}

// silently runs a kasoku that asks nothing of the file system, ends in time and prints a text.
func (w *world) silently(asked, text string, args []string) {
	w.Helper()
	what := strings.Join(args, " ")
	w.unchanged(what, func() {
		p := w.start(args...)
		code, out := p.wait(usual), p.printed()
		w.wants(what, code, out, 0, 1, 2, 3)
		if !strings.Contains(out, text) {
			w.Errorf("%s does not print %q\n%s", what, text, tail(out))
		}
	})
	w.askedNothing(what, asked)
}

// askedNothing fails when kasoku asked something of the file system since the last call.
func (w *world) askedNothing(what, asked string) {
	w.Helper()
	if b, err := os.ReadFile(asked); err == nil {
		w.Errorf("%s asks a file system that does not answer: %s", what, b)
		_ = os.Remove(asked)
	}
}

// silentSwaps are what the owner of a log's directory puts into the log's place, and beside it.
var silentSwaps = map[string]func(log, point string) error{
	"link": func(log, point string) error {
		return errors.Join(os.Remove(log), os.Symlink(point+"/access.log", log), os.Lchown(log, silentUser, silentUser))
	},
	"mount": func(log, point string) error {
		if err := errors.Join(os.Rename(log, log+".1"), os.WriteFile(log, nil, 0o644)); err != nil {
			return err
		}
		return unix.Mount(point+"/access.log", log, "", unix.MS_BIND, "")
	},
	"directory": func(log, point string) error {
		dir := filepath.Dir(log)
		return errors.Join(os.Rename(dir, dir+".1"), os.Symlink(point, dir))
	},
	"beside": func(log, point string) error {
		beside := log + ".2"
		if err := errors.Join(os.WriteFile(beside, nil, 0o644), unix.Mount(point+"/access.log", beside, "", unix.MS_BIND, "")); err != nil {
			return err
		}
		return errors.Join(os.Rename(log, log+".1"), os.WriteFile(log, nil, 0o644))
	},
}

// TestSilentSwapped: the owner of a log's directory puts the silent file system into the log's
// place while it is followed. Who follows it goes on, says why the log cannot be read, and ends
// when it is asked to.
func TestSilentSwapped(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	names := sorted(silentSwaps)
	if !whole() {
		names = []string{"beside", "link"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dir, asked := w.mountSilent()
			log := w.mkdir("silent/logs") + "/access.log"
			old := accessLine(time.Now(), "/before")
			if err := errors.Join(os.WriteFile(log, []byte(strings.Repeat(old, 20)), 0o644), os.Chown(filepath.Dir(log), silentUser, silentUser)); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				for _, path := range []string{log, log + ".2"} {
					_ = unix.Unmount(path, unix.MNT_DETACH)
				}
			})
			w.unchanged(name, func() { w.swapped(name, log, dir+"/fuse") })
			w.askedNothing(name, asked)
		})
	}
}

// swapped follows a log that is swapped.
func (w *world) swapped(name, log, point string) {
	w.Helper()
	followers := map[string]*proc{
		"record": w.start("record", "--accesslog", log, "--interval", "100ms", "--for", "1h", "--out", "swapped.kasoku"),
		"watch":  w.start("watch", "--accesslog", log),
		"follow": w.start("accesslog", "--follow", log),
	}
	followers["record"].sampled("swapped.kasoku")
	appendTo(w, log, strings.Repeat(accessLine(time.Now(), "/before"), 20))
	followers["record"].sampledSize("swapped.kasoku", log)
	time.Sleep(2 * time.Second) // the others have begun
	if err := silentSwaps[name](log, point); err != nil {
		w.Fatal(err)
	}
	time.Sleep(3 * time.Second) // all of them look again
	for _, what := range sorted(followers) {
		p := followers[what]
		p.signal(syscall.SIGTERM)
		begun := time.Now()
		code := p.wait(usual)
		w.wants(what, code, p.printed(), 0, 3, 143)
		if took := time.Since(begun); took > 2*time.Second {
			w.Errorf("%s: %s ends %v after SIGTERM", name, what, took)
		}
		said := p.printed()
		if rec, err := store.Open(w.path("swapped.kasoku")); what == "record" && err == nil {
			said += fmt.Sprint(rec.Warnings, rec.Logs)
		}
		if said = strings.Join(strings.Fields(said), " "); name != "beside" && !strings.Contains(said, "which may never answer") {
			w.Errorf("%s: %s does not say why the log is not read\n%s", name, what, tail(said))
		}
	}
}
