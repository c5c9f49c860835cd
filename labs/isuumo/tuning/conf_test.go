package tuning

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// TestCrawlers: nginx.conf turns away those whom the contest allows to turn away.
func TestCrawlers(t *testing.T) {
	var got []string
	for _, m := range regexp.MustCompile(`(?m)^\s+"(~.*)" 1; # mends NGX-05$`).FindAllStringSubmatch(nginxConf, -1) {
		got = append(got, m[1])
	}
	exact, fold := isuumo.BotPatterns()
	var want []string
	for _, p := range exact {
		want = append(want, "~"+p)
	}
	for _, p := range fold {
		want = append(want, "~*"+p)
	}
	if !slices.Equal(got, want) {
		t.Errorf("nginx.conf has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestMends: each line names a defect that there is, and seeding it takes the line
// away and no other.
func TestMends(t *testing.T) {
	known := map[string]bool{}
	for _, d := range isuumo.Known() {
		known[d.ID] = true
	}
	for _, text := range []string{nginxConf, myCnf} {
		for line := range strings.Lines(text) {
			_, id, ok := strings.Cut(strings.TrimSpace(line), "# mends ")
			if !ok {
				continue
			}
			if !known[id] {
				t.Errorf("%q names no defect", line)
			}
			if left := without(text, isuumo.Defects{id}); strings.Contains(left, line) || strings.Count(left, "\n") != strings.Count(text, "\n")-strings.Count(text, "# mends "+id+"\n") {
				t.Errorf("without %s:\n%s", id, left)
			}
		}
	}
}

func TestDatabaseArgs(t *testing.T) {
	f := func(d isuumo.Defects, database, want string) {
		t.Helper()
		if got := strings.Join(DatabaseArgs(d, database), " "); got != want {
			t.Errorf("%s on %s:\ngot  %s\nwant %s", d, database, got, want)
		}
	}
	durable := "--innodb-flush-log-at-trx-commit=1 --innodb-doublewrite=ON"
	f(isuumo.Defects{"DBC-05"}, "mysql", durable+" --skip-log-bin")
	f(isuumo.Defects{"DBC-05", "DBC-02"}, "mariadb", durable+" --log-bin=binlog --sync-binlog=1 --server-id=1")
	f(nil, "mysql", durable+" --skip-log-bin --innodb-buffer-pool-size=256M --innodb-flush-neighbors=0 --max-connections=200 --innodb-redo-log-capacity=256M")
	f(nil, "mariadb", durable+" --skip-log-bin --innodb-buffer-pool-size=256M --innodb-flush-neighbors=0 --max-connections=200"+
		" --query-cache-type=ON --query-cache-size=64M --query-cache-limit=1M --innodb-log-file-size=256M")
}
