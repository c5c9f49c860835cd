package pasted

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// firstFindings are those that people read; of the true defects leastRecall are among them.
const (
	firstFindings = 5
	leastRecall   = 0.85
)

// setVars make a server log each statement with what it examined; its rows need not survive
// a power cut.
func setVars(kind string) map[string]string {
	vars := sandboxtest.Unsafe().Vars
	vars["slow_query_log"], vars["long_query_time"] = "ON", "0"
	if kind == sandbox.KindMariaDB {
		vars["log_slow_verbosity"] = "full"
	} else {
		vars["log_slow_extra"] = "ON"
	}
	return vars
}

// TestStatementSets runs sets of statements that were made for the purpose, with their truth
// written first, on real servers with their slow logs: the defects are found, nothing else
// is, and the server uses each index that is proposed. One set on MariaDB; all, and on MySQL
// too, where KASOKU_LONG=1.
func TestStatementSets(t *testing.T) {
	names := []string{"library"}
	long := os.Getenv("KASOKU_LONG") != ""
	if long {
		names = []string{"auction", "chat", "clinic", "hotel", "library", "museum", "parcels", "roster", "school",
			"tickets", "tracker", "workshop"}
	}
	on := func(t *testing.T, srv *sandbox.Server) {
		hits, defects := 0, 0
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				h, d := newSet(t, srv, name).check()
				hits, defects = hits+h, defects+d
			})
		}
		t.Logf("recall %d of %d in the first %d of each set", hits, defects, firstFindings)
		if float64(hits) < leastRecall*float64(defects) {
			t.Errorf("recall %d of %d", hits, defects)
		}
	}
	t.Run(sandbox.KindMariaDB, func(t *testing.T) {
		on(t, sandboxtest.MariaDB(t, sandbox.Options{Vars: setVars(sandbox.KindMariaDB)}))
	})
	if long {
		t.Run(sandbox.KindMySQL97, func(t *testing.T) {
			on(t, sandboxtest.MySQL97(t, sandbox.Options{Vars: setVars(sandbox.KindMySQL97)}))
		})
	}
}

// A set is one application in small.
type set struct {
	t         *testing.T
	s         *server
	log       string
	name      string
	endpoints []*kasoku.Endpoint
	blocks    [][]string                // of the endpoints: their statements
	calls     map[string]map[int]uint64 // by fingerprint: how often which endpoint ran it
	sent      map[string][]string       // by fingerprint: a few texts
	kept      map[string]*sql.Stmt      // prepared once
	random    *rand.Rand
}

func (s *set) read(kind string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "sets", s.name+"."+kind))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// digits are the rows of which numbers is made.
const digits = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"

func newSet(t *testing.T, srv *sandbox.Server, name string) *set {
	s := &set{t: t, s: newServer(t, srv), log: srv.SlowLog, name: name, calls: map[string]map[int]uint64{}, sent: map[string][]string{},
		kept: map[string]*sql.Stmt{}, random: rand.New(rand.NewPCG(1, 2))}
	sandboxtest.Exec(t, s.s.db, "CREATE TABLE numbers (n INT PRIMARY KEY)", "INSERT INTO numbers SELECT n FROM (SELECT "+
		"1 + a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n FROM "+digits+" a, "+digits+" b, "+digits+" c, "+
		digits+" e, "+digits+" f) AS made WHERE n <= 40000")
	text := sequences().ReplaceAllString(s.read("sql"), "(SELECT n AS seq FROM numbers WHERE n <= $1) AS made")
	for q := range strings.SplitSeq(strings.TrimSpace(text), ";\n") {
		sandboxtest.Exec(t, s.s.db, q)
	}
	sandboxtest.Exec(t, s.s.db, "DROP TABLE numbers")
	return s
}

var sequences = lazyregexp.New(`seq_1_to_(\d+)`)

// play sends all requests in an order that is mixed, on one connection, and returns the
// classes of the slow log.
func (s *set) play() []kasoku.Query {
	s.t.Helper()
	info, err := os.Stat(s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	var order []int
	for line := range strings.Lines(s.read("requests")) {
		line = strings.TrimSpace(line)
		last := len(s.endpoints) - 1
		if !strings.HasPrefix(line, "GET ") && !strings.HasPrefix(line, "POST ") {
			s.blocks[last] = append(s.blocks[last], line)
			continue
		}
		words := strings.Fields(line)
		n, _ := strconv.Atoi(words[2])
		s.endpoints = append(s.endpoints, &kasoku.Endpoint{Method: words[0], Route: words[1], Count: uint64(n),
			Codes: map[int]uint64{200: uint64(n)}})
		s.blocks = append(s.blocks, nil)
		order = append(order, slices.Repeat([]int{last + 1}, n)...)
	}
	s.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	s.s.db.SetMaxOpenConns(1)
	for _, e := range order {
		s.serve(e)
	}
	for _, st := range s.kept {
		st.Close()
	}
	s.s.db.SetMaxOpenConns(0)
	table, _, err := slowlog.CollectAll(s.t.Context(), []lines.Input{{Path: s.log, From: info.Size()}},
		slowlog.Options{KeepRaw: true}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(table.Queries(), func(q kasoku.Query) bool { return s.calls[q.Fingerprint] == nil })
}

// serve runs one request. A line may begin with what is done with its statement: "each" for
// each row of the statement before, "again 8" as often, "kept" prepared once for all requests.
func (s *set) serve(endpoint int) {
	s.t.Helper()
	e, began := s.endpoints[endpoint], time.Now()
	var rows answer
	for _, line := range s.blocks[endpoint] {
		text, n, kept := line, 1, false
		looped, loop := strings.CutPrefix(text, "each ")
		if loop {
			text, n = looped, len(rows.rows)
		} else if rest, again := strings.CutPrefix(text, "again "); again {
			times, rest, _ := strings.Cut(rest, " ")
			text = s.fill(rest)
			n, _ = strconv.Atoi(times)
		} else {
			text, kept = strings.CutPrefix(text, "kept ")
		}
		for i := range n {
			q := text
			for k, c := range rows.columns {
				if loop {
					q = strings.ReplaceAll(q, "{"+c+"}", rows.rows[i][k])
					q = strings.ReplaceAll(q, "{"+c+":hex}", fmt.Sprintf("x'%x'", rows.rows[i][k]))
				}
			}
			got, err := s.send(q, kept, endpoint)
			if err != nil {
				s.t.Fatal(err)
			}
			e.Bytes += uint64(len(fmt.Sprint(got.rows)))
			if !loop {
				rows = got
			}
		}
	}
	e.Total += time.Since(began)
}

// send runs one statement and counts it for its endpoint.
func (s *set) send(text string, kept bool, endpoint int) (answer, error) {
	filled := s.fill(text)
	var shaper sqlshape.Shaper
	key := string(shaper.Fingerprint([]byte(filled)))
	if s.calls[key] == nil {
		s.calls[key] = map[int]uint64{}
	}
	s.calls[key][endpoint]++
	if len(s.sent[key]) < mostSent && !slices.Contains(s.sent[key], filled) {
		s.sent[key] = append(s.sent[key], filled)
	}
	if !kept {
		return s.s.ask(filled)
	}
	var args []any
	prepared := keptValues().ReplaceAllStringFunc(text, func(m string) string {
		args = append(args, argument(s.fill(m)))
		return "?"
	})
	st, err := s.kept[prepared], error(nil)
	if st == nil {
		if st, err = s.s.db.Prepare(prepared); err != nil {
			return answer{}, err
		}
		s.kept[prepared] = st
	}
	rows, err := st.Query(args...)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", prepared, err)
	}
	return readAnswer(rows)
}

var (
	ranges     = lazyregexp.New(`\{(\d+)\.\.(\d+)(?::(\w+))?\}`)
	keptValues = lazyregexp.New(`'[^'{]*\{[^}]*\}[^']*'|\{[^}]*\}`)
)

// fill puts values into the places of a statement: {1..9} a number, and its forms as keys
// of applications: {1..9:uuid}, {1..9:hex}, {1..9:seller}, {1..99:bytes}.
func (s *set) fill(text string) string {
	return ranges().ReplaceAllStringFunc(text, func(m string) string {
		p := ranges().FindStringSubmatch(m)
		a, _ := strconv.Atoi(p[1])
		b, _ := strconv.Atoi(p[2])
		n := a + s.random.IntN(b-a+1)
		switch p[3] {
		case "uuid":
			return fmt.Sprintf("0b9f3c1e-7a52-4d1b-9c00-%012d", n)
		case "hex":
			return fmt.Sprintf("x'%x'", keyOf(fmt.Sprint(n)))
		case "seller":
			return fmt.Sprintf("x'%x'", keyOf(fmt.Sprint("s", n)))
		case "bytes": // a semicolon in each: what asks a server for plans has to see that it ends nothing
			for ; !bytes.Contains(keyOf(fmt.Sprint(n)), []byte(";")); n = a + s.random.IntN(b-a+1) {
			}
			return "_binary'" + escaped.Replace(string(keyOf(fmt.Sprint(n)))) + "'"
		}
		return strconv.Itoa(n)
	})
}

// keyOf is the key of 16 bytes that UNHEX(LEFT(SHA2(…, 256), 32)) has.
func keyOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:16]
}

// escaped is as drivers write bytes into statements.
var escaped = strings.NewReplacer("\\", `\\`, "'", `\'`, `"`, `\"`, "\x00", `\0`, "\n", `\n`, "\r", `\r`, "\x1a", `\Z`)

// argument is the value of a literal, as it is bound.
func argument(literal string) any {
	if digits, ok := strings.CutPrefix(literal, "x'"); ok {
		b, _ := hex.DecodeString(strings.Trim(digits, "'"))
		return b
	}
	if n, err := strconv.Atoi(literal); err == nil {
		return n
	}
	return strings.Trim(literal, "'")
}

// check holds what is found against the truth, and returns how many of the defects are among
// the first findings.
func (s *set) check() (hits, defects int) {
	queries := s.play()
	for i := range queries {
		queries[i].Schema = schema
	}
	rec := s.s.run(queries...).Recording
	rec.Endpoints, rec.Callers = nil, nil
	for _, e := range s.endpoints {
		e.Seconds = map[int]kasoku.EndpointSecond{1: {Count: e.Count}}
		rec.Endpoints = append(rec.Endpoints, *e)
	}
	for i := range queries {
		q := &queries[i]
		var all uint64
		for _, calls := range s.calls[q.Fingerprint] {
			all += calls
		}
		for at, calls := range s.calls[q.Fingerprint] {
			e := s.endpoints[at]
			per := float64(calls) / float64(e.Count)
			rec.Callers = append(rec.Callers, kasoku.Caller{QueryID: q.ID, Method: e.Method, Route: e.Route, Requests: e.Count,
				PerRequest: per, Least: per, Most: per, Calls: float64(calls), Share: float64(calls) / float64(all),
				Class: kasoku.CallerConfirmed, Source: kasoku.FromProbe})
		}
	}
	d := diagnose.Diagnose(diagnose.NewCase(rec, nil), rules.All())
	if hits, defects = s.judge(d.Findings); hits < defects {
		for _, x := range d.Silences {
			if x.Near > 0 {
				s.t.Logf("silent: %s: %s", x.ID, x.Reason)
			}
		}
	}
	s.apply(d.Findings)
	s.use(d.Findings, rec)
	return hits, defects
}

// A claim is a line of the truth.
type claim struct{ kind, rules, object, column string }

func (s *set) truth() (out []claim) {
	for line := range strings.Lines(s.read("truth")) {
		words := strings.Fields(line)
		if len(words) < 3 || words[0] == "#" {
			continue
		}
		c := claim{kind: words[0], rules: words[1], object: strings.Join(words[2:], " "), column: "-"}
		if c.kind == "defect" {
			c.object, c.column = strings.Join(words[2:len(words)-1], " "), words[len(words)-1]
		}
		out = append(out, c)
	}
	return out
}

// fits reports whether a finding is what is claimed.
func (c claim) fits(f *kasoku.Finding) bool {
	if c.rules != "any" && !slices.Contains(strings.Split(c.rules, "|"), f.ID) {
		return false
	}
	if !slices.Contains(strings.Split(strings.ReplaceAll(c.object, "+", " "), "|"), f.Object.Name) {
		return false
	}
	return c.column == "-" || slices.ContainsFunc(f.Fixes, func(x kasoku.Fix) bool {
		return strings.Contains(x.Code, c.column) || c.rules == "any" && strings.Contains(x.Text, c.column)
	})
}

// judge holds findings against the truth; each of them is what one claim says.
func (s *set) judge(found []kasoku.Finding) (hits, defects int) {
	truth := s.truth()
	claimed := map[int]bool{}
	for _, c := range truth {
		if c.kind != "defect" {
			continue
		}
		at := -1
		for i := range found {
			if at < 0 && !claimed[i] && c.fits(&found[i]) {
				at, claimed[i] = i, true
			}
		}
		if defects++; at >= 0 && at < firstFindings {
			hits++
		} else {
			s.t.Logf("not among the first %d: %+v (%d)", firstFindings, c, at+1)
		}
	}
	for i := range found {
		f := &found[i]
		s.t.Logf("%d %s %s %s: %s | %s", i+1, f.ID, f.Severity, f.Object, f.Title, f.Fixes[0].Code)
		known := claimed[i]
		for _, c := range truth {
			switch {
			case c.kind == "never":
				s.never(c, f)
			case !c.fits(f) || claimed[i]:
			case c.kind == "trap":
				s.t.Errorf("what is right as it is: %s %s: %s", f.ID, f.Object, f.Title)
			default:
				known = true
			}
		}
		if f.Severity != kasoku.Info && !known {
			s.t.Errorf("a false finding: %s %s: %s", f.ID, f.Object, f.Title)
		}
	}
	return hits, defects
}

// never reports an index on a column that is not to have one.
func (s *set) never(c claim, f *kasoku.Finding) {
	for _, x := range f.Fixes {
		for _, e := range x.Edits {
			_, columns, _ := strings.Cut(e.Do, " (")
			if f.Object.Name == c.rules && strings.Contains(columns, c.object) {
				s.t.Errorf("an index on %s of %s: %s", c.object, c.rules, e.Do)
			}
		}
	}
}

// use creates the indexes that are proposed and asks the server whether it uses each.
func (s *set) use(found []kasoku.Finding, rec *kasoku.Recording) {
	var names []string
	for _, f := range found {
		for _, e := range f.Fixes[0].Edits {
			if e.Kind == kasoku.EditIndex {
				sandboxtest.Exec(s.t, s.s.db, e.Do)
				_, name, _ := strings.Cut(e.Do, "INDEX ")
				name, _, _ = strings.Cut(name, " ON ")
				names = append(names, bareName(name))
			}
		}
	}
	used := map[string]bool{}
	var notes []string // of plans that a busy host did not give in time
	var seen []string  // what the plans read, and by which key
	for _, p := range s.s.run(rec.Queries...).Plans {
		if p.Note != "" {
			notes = append(notes, p.QueryID+": "+p.Note)
		}
		for _, r := range p.Rows {
			used[r.Key] = true
			seen = append(seen, p.QueryID+" "+r.Table+" "+r.Access+" "+r.Key)
		}
	}
	for _, n := range names {
		if !used[n] {
			s.t.Errorf("the server uses index %s for no statement; without a plan: %q; plans: %q", n, notes, seen)
		}
	}
}
