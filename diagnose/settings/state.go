package settings

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// day is what rates are given per, and the least uptime whose figures can be
// trusted to have seen the usual work.
const day = 24 * time.Hour

// A state is an input with what was decided so far.
type state struct {
	Input
	server
	decided map[string]decision
}

// A decision is the value that a variable shall have, and whose it is.
type decision struct {
	value string
	check string
}

func newState(in Input) *state {
	return &state{Input: in, server: serverOf(in.Variables), decided: map[string]decision{}}
}

// lack returns why a part is missing; nil when it is there.
func (s *state) lack(p Part) *Lack {
	for i := range s.Lacks {
		if s.Lacks[i].Part == p {
			return &s.Lacks[i]
		}
	}
	return nil
}

// number reads a variable in force. One that is no number, or absurd, is not there.
func (s *state) number(name string) (float64, bool) {
	return parseNumber(s.Variables[name])
}

func parseNumber(text string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// will returns the value that a variable has once all that was decided is done.
func (s *state) will(name string) (float64, bool) {
	if d, ok := s.decided[name]; ok {
		return parseNumber(d.value)
	}
	return s.number(name)
}

// willOr is will, with another value for a variable that the server has not.
func (s *state) willOr(name string, otherwise float64) float64 {
	if v, ok := s.will(name); ok {
		return v
	}
	return otherwise
}

// on reports whether a variable that was set to a word says yes.
func on(value string) bool {
	switch strings.ToUpper(value) {
	case "ON", "1", "YES", "TRUE":
		return true
	}
	return false
}

// span is how long the counters have counted.
func (s *state) span() time.Duration {
	if s.Grown != nil {
		return s.Window
	}
	return upFor(s)
}

// upFor is how long the server has been up.
func upFor(s *state) time.Duration {
	up := s.Status[mysql.Uptime]
	if !(up >= 0 && up < 1e9) {
		return 0
	}
	return time.Duration(up) * time.Second
}

// over names the window.
func (s *state) over() string {
	if s.Grown != nil && s.Over != "" {
		return s.Over
	}
	if s.Grown != nil {
		return unit.Elapsed(s.Window)
	}
	return "since the server was started, " + sinceWords(s.span())
}

// sinceWords prints a time of which the largest unit says enough.
func sinceWords(d time.Duration) string {
	if d < 2*time.Minute && d >= time.Second {
		return fmt.Sprintf("%d s", d.Round(time.Second)/time.Second)
	}
	if d >= 2*day {
		return fmt.Sprintf("%d d", d/day)
	}
	if d >= 2*time.Hour {
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return unit.Elapsed(d)
}

// settled reports whether the figures have seen usual work: a load that somebody
// chose, or a day.
func (s *state) settled() bool {
	if s.Grown != nil {
		return s.Load && s.Window >= leastLoad
	}
	return s.span() >= day
}

// leastLoad is the shortest load that figures are trusted of.
const leastLoad = 10 * time.Second

// tempTable reports whether temporary tables are in MySQL's TempTable engine: then
// max_heap_table_size has no say, and temptable_max_ram bounds all together.
func (s *state) tempTable() bool {
	return strings.EqualFold(s.Variables["internal_tmp_mem_storage_engine"], "TempTable")
}

// perThread is what one connection may take, temporary tables apart.
func (s *state) perThread() float64 {
	var sum float64
	for _, name := range [...]string{"read_buffer_size", "read_rnd_buffer_size", "sort_buffer_size", "thread_stack",
		"join_buffer_size", "binlog_cache_size"} {
		sum += max(s.willOr(name, 0), 0)
	}
	return sum
}

// temporary is what one temporary table may take in memory.
func (s *state) temporary() float64 {
	tmp := max(s.willOr("tmp_table_size", 0), 0)
	if s.tempTable() {
		return tmp
	}
	return min(tmp, max(s.willOr("max_heap_table_size", tmp), 0))
}

// threads is what so many connections may take together.
func (s *state) threads(n float64) float64 {
	tmp := s.temporary() * n
	if most, ok := s.will("temptable_max_ram"); ok && s.tempTable() {
		tmp = min(tmp, most)
	}
	return s.perThread()*n + tmp
}

// fixed is what the server takes however many connections there are, the buffer
// pool apart.
func (s *state) fixed() float64 {
	sum := float64(s.SchemaMemory)
	if sum == 0 && on(s.word("performance_schema")) {
		sum = schemaMemory
	}
	for _, name := range [...]string{"key_buffer_size", "innodb_log_buffer_size", "query_cache_size",
		"aria_pagecache_buffer_size"} {
		sum += max(s.willOr(name, 0), 0)
	}
	return sum
}

// footprint is what the server takes with so many connections.
func (s *state) footprint(connections float64) float64 {
	return s.fixed() + max(s.willOr("innodb_buffer_pool_size", 0), 0) + s.threads(connections)
}

// schemaMemory is what performance_schema is taken to hold where its size is unknown:
// with default settings, MySQL 9.7 has 230 MiB.
const schemaMemory = 256 << 20

// word returns a variable as it is going to be.
func (s *state) word(name string) string {
	if d, ok := s.decided[name]; ok {
		return d.value
	}
	return s.Variables[name]
}

// seen limits what is said of tables to those that the account sees.
func (s *state) seen() string {
	if s.Schema != nil && s.Schema.Partial {
		return ", of the tables that are seen"
	}
	return ""
}

// used is the most connections that were open at once.
func (s *state) used() float64 { return max(s.Status[mysql.MaxUsedConnections], 1) }

// affords reports whether that share of the memory holds so much more.
func (s *state) affords(more, share float64) bool {
	return s.Memory.RAM > 0 && more <= s.Memory.left()*share
}

// sensibleSize rounds a size to one that people write: to an eighth of it at most.
func sensibleSize(v float64, up bool) float64 {
	if !(v > 0) {
		return 0
	}
	v = min(v, 1<<60)
	step := max(math.Exp2(math.Floor(math.Log2(v/8))), 1)
	if up {
		return math.Ceil(v/step) * step
	}
	return math.Floor(v/step) * step
}

// wholeWords prints a number as SET takes it.
func wholeWords(v float64) string {
	return strconv.FormatFloat(math.Round(v), 'f', 0, 64)
}

// sizeWords prints a number of bytes for people.
func sizeWords(v float64) string {
	return unit.BytesIEC(uint64(max(0, min(v, 1<<62))))
}

// countWords prints a number of things for people.
func countWords(v float64) string {
	return unit.Count(uint64(max(0, min(v, 1<<62))))
}

// statements is how many statements are taken to run at once, at most: as many as were seen or
// four for each core, whichever is more, but no more than there were connections. Buffers for
// sorts, joins and temporary tables are gone when their statement is.
func (s *state) statements() float64 {
	cores := float64(s.System.Cores)
	if cores <= 0 || s.lack(PartCores) != nil {
		cores = 8
	}
	return min(s.used(), max(s.Status[mysql.ThreadsRunning], 4*cores))
}

// likely is what the connections that were open at most take, with no more statements
// at once than are likely.
func (s *state) likely() float64 {
	return max(s.willOr("thread_stack", 0), 0)*s.used() + s.threads(s.statements())
}

// connectionWords prints so many connections.
func connectionWords(v float64) string {
	return unit.Counted(uint64(max(0, min(v, 1<<62))), "connection", "connections")
}
