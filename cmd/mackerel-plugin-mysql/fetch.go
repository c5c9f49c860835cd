package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/wire/mackerel/program"
)

// A collector reads a server for one run of the plugin.
type collector struct {
	db       *sql.DB
	innodb   bool
	extended bool
	stderr   io.Writer
}

// fetch returns all that the server reports, by the names of the metrics, those that
// no graph has too.
func (c collector) fetch(ctx context.Context) (map[string]float64, error) {
	var status, variables map[string]string
	if err := c.query(ctx, "SHOW GLOBAL STATUS", &status); err != nil {
		return nil, err
	}
	if err := c.query(ctx, "SHOW GLOBAL VARIABLES", &variables); err != nil {
		return nil, err
	}
	stat := map[string]float64{}
	addNumbers(stat, status)
	addNumbers(stat, variables)
	if c.innodb {
		c.addInnoDB(ctx, stat, variables)
	}
	c.addReplica(ctx, stat)
	if c.extended {
		derive(stat)
		if err := c.addProcesslist(ctx, stat); err != nil {
			c.warn(fmt.Errorf("sessions are not counted: %w", err))
		}
	}
	addRatio(stat, "PercentageOfConnections", "Threads_connected", "max_connections")
	if c.innodb {
		addRatio(stat, "PercentageOfBufferPool", "database_pages", "pool_size")
	}
	return stat, nil
}

// query runs a statement that kasoku's own analysis of logs distinguishes from others.
func (c collector) query(ctx context.Context, statement string, into any) error {
	return mysqlflags.QueryContext(ctx, c.db, statement+" /* kasoku */").Scan(into)
}

// warn reports what could not be read; the rest is printed.
func (c collector) warn(err error) { fmt.Fprintf(c.stderr, "%s: %v\n", name, program.Explanation(err)) }

// addNumbers adds the values that are plain numbers.
func addNumbers(stat map[string]float64, values map[string]string) {
	for metric, text := range values {
		if v, err := strconv.ParseFloat(text, 64); err == nil && strings.Trim(text, "0123456789.-") == "" {
			stat[metric] = v
		}
	}
}

func addRatio(stat map[string]float64, metric, part, whole string) {
	if p, ok := stat[part]; ok && stat[whole] > 0 {
		stat[metric] = 100 * p / stat[whole]
	}
}

// addInnoDB adds InnoDB's monitor, and beneath it the status variables that say the
// same: what a server's monitor lacks comes from them, and all of it where the
// monitor may not be read.
func (c collector) addInnoDB(ctx context.Context, stat map[string]float64, variables map[string]string) {
	for _, a := range aliases() {
		if v, ok := stat[a.from]; ok {
			if _, have := stat[a.metric]; !have {
				stat[a.metric] = v
			}
		}
	}
	// A reader of Amazon Aurora has no monitor.
	if variables["aurora_version"] == "" || variables["innodb_read_only"] != "ON" {
		var monitor struct{ Status string }
		if err := c.query(ctx, "SHOW ENGINE INNODB STATUS", &monitor); err != nil {
			c.warn(err)
		}
		parseMonitor(monitor.Status, stat)
	}
	addDifference(stat, "unflushed_log", "log_bytes_written", "log_bytes_flushed")
	addDifference(stat, "uncheckpointed_bytes", "log_bytes_written", "last_checkpoint")
}

// An alias is a metric that a status variable has under another name.
type alias struct{ metric, from string }

// aliases are in the order of preference: the first that a server has counts.
// MariaDB has Innodb_lsn_*, MySQL from 8.0.30 Innodb_redo_log_*. Innodb_ibuf_* is
// none: MariaDB 10.11 gives numbers there that it never set.
func aliases() []alias {
	return []alias{
		{"database_pages", "Innodb_buffer_pool_pages_data"},
		{"free_pages", "Innodb_buffer_pool_pages_free"},
		{"modified_pages", "Innodb_buffer_pool_pages_dirty"},
		{"pool_size", "Innodb_buffer_pool_pages_total"},
		{"file_fsyncs", "Innodb_data_fsyncs"},
		{"file_reads", "Innodb_data_reads"},
		{"file_writes", "Innodb_data_writes"},
		{"pages_created", "Innodb_pages_created"},
		{"pages_read", "Innodb_pages_read"},
		{"pages_written", "Innodb_pages_written"},
		{"read_ahead", "Innodb_buffer_pool_read_ahead"},
		{"read_evicted", "Innodb_buffer_pool_read_ahead_evicted"},
		{"read_random_ahead", "Innodb_buffer_pool_read_ahead_rnd"},
		{"log_writes", "Innodb_log_writes"},
		{"pending_log_writes", "Innodb_os_log_pending_writes"},
		{"pending_log_flushes", "Innodb_os_log_pending_fsyncs"},
		{"pending_normal_aio_reads", "Innodb_data_pending_reads"},
		{"pending_normal_aio_writes", "Innodb_data_pending_writes"},
		{"log_bytes_written", "Innodb_redo_log_current_lsn"},
		{"log_bytes_written", "Innodb_lsn_current"},
		{"log_bytes_flushed", "Innodb_redo_log_flushed_to_disk_lsn"},
		{"log_bytes_flushed", "Innodb_lsn_flushed"},
		{"last_checkpoint", "Innodb_redo_log_checkpoint_lsn"},
		{"last_checkpoint", "Innodb_lsn_last_checkpoint"},
		{"history_list", "Innodb_history_list_length"},
		{"innodb_transactions", "Innodb_max_trx_id"},
		{"hash_index_cells_total", "Innodb_adaptive_hash_cells"},
	}
}

// addDifference adds a-b when both are known; it is never negative, as the two are
// not read at one moment.
func addDifference(stat map[string]float64, metric, a, b string) {
	high, ok := stat[a]
	low, ok2 := stat[b]
	if ok && ok2 {
		stat[metric] = max(0, high-low)
	}
}

// addReplica adds how far a replica lags: of several channels the worst.
// Nothing is added where that is not known, as when one of them is stopped.
func (c collector) addReplica(ctx context.Context, stat map[string]float64) {
	channels, err := mysqlflags.ReplicaStatus(ctx, c.db)
	if err != nil {
		c.warn(err)
		return
	}
	if lag, ok := mysqlflags.WorstLag(channels); ok {
		stat["Seconds_Behind_Master"] = lag.Seconds()
	}
}

// derive adds what is made of others.
func derive(stat map[string]float64) {
	if v, ok := stat["table_open_cache"]; ok {
		stat["table_cache"] = v
	}
	block, ok := stat["key_cache_block_size"]
	if !ok {
		return
	}
	if unused, ok := stat["Key_blocks_unused"]; ok {
		stat["key_buf_bytes_used"] = max(0, stat["key_buffer_size"]-unused*block)
	}
	if dirty, ok := stat["Key_blocks_not_flushed"]; ok {
		stat["key_buf_bytes_unflushed"] = dirty * block
	}
}

// errPrivilege is ER_SPECIFIC_ACCESS_DENIED_ERROR.
const errPrivilege = 1227

// states are what sessions do that have a metric of their own.
var states = strings.Fields(`closing_tables copying_to_tmp_table end freeing_items init locked login preparing
	reading_from_net sending_data sorting_result statistics updating writing_to_net none other`)

// addProcesslist counts the sessions by their states. Without the privilege to see all
// of them a server shows its own to the user, and no error: nothing is counted then.
func (c collector) addProcesslist(ctx context.Context, stat map[string]float64) error {
	// This needs the same privilege, PROCESS, and is refused without it. Roles make the
	// answer of SHOW GRANTS hard to read.
	var asked []map[string]string
	if err := c.query(ctx, "SELECT COUNT(*) FROM information_schema.INNODB_TRX",
		&asked); mysqlflags.ErrorNumber(err) == errPrivilege {
		return err
	}
	var sessions []struct {
		State *string `mysqlvar:"State"`
	}
	if err := c.query(ctx, "SHOW PROCESSLIST", &sessions); err != nil {
		return err
	}
	for _, s := range states {
		stat["State_"+s] = 0
	}
	for _, s := range sessions {
		stat["State_"+stateOf(s.State)]++
	}
	return nil
}

// stateOf returns which of the states a session is in.
func stateOf(text *string) string {
	switch {
	case text == nil:
		return "other"
	case *text == "":
		return "none"
	case *text == "Table lock", strings.HasPrefix(*text, "Waiting for ") && strings.HasSuffix(*text, "lock"):
		return "locked"
	}
	state := strings.ReplaceAll(strings.ToLower(*text), " ", "_")
	if slices.Contains(states, state) {
		return state
	}
	return "other"
}
