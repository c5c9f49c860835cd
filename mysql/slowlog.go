package mysql

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Settings is what the slow log shall hold. The zero value is every statement,
// as short as the server can write it.
type Settings struct {
	LongQueryTime time.Duration // statements that take at least this long; 0: all
	Table         bool          // in mysql.slow_log, too
	Sample        int           // MariaDB: one of so many statements that the server begins; below 2: all
	Extra         bool          // MariaDB: query plan and InnoDB figures; MySQL: log_slow_extra
}

// A SlowLog plans the changes that switch a server's slow log on. To make them
// takes SUPER or, on MySQL, SYSTEM_VARIABLES_ADMIN.
//
// The variables are copied into a session when it begins: a session that was
// open before goes on as it was. Compare the statements logged with the growth
// of Questions. The server answers a statement before it logs it, so what ended
// just before it is switched off may be missing.
type SlowLog struct {
	r    *Reader
	want Settings
	file string
}

// NewSlowLog returns the slow log of the reader's server.
func NewSlowLog(r *Reader, want Settings) *SlowLog { return &SlowLog{r: r, want: want} }

// File returns the path of the slow log on the server's host, once Plan has
// found it.
func (s *SlowLog) File() string { return s.file }

// Plan returns what is to be changed; nothing is altered.
func (s *SlowLog) Plan(ctx context.Context) (Plan, error) {
	vars, err := s.r.Variables(ctx)
	if err != nil {
		return Plan{}, fmt.Errorf("slow log: %w", err)
	}
	s.file = slowLogPath(vars)
	return planSlowLog(s.r.Flavor(), vars, s.want), nil
}

// Burdens reports whether sessions that begin while the log is as wanted go on writing
// to it afterwards. They do when the log was on before, as the variables of that time
// say, and when values that sessions copy are to be changed.
func (s *SlowLog) Burdens(before map[string]string) bool {
	plan := planSlowLog(s.r.Flavor(), before, s.want)
	return sameValue(before["slow_query_log"], "ON") && len(Copied(plan.Changes)) > 0
}

// slowLogPath returns the absolute path of the slow log on the server's host.
func slowLogPath(vars map[string]string) string {
	file := vars["slow_query_log_file"]
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(vars["datadir"], file)
}

// planSlowLog lists the variables to change so that the log holds what is
// wanted, in an order in which no half-way state writes more than that.
func planSlowLog(flavor Flavor, vars map[string]string, want Settings) Plan {
	var p Plan
	if file := hasWord(vars["log_output"], "file"); want.Table {
		p.need(vars, "log_output", "FILE,TABLE", file && hasWord(vars["log_output"], "table"))
	} else {
		p.need(vars, "log_output", "FILE", file)
	}
	p.need(vars, "min_examined_row_limit", "0", false)
	if flavor == MariaDB {
		p.need(vars, "log_slow_rate_limit", strconv.Itoa(max(want.Sample, 1)), false)
		// Every statement that the query cache did not answer counts as
		// query_cache_miss, so a filter with that word lets all pass.
		p.need(vars, "log_slow_filter", "", hasWord(vars["log_slow_filter"], "query_cache_miss"))
		if want.Extra {
			has := hasWord(vars["log_slow_verbosity"], "query_plan") && hasWord(vars["log_slow_verbosity"], "innodb")
			p.need(vars, "log_slow_verbosity", "innodb,query_plan", has)
		}
	} else if want.Extra {
		p.need(vars, "log_slow_extra", "ON", false)
	}
	p.need(vars, "long_query_time", strconv.FormatFloat(want.LongQueryTime.Seconds(), 'f', 6, 64), false)
	p.need(vars, "slow_query_log", "ON", false)
	return p
}

// hasWord reports whether a comma-separated value has a word, in lower case.
func hasWord(list, word string) bool { return slices.Contains(words(list), word) }

// secondNames returns the variables that MariaDB has by two names, since 10.11,
// by the older one.
func secondNames() map[string]string {
	return map[string]string{
		"slow_query_log": "log_slow_query", "long_query_time": "log_slow_query_time",
		"min_examined_row_limit": "log_slow_min_examined_row_limit", "slow_query_log_file": "log_slow_query_file",
	}
}

// Originals puts the originals of changed variables into a map of all variables.
func Originals(vars map[string]string, changes []Changed) {
	second := secondNames()
	for _, c := range changes {
		for _, name := range []string{c.Name, second[c.Name]} {
			if _, known := vars[name]; known { // rows of performance_schema are no variables
				vars[name] = c.Before
			}
		}
	}
}
