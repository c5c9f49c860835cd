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
// A directory imports only directories on a lower floor, and those of its own room on
// its own floor: a child its parent and its siblings, never a parent a child. Rooms are
// the directories at the top, but for internal/, whose parts know nothing of each other.
//
// A helper under DIR/internal is DIR's own: it stands on DIR's floor, and DIR and its
// children may import it. A helper for tests, DIR/DIRtest or one of those in
// internal/test, is imported by tests and such helpers only. Only files that are not
// tests are held to this; a test may import any directory but cmd/.
var floorTable = parseFloors(`
-1 internal/contain internal/mounts internal/private internal/procstat
0 internal/unit internal/histogram internal/pathwalk internal/lazyregexp internal/threadtime internal/median internal/causes internal/secret internal/nginxconf internal/onehost internal/localhttp fleet/keys
0 internal/command internal/confine internal/uplot mysqlflags sqltag logs/sqlshape
0 wire/graphite wire/whisper wire/parquet wire/prometheus wire/mackerel wire/mackerel/plugin wire/mackerel/check wire/mackerel/program
0 internal/test/golden internal/test/mackereltest internal/test/peertest internal/test/smalldisk internal/test/turn internal/test/words
1 . logs/lines mysql sandbox sandbox/quota internal/foreign wire/mackerel/timed fleet/relay
1 internal/test/browsertest internal/test/agenttest internal/test/liar internal/test/natsserver internal/test/attack internal/test/bounds
2 load load/http1 load/epollhttp load/nethttp load/vegeta load/engine load/loadtest load/carbon
2 observe observe/sources observe/observetest observe/host observe/process observe/procfile observe/cgroup observe/sockets observe/logsize observe/freespace
2 observe/mysql observe/nginx observe/varnish observe/redis observe/memcached observe/graphite observe/expvar observe/profile
2 logs logs/accessformat logs/accesslog logs/slowlog logs/applog logs/phases logs/score
2 logs/routes logs/patterns logs/buckets logs/join
2 internal/test/neighbours topology topology/scan topology/members topology/find store/chunk store/ownlog store/scrub mysql/scratch mysql/slowfile
3 trace trace/*
3 config mysql/digest mysql/explain store store/merge load/scenario load/scenario/agent checkpoint/capture checkpoint/guard compare compare/part compat/*
3 fleet fleet/bus fleet/hubdir fleet/hub fleet/agent fleet/coordinate fleet/gather fleet/sshhost
4 diagnose diagnose/rules/* diagnose/indexes diagnose/indexcheck diagnose/prepared diagnose/settings diagnose/probe diagnose/recycle diagnose/split checkpoint/revert
4 record/handover record/printed record/staticfile record/mask record/clock record/trigger record/callers record/outside record/thishost record/tenants record/unlogged
5 diagnose/rules diagnose/pasted record report report/terminal report/html report/encode
5 report/cell report/recorded report/timeline report/machine report/findings report/statements report/profiles
5 report/recording report/comparison report/story report/runlist report/logfile report/loadreport
6 export watch prove prove/answers prove/live prove/finalize serve serve/ui mcp
7 labs/* labs/contest/* labs/kit/* labs/isucholar/* labs/isucond/* labs/isuportal/* labs/isutrain/* labs/isuumo/* labs/goldrush/*
8 cmd cmd/kasoku cmd/kasoku-hub cmd/mackerel-plugin-* cmd/check-*
9 bench bench/*
`)

// hot are the packages that may trade clarity for speed.
const hot = "internal/histogram logs/lines internal/secret load/epollhttp load/carbon logs/accessformat logs/accesslog logs/slowlog " +
	"logs/sqlshape logs/routes logs/patterns logs/buckets logs/join"

// ownerTable gives each costly import its owner. A path stands for the packages
// below it too, such as a later major version.
var ownerTable = []ownership{
	{path: "modernc.org/sqlite", owners: "store"},
	{path: "github.com/go-sql-driver/mysql", owners: "mysqlflags"},
	{path: "github.com/nats-io/nats-server", owners: "fleet/hub"},
	{path: "github.com/nats-io/nkeys", owners: "fleet/keys fleet/bus fleet/hub"},
	{path: "github.com/nats-io/nats.go", owners: "fleet/bus"},
	{path: "github.com/cilium/ebpf", owners: "trace/kernel trace/stacks"},
	{path: "github.com/BurntSushi/toml", owners: "config compat/kataribe"},
	{path: "github.com/expr-lang/expr", owners: "logs/accesslog compat/alp"},
	{path: "github.com/goccy/go-yaml", owners: "logs/routes compat/alp"},
	{path: "github.com/pingcap/tidb/pkg/parser", owners: "diagnose/indexes diagnose/internal/rewrite"},
	{path: "os/exec", owners: "internal/command"},
	{path: "os", names: "StartProcess", owners: "internal/command"},
	{path: "syscall", names: "ForkExec StartProcess Exec", owners: "internal/command"},
	{path: "unsafe", owners: hot + " internal/confine store/ownlog trace/kernel internal/test/liar"},
	{path: "syscall", names: "Syscall Syscall6 Syscall9 RawSyscall RawSyscall6", owners: hot},
}

// A separation says that two groups of directories share nothing below top but
// what is listed, however they come to it: what judges must not repeat the
// mistakes of what is judged.
type separation struct{ one, other, top, but string }

var separations = []separation{
	{
		one:   "labs/isuumo/queries labs/isuumo/memory labs/isuumo/app",
		other: "labs/isuumo/model labs/isuumo/bench labs/isuumo/conformance",
		top:   "labs", but: "labs/isuumo",
	},
	{one: "labs/isucond", other: "labs/isucond/bench labs/contest", top: "labs"},
	{one: "labs/isucholar", other: "labs/isucholar/bench labs/contest", top: "labs"},
	{one: "labs/isuportal", other: "labs/isuportal/bench labs/contest", top: "labs"},
	{one: "labs/isutrain", other: "labs/isutrain/bench", top: "labs/isutrain"},
}

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
