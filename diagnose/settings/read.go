package settings

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	dbserver "github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe/mysql"
)

// ReadOptions configure what to read. The zero value reads once and looks for the server
// on this host.
type ReadOptions struct {
	For  time.Duration // between two readings of the status; 0: one, since the server was started
	RAM  uint64        // that the server has, in bytes, where somebody says it; it stands above what the host says
	Root string        // stands before /proc and /sys; empty but for tests
}

// answerLimit bounds each query about tables, in seconds: a server with a hundred
// thousand of them takes minutes.
const answerLimit = 2

// quiet keeps these statements out of the slow log and bounds them. Both families
// take what their version knows.
var quiet = fmt.Sprintf("SET /* kasoku */ SESSION long_query_time = 3600 /*M!100108 , max_statement_time = %d , slow_query_log = 0 */ "+
	"/*!50708 , max_execution_time = %d */ /*!80000 , information_schema_stats_expiry = 0 */", answerLimit,
	answerLimit*1000)

// Read asks a server over one connection, in at most ten queries, which change
// nothing but that session. What it is not allowed to see, or what takes too long, is
// a [Lack]. It fails when the server cannot be asked, or ctx ends.
func Read(ctx context.Context, conn mysqlflags.Querier, o ReadOptions) (Input, error) {
	r := &reading{ctx: ctx, conn: conn}
	if err := r.all(o); err != nil {
		return Input{}, err
	}
	return r.in, nil
}

// A reading is one server being asked.
type reading struct {
	ctx  context.Context
	conn mysqlflags.Querier
	in   Input
	server
}

func (r *reading) all(o ReadOptions) error {
	if _, err := r.rows(quiet); err != nil && mysqlflags.ErrorNumber(err) == 0 {
		return err
	}
	var err error
	if r.in.Variables, err = r.pairs("/* kasoku */ SHOW GLOBAL VARIABLES"); err != nil {
		return err
	}
	r.server = serverOf(r.in.Variables)
	r.in.Host = r.in.Variables["hostname"]
	status, err := r.pairs(dbserver.ShowStatus)
	if err != nil {
		return err
	}
	h := findHost(o.Root, r.in.Variables, status)
	for _, read := range []func() error{r.tables, r.indexes, r.usage, r.transactions, r.replica, r.accounts} {
		if err := read(); err != nil {
			return err
		}
	}
	if o.For > 0 {
		if status, err = r.twice(o.For, h); err != nil {
			return err
		}
	}
	r.in.Status, r.in.Words = parseNumbers(status)
	h.describe(&r.in)
	if o.RAM > 0 {
		r.in.SayRAM(o.RAM)
	}
	r.grants()
	return nil
}

// twice reads the status at both ends of a time; what was asked before it does not
// count as load.
func (r *reading) twice(over time.Duration, h *host) (map[string]string, error) {
	first, err := r.pairs(dbserver.ShowStatus)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	disk := h.diskTimes()
	timer := time.NewTimer(over)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.ctx.Done():
		return nil, context.Cause(r.ctx)
	}
	last, err := r.pairs(dbserver.ShowStatus)
	if err != nil {
		return nil, err
	}
	r.in.Window = time.Since(begin)
	r.in.Load, r.in.Over = true, sinceWords(over)+" of load"
	before, _ := parseNumbers(first)
	after, _ := parseNumbers(last)
	if after[mysql.Uptime] < before[mysql.Uptime] {
		return nil, errors.New("compare two readings of the status: the server was restarted in between")
	}
	r.in.Grown = make(map[string]float64, len(after))
	for name, v := range after {
		if was, ok := before[name]; ok {
			r.in.Grown[name] = kasoku.Growth(was, v)
		}
	}
	h.wrote(disk)
	return last, nil
}

// parseNumbers parts status variables into numbers and words.
func parseNumbers(status map[string]string) (map[string]float64, map[string]string) {
	values, words := make(map[string]float64, len(status)), map[string]string{}
	for name, text := range status {
		if v, ok := parseNumber(text); ok {
			values[name] = v
		} else {
			words[name] = text
		}
	}
	return values, words
}

// SayRAM takes what somebody says that the server has; it stands above what was seen.
func (in *Input) SayRAM(ram uint64) {
	in.Memory.RAM, in.Memory.From, in.Memory.Said = ram, "as --ram says", true
	kept := in.Lacks[:0]
	for _, l := range in.Lacks {
		if l.Part != PartMemory {
			kept = append(kept, l)
		}
	}
	in.Lacks = kept
}

// mostRows bounds those of one answer: most are variables, of which a server has 1,100.
const mostRows = 20_000

// rows runs a query and returns its rows as maps from lower-case column to value.
func (r *reading) rows(query string) (out []map[string]string, err error) {
	rows, err := r.conn.QueryContext(r.ctx, query)
	if err != nil {
		return nil, mysqlflags.Explain(err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values := make([]*string, len(columns))
	into := make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if len(out) == mostRows {
			return nil, fmt.Errorf("the server's answer has more than %d rows", mostRows)
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		m := make(map[string]string, len(columns))
		for i, c := range columns {
			if values[i] != nil {
				m[strings.ToLower(c)] = *values[i]
			}
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

// pairs runs a query that gives names and values.
func (r *reading) pairs(query string) (map[string]string, error) {
	rows, err := r.rows(query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.TrimPrefix(query, "/* kasoku */ "), err)
	}
	out := make(map[string]string, len(rows))
	for _, row := range rows {
		out[row["variable_name"]] = row["value"]
	}
	return out, nil
}

// The numbers of errors that say that a right is missing, that a table is, and that a
// query took too long. Source: MySQL 9.7, "Server Error Message Reference"; MariaDB's
// error codes.
var lacking = map[int]string{
	1044: "the account may not", 1045: "the account may not", 1142: "the account may not", 1143: "the account may not",
	1227: "the account may not", 1370: "the account may not", 1109: "the server has no such table",
	1146: "the server has no such table",
	1054: "the server has no such column", 1969: tooLong, 3024: tooLong, 1064: "the server does not know the statement",
}

var tooLong = fmt.Sprintf("it took more than %d s", answerLimit)

// ask runs a query whose refusal costs only these parts.
func (r *reading) ask(query, grant string, parts ...Part) ([]map[string]string, bool, error) {
	rows, err := r.rows(query)
	if err == nil {
		return rows, true, nil
	}
	n := mysqlflags.ErrorNumber(err)
	if n == 0 || r.ctx.Err() != nil {
		return nil, false, err
	}
	why, known := lacking[n]
	switch {
	case !known:
		why, grant = err.Error(), ""
	case why != "the account may not":
		grant = ""
	}
	r.in.miss(why, grant, parts...)
	return nil, false, nil
}

// grants puts the account into the lines that give rights.
func (r *reading) grants() {
	account := r.in.Account
	if account == "" {
		account = "'USER'@'HOST'"
	}
	for i := range r.in.Lacks {
		if g := r.in.Lacks[i].Grant; strings.HasPrefix(g, "GRANT ") {
			r.in.Lacks[i].Grant = g + " TO " + account + ";"
		}
	}
}
