// Package jointruth reads recordings of requests and statements whose true
// belonging is known, and scores a join against it.
//
// The one idea: each statement carries the id of its request, which is used for the
// score alone; the join gets what an access log and a slow log hold. Times are µs of
// Unix time.
//
// A recording is a folder with three files of columns:
//
//	access.log.gz  end (s), request time (s), upstream time (s), status, method, URI,
//	               connection, number of the request on it, request id
//	events.tsv.gz  start (µs), second of the log, duration (µs), connection, rows sent,
//	               rows examined, when a tail of the log saw it (s), request id,
//	               number of the fingerprint, literals
//	fps.txt        number of the fingerprint, its text
//
// Columns that are not read may be empty. The first two may be cut into parts:
// access.log.1.gz and so on.
package jointruth

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/logs/join"
)

// A Form defines how well the times of statements are known.
type Form int

// The forms of a slow log.
const (
	Micros Form = iota // µs, as its table form has them
	Tail               // the file read every 5 ms
)

// tailSlack is how much earlier than its stamp a statement may have ended: the
// time between two looks, and a look's own.
const tailSlack = 6000

// String returns the form's name in tables.
func (f Form) String() string {
	if f == Tail {
		return "5 ms tail"
	}
	return "µs"
}

// A Recording is one folder.
type Recording struct {
	Name      string
	Endpoints []string
	Texts     []string // of fingerprints

	requests []request
	events   []event
}

type request struct {
	join.Request
	id string
}

type event struct {
	start, length, stamp int64 // µs
	conn                 uint64
	sent, examined       uint64
	query                int32
	request              int32 // true one; -1 for none
	literals             []uint64
}

// Load reads the recording in dir.
func Load(dir string) (*Recording, error) {
	r := &Recording{Name: filepath.Base(dir)}
	text, err := os.ReadFile(filepath.Join(dir, "fps.txt"))
	if err != nil {
		return nil, fmt.Errorf("read fingerprints: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		number, text, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if n, err := strconv.Atoi(number); err != nil || n != len(r.Texts) {
			return nil, fmt.Errorf("read fingerprints: number %q where %d should be", number, len(r.Texts))
		}
		r.Texts = append(r.Texts, text)
	}
	numbers := map[string]int32{}
	if err := eachLine(dir, "access.log", func(f [][]byte) error { return r.addRequest(f, numbers) }); err != nil {
		return nil, fmt.Errorf("read requests: %w", err)
	}
	byID := map[string]int32{}
	for i := range r.requests {
		byID[r.requests[i].id] = int32(i)
	}
	if err := eachLine(dir, "events.tsv", func(f [][]byte) error { return r.addEvent(f, byID) }); err != nil {
		return nil, fmt.Errorf("read statements: %w", err)
	}
	r.resolve()
	return r, nil
}

// Folders returns the recordings at dir: itself, or the folders in it that are one.
func Folders(dir string) ([]string, error) {
	is := func(d string) bool {
		_, err := os.Stat(filepath.Join(d, "fps.txt"))
		return err == nil
	}
	if is(dir) {
		return []string{dir}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("look for recordings: %w", err)
	}
	var found []string
	for _, e := range entries {
		if d := filepath.Join(dir, e.Name()); is(d) {
			found = append(found, d)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("look for recordings: none in %q", dir)
	}
	return found, nil
}

// eachLine calls f with the fields of each line but a header.
func eachLine(dir, name string, f func([][]byte) error) error {
	parts, err := filepath.Glob(filepath.Join(dir, name+"*.gz"))
	if err != nil || len(parts) == 0 {
		return fmt.Errorf("no %s.gz in %q", name, dir)
	}
	sort.Strings(parts)
	for _, part := range parts {
		if err := eachLineOf(part, f); err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(part), err)
		}
	}
	return nil
}

func eachLineOf(path string, f func([][]byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	lines := bufio.NewReader(plain)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err == io.EOF {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		line = bytes.TrimRight(line, "\n")
		if bytes.HasPrefix(line, []byte("start_us")) {
			continue
		}
		if err := f(bytes.Split(line, []byte("\t"))); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}

func (r *Recording) addRequest(f [][]byte, numbers map[string]int32) error {
	if len(f) < 9 {
		return fmt.Errorf("%d fields where 9 should be", len(f))
	}
	end, err := parseMicros(f[0])
	if err != nil {
		return err
	}
	length, err := parseMicros(f[1])
	if err != nil {
		return err
	}
	status, err := strconv.Atoi(string(f[3]))
	if err != nil {
		return err
	}
	name := string(f[4]) + " " + routeOf(string(f[5]))
	number, known := numbers[name]
	if !known {
		number = int32(len(r.Endpoints))
		numbers[name] = number
		r.Endpoints = append(r.Endpoints, name)
	}
	id := string(f[8])
	r.requests = append(r.requests, request{
		Request: join.Request{
			Start: end - length, End: end, Endpoint: number, Status: status,
			Literals: join.LiteralsOfURI(nil, f[5]),
		},
		id: id[:min(12, len(id))],
	})
	return nil
}

// routeOf is the URI's path with its numbers and long hexadecimal ids as :id.
func routeOf(uri string) string {
	path, _, _ := strings.Cut(uri, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		digits := strings.Trim(s, "0123456789") == ""
		hexadecimal := len(s) >= 16 && strings.Trim(s, "0123456789abcdefABCDEF-") == ""
		if s != "" && (digits || hexadecimal) {
			segments[i] = ":id"
		}
	}
	return strings.Join(segments, "/")
}

func (r *Recording) addEvent(f [][]byte, byID map[string]int32) error {
	if len(f) < 9 {
		return fmt.Errorf("%d fields where 9 or more should be", len(f))
	}
	var n [7]int64
	for i, column := range []int{0, 2, 3, 4, 5, 8} {
		if len(f[column]) == 0 {
			continue
		}
		v, err := strconv.ParseInt(string(f[column]), 10, 64)
		if err != nil {
			return err
		}
		n[i] = v
	}
	e := event{
		start: n[0], length: n[1], conn: uint64(n[2]), sent: uint64(n[3]), examined: uint64(n[4]),
		query: int32(n[5]), request: -1,
	}
	if e.query < 0 || int(e.query) >= len(r.Texts) {
		return fmt.Errorf("fingerprint %d of %d", e.query, len(r.Texts))
	}
	e.stamp = e.start + e.length
	if len(f[6]) > 0 {
		var err error
		if e.stamp, err = parseMicros(f[6]); err != nil {
			return err
		}
	}
	if i, known := byID[string(f[7])]; known {
		e.request = i
	}
	if len(f) > 9 {
		e.literals = literalsOf(f[9])
	}
	r.events = append(r.events, e)
	return nil
}

// literalsOf reads the column of literals, which are divided by |, by way of a
// statement that has them.
func literalsOf(column []byte) []uint64 {
	var sql []byte
	for value := range bytes.SplitSeq(column, []byte("|")) {
		sql = append(sql, '\'')
		sql = append(sql, bytes.ReplaceAll(value, []byte("'"), []byte("''"))...)
		sql = append(sql, "' "...)
	}
	return join.Literals(nil, sql)
}

// parseMicros reads seconds with a fraction.
func parseMicros(s []byte) (int64, error) {
	whole, fraction, _ := strings.Cut(string(s), ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, err
	}
	us, err := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	return sec*1e6 + us, err
}

// resolve gives BEGIN and COMMIT, which carry no request id, that of the next and
// of the last statement on their connection.
func (r *Recording) resolve() {
	order := make([]int, len(r.events))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := &r.events[order[a]], &r.events[order[b]]
		if x.conn != y.conn {
			return x.conn < y.conn
		}
		return x.start < y.start
	})
	for k, i := range order {
		info := join.InfoOf([]byte(r.Texts[r.events[i].query]))
		beside := -1
		if info.Begin {
			beside = k + 1
		} else if info.Commit || info.Rollback {
			beside = k - 1
		}
		if r.events[i].request >= 0 || beside < 0 || beside >= len(order) {
			continue
		}
		if e := &r.events[order[beside]]; e.conn == r.events[i].conn {
			r.events[i].request = e.request
		}
	}
}

// Span returns the time from the first to the last of the recording.
func (r *Recording) Span() (from, to int64) {
	for i := range r.requests {
		if q := &r.requests[i]; i == 0 {
			from, to = q.Start, q.End
		} else {
			from, to = min(from, q.Start), max(to, q.End)
		}
	}
	return from, to
}

// Input returns what the join is given of the time from..to; 0, 0 for all.
func (r *Recording) Input(form Form, from, to int64) join.Input {
	in := join.Input{Endpoints: r.Endpoints, From: from, To: to, Resolution: time.Microsecond}
	for _, text := range r.Texts {
		in.Queries = append(in.Queries, join.InfoOf([]byte(text)))
	}
	for i := range r.requests {
		in.Requests = append(in.Requests, r.requests[i].Request)
	}
	for i := range r.events {
		e := &r.events[i]
		je := join.Event{
			Start: e.start, End: e.start + e.length, Seq: int64(i), Conn: e.conn, Query: e.query,
			RowsSent: e.sent, RowsExamined: e.examined, Literals: e.literals,
		}
		if form == Tail {
			je.Start, je.End, je.Slack = e.stamp-e.length, e.stamp, tailSlack
		}
		in.Events = append(in.Events, je)
	}
	if form == Tail {
		in.Resolution = 5 * time.Millisecond
	}
	return in
}
