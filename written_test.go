package kasoku_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// writers are the files of the program that make, open for writing, rename or give
// modes to files by other means than package private, with the calls and the reason
// why they may. All others go through private, which makes them 0600 and the user's.
var writers = map[string]struct{ calls, why string }{
	"internal/private/private.go": {"os.Link os.NewFile os.OpenFile os.OpenFile os.OpenFile unix.Fchmod unix.Fchown unix.Mkdirat unix.Open unix.Openat unix.Openat unix.Renameat unix.Renameat2", "the one place"},
	"internal/private/tempdir.go": {"unix.Fchmod unix.Mkdir unix.Open unix.Open", "the one place"},

	"store/ownlog/ownlog.go":     {"unix.Open unix.Open", "makes an empty log, O_EXCL, 0600, before SQLite opens it by name"},
	"store/sqlite.go":            {"sql.Open", "SQLite opens by name what create has made, and gives logs its mode and owner"},
	"checkpoint/guard/aside.go":  {"os.OpenFile unix.Renameat2", "opens a journal without following, and gives what is none another name"},
	"checkpoint/revert/place.go": {"os.NewFile os.NewFile os.NewFile unix.Fchmod unix.Open unix.Openat unix.Openat unix.Openat unix.Openat unix.Openat2 unix.Renameat2 w.Chown", "puts back a file of somebody else, with its mode and owner, by descriptor"},

	"fleet/hubdir/hubdir.go":                  {"os.Rename", "turns a log that private has made"},
	"cmd/kasoku/internal/fleetcmd/fleet.go":   {"os.MkdirTemp", "0700, for sockets of ssh, whose paths have to be short"},
	"cmd/kasoku/internal/showcmd/scrub.go":    {"os.Rename", "names a copy that private has made"},
	"cmd/kasoku/internal/labcmd/lab_truth.go": {"os.Rename", "names a run that store has made"},
	"cmd/kasoku/internal/restorecmd/guard.go": {"os.WriteFile", "/proc/self/comm: the name that ps shows"},
	"cmd/kasoku/internal/cli/secret.go":       {"os.OpenFile", "/proc/self/mem: hides a password from ps"},
	"cmd/mackerel-plugin-maxcpu/server.go":    {"os.Rename", "a socket that listen has made with mode 0600"},
	"record/handover/handover.go":             {"os.OpenFile", "reads figures, and punches holes where it has"},
	"record/handover/onlookers.go":            {"os.Mkdir os.OpenFile os.OpenFile", "in a directory that own has found to be this user's alone"},

	"cmd/kasoku/internal/cli/token.go":      {"os.OpenFile", "reads"},
	"cmd/kasoku/internal/servecmd/start.go": {"os.NewFile", "memory without a name (memfd_create)"},
	"config/load.go":                        {"os.OpenFile", "reads"},
	"serve/marks.go":                        {"os.OpenFile", "reads"},
	"topology/tree.go":                      {"os.OpenFile", "reads"},
	"internal/mounts/mounts.go":             {"unix.Openat2 unix.Openat2", "paths only, for a look at what they name"},
	"internal/foreign/process.go":           {"os.NewFile os.OpenFile unix.Open unix.Open", "reads"},
	"internal/foreign/walk.go":              {"os.NewFile unix.Openat", "reads"},
	"internal/foreign/network.go":           {"unix.Open", "reads"},
	"internal/foreign/text.go":              {"unix.Open unix.Openat", "reads"},
	"topology/scan/clients.go":              {"unix.Open", "reads"},
	"topology/scan/process.go":              {"unix.Open unix.Open unix.Openat unix.Openat unix.Openat", "reads"},
	"internal/pathwalk/look.go":             {"os.NewFile unix.Open unix.Openat2", "reads"},
	"internal/pathwalk/named.go":            {"unix.Open", "reads"},
	"internal/pathwalk/walk.go":             {"os.NewFile unix.Open unix.Openat", "reads"},
	"store/reserve.go":                      {"os.OpenFile", "the log that SQLite has made, to keep room in it"},
	"store/open.go":                         {"os.OpenFile", "reads"},
	"observe/procfile/procfile.go":          {"unix.Open", "reads"},
	"internal/procstat/procstat.go":         {"syscall.Open", "reads"},
	"load/alarm_linux.go":                   {"os.NewFile", "a timer"},
	"mysqlflags/mysqlflags.go":              {"sql.OpenDB", "a MySQL server"},
	"mysql/scratch/server.go":               {"os.Chmod os.Lchown os.Mkdir", "0700, in a directory of package private, of the user whom the server runs as"},
	"mysqlflags/bounded.go":                 {"sql.OpenDB", "a MySQL server"},
	"sqltag/sqltag.go":                      {"sql.Open sql.OpenDB sql.OpenDB", "a MySQL server"},

	"cmd/kasoku/internal/labcmd/autopilot_lab.go": {"os.WriteFile os.WriteFile os.WriteFile os.WriteFile", "my.cnf and nginx.conf of a lab's servers, which run as other users"},
	"cmd/kasoku/internal/recordcmd/fleet.go": {"os.Rename",
		"a run file of package store takes the place of another one, beside it"},
	"cmd/kasoku/internal/labcmd/lab_supervise.go": {"os.Rename os.WriteFile", "0600, in a lab's directory of 0700"},
}

// fixtures are the directories whose files are those of labs, of servers that tests
// start and of measurements of kasoku itself: made-up data, read by other users.
var fixtures = []string{"bench/", "internal/test/", "labs/", "sandbox/", "load/loadtest/", "load/sqldb/", "tools/"}

// writing are the functions and methods that the test looks for. A method is named
// with any receiver.
var writing = map[string]string{
	"os":      "Create OpenFile WriteFile Mkdir MkdirAll MkdirTemp CreateTemp Rename Link Symlink Chmod Chown Lchown NewFile Truncate OpenRoot OpenInRoot CopyFS",
	"unix":    "Open Openat Openat2 Creat Mkdir Mkdirat Mknod Mknodat Mkfifo Rename Renameat Renameat2 Link Linkat Symlink Symlinkat Chmod Fchmod Fchmodat Chown Fchown Fchownat Lchown",
	"syscall": "Open Openat Creat Mkdir Mkdirat Mknod Mkfifo Rename Renameat Link Symlink Chmod Fchmod Chown Fchown Lchown",
	"sql":     "Open OpenDB",
	"ioutil":  "WriteFile TempFile TempDir",
	"":        "Chmod Chown OpenFile WriteFile",
}

// TestWriters lists every place of the program that may write files. A new one fails:
// use package private, or say here why not.
func TestWriters(t *testing.T) {
	found := map[string][]string{}
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		case slices.ContainsFunc(fixtures, func(dir string) bool { return strings.HasPrefix(path, dir) }):
			return nil
		}
		calls, err := writingCalls(path)
		if len(calls) > 0 {
			found[path] = calls
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		if got := strings.Join(found[path], " "); got != writers[path].calls {
			t.Errorf("%s writes files by %s; listed: %q. Use package private, or list it with the reason", path, got, writers[path].calls)
		}
	}
	for path, w := range writers {
		if w.calls != "" && found[path] == nil {
			t.Errorf("%s is listed and writes no files", path)
		}
		if w.calls != "" && w.why == "" {
			t.Errorf("%s is listed without a reason", path)
		}
	}
}

// writingCalls returns the uses of functions of writing in a file, sorted. A function
// that is handed on counts as one that is called.
func writingCalls(path string) (calls []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", path, err)
	}
	imported := map[string]bool{}
	for _, i := range file.Imports {
		name := strings.Trim(i.Path.Value, `"`)
		imported[name[strings.LastIndexByte(name, '/')+1:]] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, isName := sel.X.(*ast.Ident)
		of := ""
		if isName && imported[x.Name] {
			of = x.Name
		}
		if of == "private" || !slices.Contains(strings.Fields(writing[of]), sel.Sel.Name) || writing[of] == "" {
			return true
		}
		// private.Output.WriteFile is what is wanted.
		if in, ok := sel.X.(*ast.SelectorExpr); ok {
			if p, ok := in.X.(*ast.Ident); ok && p.Name == "private" {
				return true
			}
		}
		name := "?"
		if isName {
			name = x.Name
		}
		calls = append(calls, name+"."+sel.Sel.Name)
		return true
	})
	slices.Sort(calls)
	return calls, nil
}

func TestWritersFake(t *testing.T) {
	path := t.TempDir() + "/x.go"
	src := `package x
import ("os"; "github.com/kasoku/kasoku/internal/private")
func f(r *os.Root) { os.WriteFile("a", nil, 0); r.OpenFile("b", 0, 0); private.Output.WriteFile("c", nil); make := os.MkdirAll; _ = make; os.Open("d") }`
	if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	calls, err := writingCalls(path)
	if got := strings.Join(calls, " "); err != nil || got != "os.MkdirAll os.WriteFile r.OpenFile" {
		t.Errorf("%q, %v", got, err)
	}
}
