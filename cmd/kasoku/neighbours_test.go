package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/test/neighbours"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox/quota"
)

// TestNeighbours: a service of nginx, PHP-FPM and MariaDB is recorded beside two others of
// just that kind, one of them in a container, more databases, an nginx and a program that
// forks. Its members are right, and no name, path, configuration, statement or log line of
// the others is in the run file or in what is printed of it.
func TestNeighbours(t *testing.T) {
	turn.Wait(t)
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("starts servers in namespaces of their own: root alone, not in short mode")
	}
	bed, err := neighbours.Start(t.Context(), neighbours.Options{Container: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bed.Stop(); err != nil {
			t.Error(err)
		}
	})
	shop, _ := groupedProject(t)
	dir := t.TempDir()
	printed := kasokuIn(t, dir, "record", "--mysql", shop.DB.DSN("", "shop"), "--accesslog", shop.Web.AccessLog,
		"-o", "run.kasoku", "--html", "run.html", "--", "kasoku", "attack", "--rate", "40", "--duration", "10s", "--target", "GET "+shop.URL(1))
	for _, format := range []string{"text", "json", "tsv", "md"} {
		printed += kasokuIn(t, dir, "show", "run.kasoku", "-o", format)
	}
	without(t, "what is printed", []byte(printed), bed.Word)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			without(t, e.Name(), text, bed.Word)
		}
	}
	rec := openForeign(t, filepath.Join(dir, "run.kasoku"))
	want := map[kasoku.MemberRole]int{kasoku.RoleWeb: shop.Web.Pid(), kasoku.RoleApplication: shop.PHP.Pid(),
		kasoku.RoleDatabase: shop.DB.Pid()}
	if len(rec.Service.Members) != len(want) {
		t.Errorf("members %+v", rec.Service.Members)
	}
	for role, pid := range want {
		if m := rec.Service.Of(role); len(m) != 1 || m[0].Leader().PID != pid {
			t.Errorf("%s: %+v, want pid %d", role, m, pid)
		}
	}
	sameAccount(t, rec)
	for _, source := range []string{"cgroup", "sockets"} {
		if !slices.ContainsFunc(rec.Series, func(s kasoku.Series) bool { return s.Key.Source == source && s.Key.Instance != "" }) {
			t.Errorf("the source %s recorded nothing of the members", source)
		}
	}
	ofUnit(t, shop, bed.Word)
}

// ofUnit runs init --unit for the application of a project, which runs in a control group
// as systemd makes one for a unit: there the name of a unit is read. The file is about the
// whole project; a unit that does not run gives none.
func ofUnit(t *testing.T, shop *neighbours.Project, word string) {
	t.Helper()
	name := "app-" + strconv.Itoa(os.Getpid())
	group, err := quota.New(name + ".service")
	if err != nil {
		t.Fatal(err)
	}
	unit := "kasoku-" + name
	defer func() { // before the project's own group goes
		if err := group.Remove(); err != nil {
			t.Error(err)
		}
	}()
	if err := group.Take(shop.PHP.Pid()); err != nil {
		t.Fatal(err)
	}
	for _, named := range []string{unit, unit + ".service"} {
		dir := t.TempDir()
		printed := kasokuIn(t, dir, "init", "--unit", named)
		text, err := os.ReadFile(filepath.Join(dir, config.Name))
		if err != nil {
			t.Fatal(err)
		}
		c, err := config.Parse(text, config.Name)
		if err != nil {
			t.Fatal(err)
		}
		if c.Service.Unit != named || c.Service.URL != shop.Web.URL()+"/" ||
			!slices.Contains(c.Logs.Access, shop.Web.AccessLog) || !strings.Contains(printed, unit+".service") {
			t.Errorf("--unit %s: service %+v, logs %+v\n%s", named, c.Service, c.Logs, printed)
		}
		without(t, "the file of --unit "+named, text, word)
	}
	dir := t.TempDir()
	r := startIn(t, dir, "init", "--unit", unit+"-gone")
	r.exits(cli.ExitUsage, "unit "+unit+"-gone.service: no process of it runs")
	if exists(filepath.Join(dir, config.Name)) {
		t.Error("a file was written for a unit that does not run")
	}
}

// without fails when a text has a word, and prints the first places.
func without(t *testing.T, what string, text []byte, word string) {
	t.Helper()
	n := bytes.Count(text, []byte(word))
	if n > 0 {
		t.Errorf("%s has the neighbours' word %d times:", what, n)
	}
	for range min(n, 5) {
		at := bytes.Index(text, []byte(word))
		t.Errorf("  …%q…", strings.ToValidUTF8(string(text[max(at-100, 0):min(at+len(word)+60, len(text))]), "?"))
		text = text[at+len(word):]
	}
}
