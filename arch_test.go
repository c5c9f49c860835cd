package kasoku_test

import (
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// floorTable is the floors table of ARCHITECTURE.md, with the directories that
// are planned. A directory that is in no row is refused, so a new or renamed one
// is put on its floor first. A star stands for one name.
//
// A directory imports only directories on a lower floor. Within one top directory
// a child may import its parent and siblings, a parent never imports a child. A
// helper under DIR/internal is DIR's own: it stands on DIR's floor, and DIR and
// its children may import it. A helper for tests, DIR/DIRtest or one of those in
// internal/, is imported by tests and such helpers only. Only files that are not tests are held to this; a
// test may import any directory but cmd/.
var floorTable = parseFloors(`
-1 contain private
0 unit histogram pathwalk lazyregexp secret command confine mysqlflags sqltag
0 mackerel/plugin mackerel/check mackerel/program
0 mackerel graphite prometheus nginxconf uplot whisper
0 internal/golden internal/mackereltest internal/fixture internal/peertest internal/smalldisk
1 mackerel/timed
1 . lines mysqlread service foreign internal/browsertest internal/agenttest internal/liar internal/attack internal/bounds
2 load load/http1 load/epollhttp load/nethttp load/sqldb load/carbon load/vegeta load/engine load/loadtest
2 observe observe/freespace observe/host observe/process observe/procfile observe/logsize observe/cgroup observe/sockets
2 observe/mysql observe/nginx observe/varnish observe/expvar observe/redis observe/graphite observe/goprocess
2 analyze analyze/accesslog analyze/slowlog analyze/digest analyze/sqlshape analyze/applog analyze/phases analyze/score
2 analyze/routes analyze/patterns analyze/buckets analyze/join
2 config discover guard profile
3 scenario scenario/agent replay compare runstore fleet fleet/bus capture merge explain peers peers/*
4 diagnose diagnose/rules diagnose/indexes advise revert probe
5 loop report report/terminal report/html report/export
6 capacity ship watch web web/ui mcp finalize prove
7 labs/* labs/isuumo/*
8 cmd cmd/kasoku cmd/mackerel-plugin-* cmd/check-*
9 bench bench/*
`)

// hot are the packages that may trade clarity for speed.
const hot = "histogram lines secret load/epollhttp analyze/accesslog analyze/slowlog analyze/sqlshape analyze/routes analyze/patterns analyze/buckets analyze/join"

// ownerTable gives each costly import its owner. A path stands for the packages
// below it too, such as a later major version.
var ownerTable = []ownership{
	{path: "modernc.org/sqlite", owners: "runstore"},
	{path: "github.com/go-sql-driver/mysql", owners: "mysqlflags"},
	{path: "github.com/nats-io/nats-server", owners: "fleet/bus"},
	{path: "github.com/nats-io/nats.go", owners: "fleet/bus"},
	{path: "github.com/BurntSushi/toml", owners: "config peers/kataribe"},
	{path: "github.com/expr-lang/expr", owners: "analyze/accesslog peers/alp"},
	{path: "github.com/goccy/go-yaml", owners: "analyze/routes peers/alp"},
	{path: "github.com/pingcap/tidb/pkg/parser", owners: "diagnose/indexes"},
	{path: "os/exec", owners: "command"},
	{path: "os", names: "StartProcess", owners: "command"},
	{path: "syscall", names: "ForkExec StartProcess Exec", owners: "command"},
	{path: "unsafe", owners: hot + " confine"},
	{path: "syscall", names: "Syscall Syscall6 Syscall9 RawSyscall RawSyscall6", owners: hot},
}

// A separation says that two groups of directories share nothing below top but
// what is listed, however they come to it: what judges must not repeat the
// mistakes of what is judged.
type separation struct{ one, other, top, but string }

var separations = []separation{{
	one:   "labs/isuumo/queries labs/isuumo/memory labs/isuumo/app",
	other: "labs/isuumo/model labs/isuumo/bench labs/isuumo/conformance",
	top:   "labs", but: "labs/isuumo",
}}

// maxLines is how long a file that is not a test may be.
const maxLines = 500

func TestArchitecture(t *testing.T) {
	tr := theTree(t)
	report(t, floorTable.check(tr))
}

func TestOwners(t *testing.T) {
	report(t, checkOwners(theTree(t), floorTable, ownerTable))
}

func TestSeparations(t *testing.T) {
	for _, s := range separations {
		report(t, checkSeparation(theTree(t), s))
	}
}

func TestPackageDocs(t *testing.T) {
	report(t, checkPackageDocs(theTree(t)))
}

func TestFileLength(t *testing.T) {
	report(t, checkLength(theTree(t), maxLines))
}

// TestArchitecturePage: the table that people read names each directory that
// holds code, on its floor.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkPage(theTree(t), floorTable, string(page)))
}

// scanned is the repository, read once for all tests.
var scanned = sync.OnceValues(func() (*tree, error) { return scan(os.DirFS(".")) })

func theTree(t *testing.T) *tree {
	t.Helper()
	tr, err := scanned()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func report(t *testing.T, breaches []string) {
	t.Helper()
	for _, b := range breaches {
		t.Error(b)
	}
}

// parseFloors reads rows of a floor and its directories.
func parseFloors(s string) floors {
	var out floors
	for row := range strings.Lines(s) {
		fields := strings.Fields(row)
		if len(fields) == 0 {
			continue
		}
		floor, err := strconv.Atoi(fields[0])
		if err != nil {
			panic(err)
		}
		for _, dir := range fields[1:] {
			if _, err := path.Match(dir, ""); err != nil {
				panic(err)
			}
			out = append(out, floorRow{floor, dir})
		}
	}
	return out
}
