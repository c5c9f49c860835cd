package settings

import (
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/mysql"
)

const ownSchemas = "('mysql', 'sys', 'information_schema', 'performance_schema')"

// tablesQuery has a row for each base table, one for the account that asks, and one
// for its right to read all tables, when it has that. The right to see an account's
// own privileges is everybody's.
const tablesQuery = "SELECT /* kasoku */ TABLE_SCHEMA AS s, TABLE_NAME AS t, COALESCE(ENGINE, '') AS e, COALESCE(TABLE_ROWS, 0) AS r, COALESCE(DATA_LENGTH, 0) AS d, " +
	"COALESCE(INDEX_LENGTH, 0) AS i, COALESCE(DATA_FREE, 0) AS f, COALESCE(AUTO_INCREMENT, 0) AS a FROM information_schema.TABLES " +
	"WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN " + ownSchemas +
	" UNION ALL SELECT '', CURRENT_USER(), 'account', 0, 0, 0, 0, 0" +
	" UNION ALL SELECT '', PRIVILEGE_TYPE, 'right', 0, 0, 0, 0, 0 FROM information_schema.USER_PRIVILEGES " +
	"WHERE PRIVILEGE_TYPE = 'SELECT' AND GRANTEE = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')"

func (r *reading) tables() error {
	rows, ok, err := r.ask(tablesQuery, "", PartTables)
	if err != nil || !ok {
		return err
	}
	s := &Schema{Partial: true}
	for _, row := range rows {
		switch {
		case row["s"] != "":
			s.Tables = append(s.Tables, Table{
				Table: mysql.Table{
					Schema: row["s"], Name: row["t"], Engine: row["e"], Rows: int64(parseInteger(row["r"])),
					DataBytes: int64(parseInteger(row["d"])), IndexBytes: int64(parseInteger(row["i"])),
				},
				FreeBytes: parseInteger(row["f"]), Next: parseInteger(row["a"]),
			})
		case row["e"] == "account":
			r.in.Account = quoteAccount(row["t"])
		case row["e"] == "right":
			s.Partial = false
		}
	}
	r.in.Schema = s
	if s.Partial && len(s.Tables) == 0 {
		r.in.miss("the account sees none", "GRANT SELECT ON *.*", PartTables)
		r.in.miss("the account sees no table", "GRANT SELECT ON *.*", PartIndexes)
	}
	return nil
}

// parseInteger reads a count, at most what fits into an int64.
func parseInteger(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil && len(text) > 0 && text[0] != '-' {
		n, _ = strconv.ParseUint(text, 10, 64)
		return min(n, 1<<63-1)
	}
	return n
}

// quoteAccount quotes app@localhost for GRANT. The host has no @.
func quoteAccount(user string) string {
	q := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(s) + "'" }
	if i := strings.LastIndexByte(user, '@'); i >= 0 {
		return q(user[:i]) + "@" + q(user[i+1:])
	}
	return q(user)
}

// indexesQuery has the parts of all B-tree indexes in order, and the types of
// AUTO_INCREMENT columns, which have no index name here. An expression has no column.
const indexesQuery = "SELECT /* kasoku */ TABLE_SCHEMA AS s, TABLE_NAME AS t, INDEX_NAME AS i, NON_UNIQUE AS n, SEQ_IN_INDEX AS q, " +
	"CONCAT(COALESCE(COLUMN_NAME, '()'), COALESCE(CONCAT('(', SUB_PART, ')'), ''), IF(COLLATION = 'D', ' DESC', '')) AS c " +
	"FROM information_schema.STATISTICS WHERE INDEX_TYPE = 'BTREE' AND TABLE_SCHEMA NOT IN " + ownSchemas +
	" UNION ALL SELECT TABLE_SCHEMA, TABLE_NAME, '', 0, 0, COLUMN_TYPE FROM information_schema.COLUMNS " +
	"WHERE EXTRA LIKE '%auto_increment%' AND TABLE_SCHEMA NOT IN " + ownSchemas + " ORDER BY 1, 2, 3, 5"

func (r *reading) indexes() error {
	if s := r.in.Schema; s == nil || s.Partial && len(s.Tables) == 0 {
		if s == nil {
			r.in.miss("the tables were not read", "", PartIndexes)
		}
		return nil
	}
	rows, ok, err := r.ask(indexesQuery, "", PartIndexes)
	if err != nil || !ok {
		return err
	}
	s := r.in.Schema
	types := map[string]string{}
	for _, row := range rows {
		table := row["s"] + "." + row["t"]
		if row["i"] == "" {
			types[table] = row["c"]
			continue
		}
		if n := len(s.Indexes); n > 0 && s.Indexes[n-1].Table == table && s.Indexes[n-1].Name == row["i"] {
			s.Indexes[n-1].Parts = append(s.Indexes[n-1].Parts, row["c"])
			continue
		}
		s.Indexes = append(s.Indexes, mysql.Index{Table: table, Name: row["i"], Unique: row["n"] == "0",
			Parts: []string{row["c"]}})
	}
	for i := range s.Tables {
		s.Tables[i].AutoType = types[tableName(s.Tables[i].Table)]
	}
	return nil
}

const (
	usageQuery = "SELECT /* kasoku */ OBJECT_SCHEMA AS s, OBJECT_NAME AS t, INDEX_NAME AS i, COUNT_STAR AS n " +
		"FROM performance_schema.table_io_waits_summary_by_index_usage WHERE INDEX_NAME IS NOT NULL AND OBJECT_SCHEMA NOT IN " + ownSchemas
	memoryQuery = " UNION ALL SELECT '', '', '', COALESCE(SUM(CURRENT_NUMBER_OF_BYTES_USED), 0) " +
		"FROM performance_schema.memory_summary_global_by_event_name WHERE EVENT_NAME LIKE 'memory/performance_schema/%'"
)

// usage reads which indexes are used, and what performance_schema itself holds.
func (r *reading) usage() error {
	if !on(r.in.Variables["performance_schema"]) {
		r.in.miss("performance_schema is off", "performance_schema = ON in my.cnf, and a restart", PartUsage)
		return nil
	}
	query := usageQuery
	if r.mysqlFrom(5, 7, 0) || r.mariaFrom(10, 5, 2) {
		query += memoryQuery
	}
	rows, ok, err := r.ask(query, "GRANT SELECT ON performance_schema.*", PartUsage)
	if err != nil || !ok {
		return err
	}
	uses := map[string]uint64{}
	for _, row := range rows {
		if row["s"] == "" {
			r.in.SchemaMemory = parseInteger(row["n"])
			continue
		}
		uses[row["s"]+"."+row["t"]+"."+row["i"]] = parseInteger(row["n"])
	}
	if r.in.Schema != nil {
		r.in.Schema.Uses = uses
	}
	return nil
}

// transactions reads the oldest transaction, who reads the binary log and, of MySQL,
// which has no status variable for it, the old versions of rows. All need the same
// right.
func (r *reading) transactions() error {
	list := "information_schema.PROCESSLIST"
	if r.mysqlFrom(8, 0, 22) && on(r.in.Variables["performance_schema"]) {
		list = "performance_schema.processlist"
	}
	history := "NULL"
	if r.mysqlFrom(5, 6, 2) {
		history = "(SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'trx_rseg_history_len')"
	}
	rows, ok, err := r.ask("SELECT /* kasoku */ COALESCE(TIMESTAMPDIFF(SECOND, MIN(trx_started), NOW()), 0) AS o, "+
		"(SELECT COUNT(*) FROM "+list+" WHERE COMMAND LIKE 'Binlog Dump%') AS n, "+history+" AS h "+
		"FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id <> CONNECTION_ID()", "GRANT PROCESS ON *.*",
		PartTransactions, PartReaders)
	if err != nil || !ok || len(rows) == 0 {
		return err
	}
	r.in.Transactions = &Transactions{Oldest: time.Duration(min(parseInteger(rows[0]["o"]), 1e9)) * time.Second}
	r.in.Readers = int(min(parseInteger(rows[0]["n"]), 1e6))
	if h, ok := parseNumber(rows[0]["h"]); ok {
		r.in.Transactions.History, r.in.Transactions.Counted = h, true
	}
	return nil
}

func (r *reading) replica() error {
	query, grant := "SHOW REPLICA STATUS", "GRANT REPLICATION CLIENT ON *.*"
	switch {
	case r.maria():
		query = "SHOW ALL SLAVES STATUS"
		if r.mariaFrom(10, 5, 9) {
			grant = "GRANT REPLICA MONITOR ON *.*"
		}
	case !r.mysqlFrom(8, 0, 22):
		query = "SHOW SLAVE STATUS"
	}
	rows, ok, err := r.ask("/* kasoku */ "+query, grant, PartReplica)
	if err != nil || !ok {
		return err
	}
	r.in.Replica = &Replica{}
	for _, row := range rows {
		r.in.Replica.add(row)
	}
	return nil
}

// add takes one channel; of several the worst counts.
func (r *Replica) add(row map[string]string) {
	get := func(names ...string) string {
		for _, n := range names {
			if v, ok := row[n]; ok {
				return v
			}
		}
		return ""
	}
	worse := func(a, b string) string {
		if a == "" || strings.EqualFold(a, "Yes") {
			return b
		}
		return a
	}
	r.Is = true
	r.IO = worse(r.IO, get("replica_io_running", "slave_io_running"))
	r.SQL = worse(r.SQL, get("replica_sql_running", "slave_sql_running"))
	if lag := get("seconds_behind_source", "seconds_behind_master"); lag != "" {
		r.Lag, r.LagKnown = max(r.Lag, time.Duration(min(parseInteger(lag), 1e9))*time.Second), true
	}
	if e := get("last_sql_error"); e != "" {
		r.LastError = e
	} else if e := get("last_io_error"); e != "" && r.LastError == "" {
		r.LastError = e
	}
}

// accounts reads who can log in: without roles, which are locked or have no host, and
// without the server's own.
func (r *reading) accounts() error {
	query := "SELECT /* kasoku */ User AS u, Host AS h, plugin AS p, authentication_string AS a, Super_priv AS s FROM mysql.user WHERE Host <> '' AND User <> 'mariadb.sys'"
	if r.mysqlFrom(5, 7, 6) {
		query += " AND account_locked = 'N'"
	}
	rows, ok, err := r.ask(query, "GRANT SELECT ON mysql.*", PartAccounts)
	if err != nil || !ok {
		return err
	}
	r.in.AccountsRead = true
	for _, row := range rows {
		plugin := row["p"]
		secret := plugin == "" || strings.Contains(plugin, "password") || strings.Contains(plugin, "sha2") ||
			plugin == "ed25519" || plugin == "parsec"
		r.in.Accounts = append(r.in.Accounts, Account{
			User: row["u"], Host: row["h"], NoPassword: secret && row["a"] == "", Super: row["s"] == "Y",
			// Debian's root of MariaDB has the password that none hashes to, or the socket.
			SocketOnly: strings.Contains(plugin, "socket") || row["a"] == "invalid",
		})
	}
	return nil
}
