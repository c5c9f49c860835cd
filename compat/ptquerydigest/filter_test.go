package ptquerydigest

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestFilter(t *testing.T) {
	event := map[string]string{
		"user": "app", "arg": "SELECT * FROM t", "Query_time": "0.012", "Rows_examined": "4000", "fingerprint": "select * from t", "Full_scan": "Yes",
	}
	for text, want := range map[string]bool{
		`$event->{user} eq "app"`:                                                          true,
		`$event->{user} ne 'app'`:                                                          false,
		`$event->{arg} =~ m/^select/i`:                                                     true,
		`$event->{arg} =~ /^select/`:                                                       false,
		`$event->{arg} !~ m/^select/`:                                                      true,
		`$event->{arg} =~ m{from\s+t$}i`:                                                   true,
		`$event->{Query_time} > 0.01`:                                                      true,
		`$event->{Query_time} >= 1`:                                                        false,
		`$event->{Query_time} > 0.01 && $event->{user} eq "b"`:                             false,
		`$event->{Query_time} > 1 || $event->{user} eq "app"`:                              true,
		`$event->{Query_time} > 1 or not $event->{user} eq "app"`:                          false,
		`($event->{host} || $event->{ip} || "") =~ m/domain/`:                              false,
		`($event->{Warning_count} || 0) > 1`:                                               false,
		`!$event->{host}`:                                                                  true,
		`!($event->{user} eq "app")`:                                                       false,
		`$event->{Rows_examined} >= 1_000`:                                                 true,
		`(($event->{Full_scan} || "") eq "Yes") || (($event->{Full_join} || "") eq "Yes")`: true,
		`$event->{fingerprint} && make_checksum($event->{fingerprint}) eq "` + checksumOf("select * from t") + `"`: true,
		`length($event->{arg}) == 15`:                       true,
		`lc($event->{arg}) eq "select * from t"`:            true,
		`$event->{user} lt "b" and $event->{user} ge "app"`: true,
		`1`:   true,
		`"0"`: false,
	} {
		f, err := parseFilter(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := f.keep(func(name string) string { return event[name] }); got != want {
			t.Errorf("%s = %v", text, got)
		}
	}
	for _, text := range []string{
		"", "(", "$event->{}", "$event->{a", "$event->{a} =~ m/(/", "$event->{a} =~ b", "$event->{a} ==", `"a`, `"$x"`, "system('x')", "1 1",
		"$event->{a b} > 1", "$event->{a} =~ m/x/e", strings.Repeat("(", 500), strings.Repeat("!", 500) + "1", strings.Repeat("not ", 500) + "1",
	} {
		if _, err := parseFilter(text); err == nil {
			t.Errorf("%.40q is understood", text)
		}
	}
}

func FuzzFilter(f *testing.F) {
	for _, text := range []string{`$event->{user} eq "app"`, `($event->{a} || 0) > 1 && !$event->{b}`, `$event->{arg} =~ m/^select/i`, `not (1_0 <= length("x"))`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := parseFilter(text)
		if err != nil {
			if filter != nil {
				t.Fatal("a filter beside an error")
			}
			return
		}
		filter.keep(func(string) string { return "1x" })
	})
}

func TestParse(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	o, err := parse(strings.Fields("--limit=5,90% --group-by user,db -order-by Lock_time:max --no-version-check a.log - --report-f profile --since 2h -- -b"), now)
	if err != nil {
		t.Fatal(err)
	}
	if o.limits[0] != (limit{count: 5}) || o.limits[1] != (limit{percent: 90}) || o.orders[0] != (order{"Lock_time", "max"}) || o.orders[1] != defaultOrder ||
		strings.Join(o.files, " ") != "a.log - -b" || strings.Join(o.sections, " ") != "profile" || !o.since.at.Equal(now.Add(-2*time.Hour)) || !o.vertical {
		t.Errorf("%+v", o)
	}
	o, err = parse(strings.Fields("--type genlog --group-by user,db --outliers Lock_time:2,user:3:4 --limit 0"), now)
	if err != nil {
		t.Fatal(err)
	}
	if o.limits[0] != defaultLimit || o.limits[1] != defaultLimit || o.orders[0] != (order{queryTime, "cnt"}) || o.orders[1] != defaultOrder ||
		!slices.Equal(o.outliers, []outlier{{"Lock_time", 2, 0}, {"user", 3, 4}}) {
		t.Errorf("%+v", o)
	}
	for _, line := range []string{
		"--foo", "--limit", "--limit x", "--limit :5", "--order-by Query_time:avg", "--report-format profile,what", "--type binlog", "--output xml",
		"--since yesterday", "--outliers a:b", "--outliers Query_time", "--outliers a:1:2:3", "--expected-range 5", "--review h=x", "--explain h=x", "--no-report=1", "--re x", "--processlist h=x",
		"--max-line-length -1", "--filter $x",
	} {
		if _, err := parse(strings.Fields(line), now); err == nil {
			t.Errorf("%s is understood", line)
		}
	}
}

func FuzzDistill(f *testing.F) {
	for _, sql := range []string{"select a from `b`.c, d e where f in (1)", "create table if not exists a.b", "insert into t values ('x\\'",
		"lock tables a read, b write", "call p((1", "show full tables from x", "/* c */ load data infile 'x' into table t", "update t set a=1 where b limit 1"} {
		f.Add(sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		distillStatement(sql)
		namedTables(sql, "db")
		isSelect(sql)
		if len(sql) < 10_000 {
			asSelect(sql)
			shortenStatement(sql)
		}
	})
}
