package kasoku_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestFloorsRefuse tests the floors on edges that do not exist.
func TestFloorsRefuse(t *testing.T) {
	f := func(from, to, want string) {
		t.Helper()
		if got := floorTable.refuse(from, to, false); got != want && !(want != "" && strings.Contains(got, want)) {
			t.Errorf("%s imports %s: got %q, want %q", from, to, got, want)
		}
	}
	const down, child, cmd, none = "imports go down", "a parent never imports a child", "nothing imports cmd/", "is on no floor"
	// Down, however far.
	f(".", "internal/histogram", "")
	f("load", ".", "")
	f("load/nethttp", "internal/unit", "")
	f("diagnose/rules", "logs/slowlog", "")
	f("cmd/kasoku", "labs/userapi", "")
	f("bench", "load/epollhttp", "")
	// Up and sideways.
	f("internal/unit", ".", down)
	f("internal/unit", "internal/histogram", down)
	f(".", "sandbox", down)
	f("mysql", "sandbox", down)
	f("load", "observe", down)
	f("load/nethttp", "observe/host", down)
	f("compare", "store", down)
	f("observe/mysql", "store", down)
	f("diagnose", "report", down)
	f("report/html", "record", down)
	f("record", "bench", down)
	f("store", "labs/userapi", down)
	// Within one directory.
	f("load/nethttp", "load", "")
	f("load/nethttp", "load/vegeta", "")
	f("internal/test/golden", "internal/test/peertest", "")
	f("internal/test/golden", "internal/unit", down)
	f("labs/demo", "labs/userapi", "")
	f("load", "load/nethttp", child)
	f("diagnose", "diagnose/indexes", child)
	f("serve", "serve/ui", child)
	// A room may stand on several floors: down is down.
	f("logs", "logs/lines", "")
	f("logs/lines", "logs", down)
	f("checkpoint/capture", "checkpoint/revert", down)
	f("checkpoint/revert", "checkpoint/capture", "")
	// Helpers of one user.
	f("report", "report/internal/texttab", "")
	f("report/html", "report/internal/texttab", "")
	f("report/internal/texttab", "internal/unit", "")
	f("report/internal/texttab", "record", down)
	f("internal/unit", "internal/unit/internal/x", "")
	f("cmd/kasoku", "cmd/kasoku/internal/tty", "")
	f("record", "report/internal/texttab", down)
	// Helpers for tests.
	const helper = "only tests import"
	f("sandbox/sandboxtest", "sandbox", "")
	f("sandbox/sandboxtest", "internal/test/golden", "")
	f("internal/test/liar", "internal/test/golden", "")
	f("sandbox", "sandbox/sandboxtest", helper)
	f("record", "sandbox/sandboxtest", helper)
	f("cmd/kasoku", "internal/test/golden", helper)
	f("sandbox/sandboxtest", "load", down)
	f("load/servicetest", "internal/unit", none)
	// Commands.
	f("labs/userapi", "cmd/kasoku", cmd)
	f("bench", "cmd/kasoku", cmd)
	f("cmd/kasoku", "cmd/check-mysql", cmd)
	f("cmd/check-mysql", "cmd/kasoku/internal/tty", cmd)
	// Names that are not in the table.
	f("reports", "internal/unit", none)
	f("load", "units", none)
	f("load/http3", "internal/unit", none)
	f("labs/userapi/deep", "internal/unit", none)
	f("cmd/other", "internal/unit", none)

	if got := floorTable.refuse("internal/unit", "labs/userapi", true); got != "" {
		t.Errorf("a test may import anything: %s", got)
	}
	if got := floorTable.refuse("internal/unit", "cmd/kasoku", true); got != cmd {
		t.Errorf("a test may not import cmd/: %q", got)
	}
}

const fakeMod = "module example.com/m\n\ngo 1.26\n\nrequire (\n\tmodernc.org/sqlite v1.0.0\n\tgithub.com/go-sql-driver/mysql v1.9.3 // indirect\n)\n\nrequire golang.org/x/sys v0.1.0\n"

// fake reads a tree from names and sources; a source without "package" gets one.
func fake(t *testing.T, files map[string]string) *tree {
	t.Helper()
	fsys := fstest.MapFS{"go.mod": {Data: []byte(fakeMod)}}
	for name, src := range files {
		if !strings.Contains(src, "package ") && strings.HasSuffix(name, ".go") {
			src = "// Package p.\npackage p\n" + src
		}
		fsys[name] = &fstest.MapFile{Data: []byte(src)}
	}
	tr, err := scan(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func wantBreaches(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(want) == 0 && len(got) > 0 {
		t.Errorf("unexpected: %q", got)
	}
	for _, w := range want {
		if !slices.ContainsFunc(got, func(g string) bool { return strings.Contains(g, w) }) {
			t.Errorf("got %q, want %q", got, w)
		}
	}
}

func TestScan(t *testing.T) {
	tr := fake(t, map[string]string{
		"a.go":                         "",
		"internal/unit/x_windows.go":   "//go:build windows && never\n\npackage unit\n",
		"internal/unit/testdata/no.go": "not Go",
		".hidden/no.go":                "not Go",
		"_old/no.go":                   "not Go",
		"vendor/v/no.go":               "not Go",
		"tools/go.mod":                 "module other",
		"tools/no.go":                  "not Go",
		"internal/unit/.#lock.go":      "not Go",
	})
	var paths []string
	for _, f := range tr.files {
		paths = append(paths, f.path)
	}
	if want := []string{"a.go", "internal/unit/x_windows.go"}; !slices.Equal(paths, want) {
		t.Errorf("read %q, want %q", paths, want)
	}
	if tr.module != "example.com/m" {
		t.Errorf("module %q", tr.module)
	}
	if want := []string{"modernc.org/sqlite", "github.com/go-sql-driver/mysql", "golang.org/x/sys"}; !slices.Equal(tr.requires, want) {
		t.Errorf("requires %q, want %q", tr.requires, want)
	}
}

func TestFloorsCheck(t *testing.T) {
	f := func(files map[string]string, want ...string) {
		t.Helper()
		wantBreaches(t, floorTable.check(fake(t, files)), want...)
	}
	f(map[string]string{"load/a.go": `import "example.com/m/internal/unit"`})
	f(map[string]string{"load/a.go": `import "example.com/m"`})
	f(map[string]string{"internal/unit/a.go": `import u "example.com/m/load"`}, "internal/unit/a.go imports load: floor 0 imports floor 2")
	f(map[string]string{"internal/unit/a.go": `import _ "example.com/m/load"`}, "internal/unit/a.go imports load")
	f(map[string]string{"internal/unit/a_plan9.go": `import "example.com/m/load"`}, "internal/unit/a_plan9.go imports load")
	f(map[string]string{"internal/unit/a_test.go": `import "example.com/m/load"`})
	f(map[string]string{"internal/unit/a_test.go": `import "example.com/m/cmd/kasoku"`}, "nothing imports cmd/")
	f(map[string]string{"renamed/a.go": ""}, "renamed is on no floor")
	// A module that was renamed has no edges left to check.
	f(map[string]string{"internal/unit/a.go": `import "example.com/old/load"`}, "nothing was checked")
}

func TestOwnersCheck(t *testing.T) {
	alive := map[string]string{
		"store/a.go":      `import _ "modernc.org/sqlite"`,
		"mysqlflags/a.go": `import "github.com/go-sql-driver/mysql"; var _ = mysql.Config{}`,
	}
	f := func(name, src string, want ...string) {
		t.Helper()
		files := map[string]string{name: src}
		for k, v := range alive {
			if files[k] == "" {
				files[k] = v
			}
		}
		wantBreaches(t, checkOwners(fake(t, files), floorTable, ownerTable), want...)
	}
	f("load/a.go", "")
	f("load/a.go", `import "modernc.org/sqlite"`, "load/a.go uses modernc.org/sqlite, which belongs to store")
	f("load/a.go", `import s "modernc.org/sqlite/lib"`, "modernc.org/sqlite/lib")
	f("load/a_test.go", `import "modernc.org/sqlite"`)
	f("load/a.go", `import "modernc.org/sqlitex"`)
	f("cmd/kasoku/a.go", `import "github.com/go-sql-driver/mysql/v2"`, "belongs to mysqlflags")
	f("sandbox/a.go", `import "os/exec"`, "belongs to internal/command")
	f("internal/command/a.go", `import "os/exec"`)
	f("internal/command/internal/pty/a.go", `import "os/exec"`)
	f("sandbox/a.go", `import sys "os"; func f() { sys.StartProcess("", nil, nil) }`, "uses os.StartProcess")
	f("sandbox/a.go", `import "os"; func f() { os.Open("") }`)
	f("sandbox/a.go", `import "syscall"; var _ = syscall.ForkExec`, "uses syscall.ForkExec")
	f("report/a.go", `import "unsafe"`, "uses unsafe")
	f("report/a.go", `import _ "unsafe"`, "uses unsafe")
	f("logs/lines/a.go", `import "unsafe"`)
	f("load/epollhttp/a.go", `import "syscall"; var _ = syscall.RawSyscall6`)
	f("load/a.go", `import "syscall"; func f() { syscall.Syscall(1, 2, 3, 4) }`, "uses syscall.Syscall,")
	f("load/a.go", `import . "syscall"; func f() { RawSyscall(1, 2, 3, 4) }`, "uses syscall.*")
	f("load/a.go", `import "syscall"; var _ = syscall.SIGTERM`)
	f("load/a.go", `import "golang.org/x/sys/unix"; var _ = unix.SIGTERM`)
	// A rule must not die when what it forbids gets another name.
	f("store/a.go", `import _ "example.org/newname/sqlite"`, "rule for modernc.org/sqlite is dead")
	f("mysqlflags/a.go", `import "example.org/mysql"`, "rule for github.com/go-sql-driver/mysql is dead")
	f("mysqlflags/a.go", "import \"example.org/mysql\"\n// github.com/go-sql-driver/mysql", "is dead")
	f("fleet/bus/a.go", `import "example.org/nats"`, "rule for github.com/nats-io/nats.go is dead")
	gone := []ownership{{path: "os/exec", owners: "commands"}}
	wantBreaches(t, checkOwners(fake(t, alive), floorTable, gone), "owner commands is on no floor")
}

func TestSeparationCheck(t *testing.T) {
	f := func(files map[string]string, want ...string) {
		t.Helper()
		all := map[string]string{"labs/shop/a.go": "", "labs/judge/a.go": `import "example.com/m/labs/words"`, "labs/words/a.go": `import "example.com/m/internal/unit"`, "labs/lists/a.go": ""}
		maps.Copy(all, files)
		wantBreaches(t, checkSeparation(fake(t, all), separation{one: "labs/shop", other: "labs/judge", top: "labs", but: "labs/words"}), want...)
	}
	f(nil)
	f(map[string]string{"labs/shop/b.go": `import ("example.com/m/labs/words"; "example.com/m/internal/unit"; "example.com/m/labs/lists")`})
	f(map[string]string{"labs/shop/b.go": `import "example.com/m/labs/judge"`}, "labs/judge is used by one of labs/shop")
	f(map[string]string{"labs/judge/b.go": `import "example.com/m/labs/shop"`}, "labs/shop is used by one of labs/shop")
	f(map[string]string{"labs/judge/b_test.go": `import "example.com/m/labs/shop"`})
	f(map[string]string{"labs/shop/b.go": `import "example.com/m/labs/rows"`, "labs/rows/a.go": `import "example.com/m/labs/lists"`, "labs/judge/b.go": `import "example.com/m/labs/lists"`},
		"labs/lists is used by one of labs/shop")
	wantBreaches(t, checkSeparation(fake(t, map[string]string{"labs/shop/a.go": ""}), separation{one: "labs/shop", other: "labs/gone", top: "labs"}), "labs/gone is not there")
}

func TestPackageDocsCheck(t *testing.T) {
	f := func(files map[string]string, want ...string) {
		t.Helper()
		wantBreaches(t, checkPackageDocs(fake(t, files)), want...)
	}
	f(map[string]string{"internal/unit/a.go": "// Package unit is.\npackage unit", "internal/unit/b.go": "package unit"})
	f(map[string]string{"internal/unit/a.go": "package unit"}, "internal/unit: 0 package comments")
	f(map[string]string{"internal/unit/a.go": "// Apart.\n\npackage unit"}, "internal/unit: 0 package comments")
	f(map[string]string{"internal/unit/a.go": "//go:build linux\n\npackage unit"}, "internal/unit: 0 package comments")
	f(map[string]string{"internal/unit/a.go": "// A.\npackage unit", "internal/unit/b.go": "// B.\npackage unit"}, "internal/unit: 2 package comments")
	f(map[string]string{"internal/unit/a.go": "// A.\npackage unit", "internal/unit/a_test.go": "// T.\npackage unit_test"})
	f(map[string]string{"internal/unit/a_test.go": "package unit_test"})
	f(map[string]string{"internal/unit/a.go": "// A.\npackage unit", "internal/unit/b.go": "package other"}, "packages unit and other")
}

func TestLengthCheck(t *testing.T) {
	long := strings.Repeat("\n", 499) // after two lines of package comment and clause
	wantBreaches(t, checkLength(fake(t, map[string]string{"internal/unit/a.go": long[1:], "internal/unit/a_test.go": long + long}), 500))
	wantBreaches(t, checkLength(fake(t, map[string]string{"internal/unit/a.go": long}), 500), "internal/unit/a.go: 501 lines, want at most 500")
}

func TestPageCheck(t *testing.T) {
	page := "| floor | directory | owns |\n|---|---|---|\n| 0 | `internal/unit/` | `x` |\n| 2 | `load/` + `nethttp`, `vegeta` | – |\n| 7 | `labs/a`, `labs/b` | – |\n| – | `bench/` | – |\n"
	f := func(dir, page string, want ...string) {
		t.Helper()
		wantBreaches(t, checkPage(fake(t, map[string]string{dir + "/a.go": ""}), floorTable, page), want...)
	}
	f("load/nethttp", page)
	f("labs/b", page)
	f("bench", page)
	f("load/vegeta/internal/x", page)
	f("load/loadtest", page)
	f("load/sqldb", page, "the page does not name load/sqldb")
	f("internal/unit", strings.Replace(page, "| 0 |", "| 1 |", 1), "the page has internal/unit on floor 1")
	f("internal/unit", strings.Replace(page, "nethttp", "nethttps", 1), "the page has load/nethttps on floor 2")
}
