package finalize

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/pathwalk"
	"github.com/kasoku/kasoku/internal/procstat"
	"github.com/kasoku/kasoku/internal/unit"
)

// askWithin bounds each question to the database that is no count of rows.
const askWithin = 10 * time.Second

// collectors looks for what still watches: kasoku itself, and what the database
// writes about its statements.
func (w *walker) collectors(ctx context.Context) {
	w.progress("collectors")
	w.result.check(PartCollectors, "put back", w.Journals, []string{"no journal is left"}, "`kasoku restore` puts it back")
	running, claimed, err := findRecorders(w.Proc)
	if err != nil {
		w.result.cannot(PartCollectors, "other kasoku", err, "")
	} else {
		w.result.check(PartCollectors, "other kasoku", running, append([]string{"none records"}, claimed...),
			"end it with Ctrl-C, so that it puts back what it changed")
	}
	if w.db == nil {
		w.result.skip(PartCollectors, "statement logs", "no database in kasoku.toml")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	vars, err := w.db.Variables(ctx)
	if err != nil {
		w.result.cannot(PartCollectors, "statement logs", err, "")
		return
	}
	bad, fix := statementLogs(vars)
	w.result.check(PartCollectors, "statement logs", bad,
		[]string{"slow_query_log OFF, general_log OFF, log_output " + vars["log_output"]}, fix)
	w.consumers(ctx)
}

// usualConsumers are on in an unchanged MySQL 9.7; MariaDB has fewer.
var usualConsumers = []string{
	"events_statements_current", "events_statements_history", "events_transactions_current",
	"events_transactions_history",
	"global_instrumentation", "statements_digest", "thread_instrumentation",
}

// consumers looks which parts of performance_schema count what they usually do not.
func (w *walker) consumers(ctx context.Context) {
	const what = "consumers"
	on, err := w.db.EnabledConsumers(ctx)
	if err != nil {
		// It takes a right of its own, and is seldom changed.
		w.result.skip(PartCollectors, what, err.Error())
		return
	}
	var bad, names []string
	for _, name := range on {
		if !slices.Contains(usualConsumers, name) {
			bad = append(bad, name+" is on")
			names = append(names, "'"+name+"'")
		}
	}
	w.result.check(PartCollectors, what, bad, []string{"performance_schema counts no more than usual"},
		"`UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME IN ("+strings.Join(names,
			", ")+");`, and take performance-schema-consumer-… out of my.cnf")
}

// statementLogs describes which logs of statements are on, and how to switch them off.
func statementLogs(vars map[string]string) (on []string, fix string) {
	var off, options []string
	for _, name := range []string{"slow_query_log", "general_log"} {
		if vars[name] != "ON" && vars[name] != "1" {
			continue
		}
		saw := name + " is ON, to " + vars[name+"_file"]
		if name == "slow_query_log" {
			saw += ", long_query_time " + unit.Plain(parseSeconds(vars["long_query_time"])) + " s"
		}
		on = append(on, saw)
		off = append(off, "SET GLOBAL "+name+" = OFF;")
		options = append(options, name)
	}
	return on, fmt.Sprintf("`%s`, and take %s out of my.cnf", strings.Join(off, " "), strings.Join(options, " and "))
}

func parseSeconds(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return v
}

// mostClaims is how many processes of other users are named: whoever has an account can
// start as many as he likes.
const mostClaims = 3

// findRecorders lists the processes of kasoku that record something, this one left out:
// those of root and of who asks. What another user's process calls itself is his word: it
// is named as a claim, and nothing rests on it.
//
// Source: proc_pid_cmdline(5), proc_pid_status(5).
func findRecorders(proc string) (running, claimed []string, err error) {
	if proc == "" {
		proc = "/proc"
	}
	pids, err := procstat.Processes(proc)
	if err != nil {
		return nil, nil, fmt.Errorf("list processes: %w", err)
	}
	more := 0
	for _, pid := range pids {
		if pid == os.Getpid() {
			continue
		}
		args, err := foreign.Arguments(proc, pid)
		if err != nil {
			continue // it has ended
		}
		if len(args) > 1 && filepath.Base(args[0]) == "kasoku" && slices.Contains([]string{"record", "run", "demo"}, args[1]) {
			said := fmt.Sprintf("pid %d: %.200s %s", pid, args[0], args[1])
			switch status, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "status")); {
			case err == nil && isOurs(status):
				running = append(running, said)
			case len(claimed) < mostClaims:
				claimed = append(claimed, said+", of another user: what it measures is not known")
			default:
				more++
			}
		}
	}
	if more > 0 {
		claimed = append(claimed, fmt.Sprintf("and %d more of other users", more))
	}
	return running, claimed, nil
}

// isOurs reports whether all users of a process are root or who asks, by its status.
func isOurs(status []byte) bool {
	for line := range bytes.Lines(status) {
		uids, ok := bytes.CutPrefix(line, []byte("Uid:"))
		if !ok {
			continue
		}
		words := bytes.Fields(uids)
		return len(words) > 0 && !slices.ContainsFunc(words, func(word []byte) bool {
			uid, err := strconv.Atoi(string(word))
			return err != nil || uid != 0 && !pathwalk.IsAsker(uid)
		})
	}
	return false
}
