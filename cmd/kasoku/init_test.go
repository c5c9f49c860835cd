package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// startOnTerminal starts kasoku on a terminal of its own; what is written to keys is typed.
func startOnTerminal(t *testing.T, dir string, args ...string) (r *running, keys *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	if err := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	r = prepare(t, dir, args...)
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = tty, tty, tty
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	r.begin(func() error {
		_, _ = io.Copy(r, keys) // EIO is its end: no process has the terminal any more
		return r.cmd.Wait()
	})
	return r, keys
}

// TestInit_Question: two services run here, with others perhaps. On a terminal they are
// listed with a number each, and the answer writes the kasoku.toml of that one; any other
// answer, none, and Ctrl-C write nothing.
func TestInit_Question(t *testing.T) {
	turn.Wait(t)
	var services []*sandbox.NginxServer
	for range 2 {
		services = append(services, sandboxtest.Nginx(t, sandbox.NginxOptions{}))
	}
	line := make([]*regexp.Regexp, len(services)) // in the list
	for i, s := range services {
		_, port, err := net.SplitHostPort(s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		line[i] = regexp.MustCompile(`(?m)^ *(\d+)  --port ` + port + ` `)
	}
	ask := func(t *testing.T) (r *running, keys *os.File) {
		t.Helper()
		r, keys = startOnTerminal(t, t.TempDir(), "init")
		r.waitFor("question", func() bool { return strings.HasSuffix(r.said(), "] ") })
		for _, l := range line {
			if !l.MatchString(r.said()) {
				t.Fatalf("no line %s in\n%s", l, r.said())
			}
		}
		return r, keys
	}
	for i, s := range services {
		t.Run("answer "+strconv.Itoa(i+1), func(t *testing.T) {
			r, keys := ask(t)
			if _, err := keys.WriteString(line[i].FindStringSubmatch(r.said())[1] + "\n"); err != nil {
				t.Fatal(err)
			}
			r.exits(0, "wrote  kasoku.toml")
			// It has no database.
			if !strings.Contains(r.said(), "init --force --url "+services[i].URL()+"/ --mysql 'USER@") {
				t.Errorf("it does not say how a database is named\n%s", r.said())
			}
			text, err := os.ReadFile(filepath.Join(r.dir, config.Name))
			if err != nil {
				t.Fatal(err)
			}
			c, err := config.Parse(text, config.Name)
			if err != nil {
				t.Fatal(err)
			}
			if c.Service.URL != s.URL()+"/" || len(c.Logs.Access) != 1 || c.Logs.Access[0] != s.AccessLog {
				t.Errorf("service %+v, logs %+v, want those of %s", c.Service, c.Logs, s.URL())
			}
			if other := services[1-i]; strings.Contains(string(text), other.Dir) || strings.Contains(string(text), other.URL()) {
				t.Errorf("the other service is in the file:\n%s", text)
			}
		})
	}
	for name, c := range map[string]struct {
		keys, want string
		code       int
	}{
		"no number":    {"shop\n", `"shop": want a number from 1 to `, cli.ExitUsage},
		"empty":        {"\n", `"": want a number from 1 to `, cli.ExitUsage},
		"zero":         {"0\n", `"0": want a number from 1 to `, cli.ExitUsage},
		"beyond":       {"1000000\n", `"1000000": want a number from 1 to `, cli.ExitUsage},
		"end of input": {"\x04", "no answer", cli.ExitUsage},
		"Ctrl-C":       {"\x03", "stopped by interrupt", cli.ExitCouldNot},
	} {
		t.Run(name, func(t *testing.T) {
			r, keys := ask(t)
			if _, err := keys.WriteString(c.keys); err != nil {
				t.Fatal(err)
			}
			r.exits(c.code, c.want)
			if exists(filepath.Join(r.dir, config.Name)) {
				t.Errorf("a file was written\n%s", r.said())
			}
		})
	}
}
