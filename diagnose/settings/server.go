package settings

import (
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
)

// A server is what decides which variables there are and when they can be set.
type server struct {
	flavor  mysql.Flavor
	version mysql.Version
}

// serverOf reads the server's own variables. Some distributions of MariaDB have
// its name in the comment only.
func serverOf(variables map[string]string) server {
	flavor, version := mysql.ParseVersion(variables["version"])
	if strings.Contains(strings.ToLower(variables["version_comment"]), "mariadb") {
		flavor = mysql.MariaDB
	}
	return server{flavor, version}
}

func (s server) maria() bool { return s.flavor == mysql.MariaDB }

// mariaFrom reports whether it is a MariaDB of that version or later.
func (s server) mariaFrom(major, minor, patch int) bool {
	return s.maria() && s.version.AtLeast(major, minor, patch)
}

// mysqlFrom reports whether it is a MySQL of that version or later.
func (s server) mysqlFrom(major, minor, patch int) bool {
	return !s.maria() && s.version.AtLeast(major, minor, patch)
}

// A setting is a variable that may be proposed.
type setting struct {
	dynamic func(server) bool // nil: on all servers of today
	bytes   bool              // it is a size, so that an option file may have 2G
	line    string            // in an option file, where that is not NAME = VALUE
	risk    kasoku.Risk       // of setting it, restart aside
}

func never(server) bool { return false }

// settings are the variables that may be proposed, with when SET GLOBAL takes them.
//
// Sources: the column Dynamic of MySQL 9.7's "Server System Variable Reference" and
// of its release notes; MariaDB's information_schema.SYSTEM_VARIABLES and
// documentation. A test sets each on real servers.
var settings = map[string]setting{
	"max_connections":       {},
	"thread_cache_size":     {},
	"skip_name_resolve":     {dynamic: never},
	"long_query_time":       {},
	"slow_query_log":        {},
	"sort_buffer_size":      {bytes: true},
	"join_buffer_size":      {bytes: true},
	"read_buffer_size":      {bytes: true},
	"read_rnd_buffer_size":  {bytes: true},
	"tmp_table_size":        {bytes: true},
	"max_heap_table_size":   {bytes: true},
	"binlog_cache_size":     {bytes: true},
	"table_open_cache":      {},
	"open_files_limit":      {dynamic: never},
	"key_buffer_size":       {bytes: true},
	"query_cache_type":      {},
	"query_cache_size":      {bytes: true},
	"performance_schema":    {dynamic: never},
	"innodb_file_per_table": {},
	"innodb_buffer_pool_size": {bytes: true, dynamic: func(s server) bool {
		return s.mysqlFrom(5, 7, 5) || s.mariaFrom(10, 2, 2)
	}},
	"innodb_buffer_pool_instances":   {dynamic: never},
	"innodb_redo_log_capacity":       {bytes: true},
	"innodb_log_file_size":           {bytes: true, dynamic: func(s server) bool { return s.mariaFrom(10, 9, 0) }},
	"innodb_log_buffer_size":         {bytes: true, dynamic: func(s server) bool { return s.mysqlFrom(8, 0, 11) }},
	"innodb_io_capacity":             {},
	"innodb_io_capacity_max":         {},
	"innodb_flush_neighbors":         {},
	"innodb_read_ahead_threshold":    {},
	"innodb_purge_threads":           {dynamic: func(s server) bool { return s.mariaFrom(10, 5, 2) }},
	"innodb_adaptive_hash_index":     {},
	"innodb_flush_log_at_trx_commit": {risk: kasoku.RiskDurability},
	"innodb_flush_log_at_timeout":    {risk: kasoku.RiskDurability},
	"innodb_flush_method":            {dynamic: never, risk: kasoku.RiskDurability},
	"innodb_doublewrite":             {dynamic: never, risk: kasoku.RiskDurability},
	"sync_binlog":                    {risk: kasoku.RiskDurability},
	"log_bin":                        {dynamic: never, risk: kasoku.RiskDurability, line: "skip-log-bin"},
	"read_only":                      {},
	"table_definition_cache":         {},
	"replica_parallel_workers":       {},
	"slave_parallel_workers":         {},
	"slave_parallel_threads":         {},
}

// atRuntime reports whether SET GLOBAL takes the variable on this server.
func (s server) atRuntime(name string) bool {
	d := settings[name].dynamic
	return d == nil || d(s)
}

// setGlobal returns the statement, empty when it needs a restart.
func (s server) setGlobal(name, value string) string {
	if !s.atRuntime(name) {
		return ""
	}
	return "SET GLOBAL " + name + " = " + value + ";"
}

// confLine returns the line of an option file.
func (s server) confLine(name, value string) string {
	spec := settings[name]
	if spec.line != "" {
		return spec.line
	}
	if n, err := strconv.ParseUint(value, 10, 64); err == nil && spec.bytes {
		value = suffixWords(n)
	}
	return name + " = " + value
}

// suffixWords writes a size as option files do, where that loses nothing.
func suffixWords(n uint64) string {
	for _, u := range []struct {
		size uint64
		name string
	}{{1 << 30, "G"}, {1 << 20, "M"}, {1 << 10, "K"}} {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatUint(n/u.size, 10) + u.name
		}
	}
	return strconv.FormatUint(n, 10)
}

// riskOf returns the greatest risk of setting the variable.
func (s server) riskOf(name string) kasoku.Risk {
	risk := settings[name].risk
	if risk == "" {
		risk = kasoku.RiskNone
	}
	if !s.atRuntime(name) && Within(risk, kasoku.RiskRestart) {
		risk = kasoku.RiskRestart
	}
	return risk
}
