package rules

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/diagnose/rules/driver"
	"github.com/kasoku/kasoku/diagnose/rules/durability"
	"github.com/kasoku/kasoku/diagnose/rules/index"
	"github.com/kasoku/kasoku/diagnose/rules/operation"
	"github.com/kasoku/kasoku/diagnose/rules/query"
)

// saysOf returns what a rule says: object, title, cause, severity, confidence, code.
func saysOf(t *testing.T, r diagnose.Rule, c *diagnose.Case) string {
	t.Helper()
	found, silent := r.Check(c)
	if len(found) == 0 {
		if len(silent) == 0 || silent[0].Near >= 1 {
			t.Errorf("%s: silences %+v", r.ID(), silent)
			return ""
		}
		if silent[0].Blind {
			return "blind: " + silent[0].Reason
		}
		return "quiet: " + silent[0].Reason
	}
	var b strings.Builder
	for _, f := range found {
		if n := len([]rune(f.Title)); n > wording.MaxTitle {
			t.Errorf("%s: title of %d: %s", r.ID(), n, f.Title)
		}
		if len(f.Evidence) == 0 || len(f.Fixes) == 0 || f.Expect == "" || f.Verify == "" || f.ID != r.ID() {
			t.Errorf("%s: incomplete: %+v", r.ID(), f)
		}
		b.WriteString(f.Object.String() + "\n" + f.Title + "\n" + f.Cause + "\n" + string(f.Severity) + " " + string(f.Confidence.Level) + "\n" + f.Fixes[0].Code + "\n")
	}
	return b.String()
}

// sayAll checks that a rule says all of the parts.
func sayAll(t *testing.T, r diagnose.Rule, c *diagnose.Case, parts ...string) {
	t.Helper()
	text := saysOf(t, r, c)
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s does not say %q:\n%s", r.ID(), p, text)
		}
	}
}

const ordersGet, ordersPost = "GET /v1/orders", "POST /v1/orders"

func TestUnusedRows(t *testing.T) {
	r := query.UnusedRows{}
	q := class("H", "SELECT * FROM visits WHERE shop = ? ORDER BY at DESC", 1000, 400, 30*time.Second)
	sized := func(c *diagnose.Case, bytes uint64) *diagnose.Case {
		e := &c.Endpoints[0]
		e.Bytes, e.MinBytes, e.MaxBytes = 1000*bytes, bytes-10, bytes+10
		return c
	}
	sayAll(t, r, sized(queryRun(ordersGet, []kasoku.Query{q}, runBy("H", 1, kasoku.CallerHigh)), 80),
		"endpoint GET /v1/orders", "reads 400 rows a call and sends few", "finding high")
	sayAll(t, r, sized(queryRun(ordersGet, []kasoku.Query{q}, runBy("H", 1, kasoku.CallerHigh)), 4000), "quiet: ", "sends 400 rows a call")
	sayAll(t, r, sized(queryRun(ordersGet, []kasoku.Query{q}, runBy("H", 1, kasoku.CallerPossible)), 80),
		"endpoint GET /v1/orders", "may read 400 rows a call and send few", "finding medium")
	partly := sized(queryRun(ordersGet, []kasoku.Query{q}, runBy("H", 1, kasoku.CallerPossible)), 80)
	partly.Callers[0].Share = 0.4
	sayAll(t, r, partly, "quiet: no SELECT")
	limited := q
	limited.Sample += " LIMIT ?"
	sayAll(t, r, sized(queryRun(ordersGet, []kasoku.Query{limited}, runBy("H", 1, kasoku.CallerHigh)), 80), "quiet: no SELECT")
	sayAll(t, r, queryRun(ordersGet, nil), "blind: no slow log")
	// An answer of 2 kB has 400 rows when it is compressed, as any may be: not where nginx is
	// known to compress none.
	packed := sized(queryRun(ordersGet, []kasoku.Query{q}, runBy("H", 1, kasoku.CallerHigh)), 2000)
	sayAll(t, r, packed, "quiet: ")
	packed.Configs = []kasoku.Config{{Kind: "nginx", Name: "/etc/nginx/nginx.conf", Text: "http { server { } }"}}
	sayAll(t, r, packed, "reads 400 rows a call and sends few")
	packed.Configs[0].Text = "http { gzip on; }"
	sayAll(t, r, packed, "quiet: ")
	// Answers without rows, as redirects, are small for another reason.
	moved := sized(queryRun(ordersGet, []kasoku.Query{q}, runBy("H", 1, kasoku.CallerHigh)), 80)
	moved.Endpoints[0].Codes = map[int]uint64{200: 100, 302: 900}
	sayAll(t, r, moved, "quiet: ", "answers of GET /v1/orders have 800 bytes")
	// Where a tenth of an endpoint's requests run it, as of an API with one path, its largest answers
	// may be those.
	some := sized(queryRun(ordersGet, []kasoku.Query{q}, runBy("H", 0.1, kasoku.CallerHigh)), 80)
	some.Endpoints[0].MaxBytes = 4000
	sayAll(t, r, some, "quiet: ", "answers of GET /v1/orders have 4,000 bytes")
	some.Endpoints[0].MaxBytes = 90
	sayAll(t, r, some, "reads 400 rows a call and sends few", "the largest answer has 90 B")
	// Rows that grow over the run: those of its last third are held against the largest answer, where the means
	// of both say nothing.
	grown := class("H", q.Sample, 900, 250, 30*time.Second)
	grown.Seconds = map[int]kasoku.QuerySecond{}
	for s := range 9 {
		grown.Seconds[s] = kasoku.QuerySecond{Calls: 100, Rows: uint64(100 * (s/3*200 + 50))}
	}
	late := sized(queryRun(ordersGet, []kasoku.Query{grown}, runBy("H", 1, kasoku.CallerHigh)), 2400)
	late.Configs = []kasoku.Config{{Kind: "nginx", Name: "/etc/nginx/nginx.conf", Text: "http { server { } }"}}
	sayAll(t, r, late, "reads 450 rows of visits, in the last third of the run, and the largest answer of the run has 2.4 kB")
	late.Endpoints[0].MaxBytes = 3601
	sayAll(t, r, late, "quiet: ")
	// All of a table in an order, of which a page shows the first, has one text too; settings have no order, and
	// a menu has few rows.
	list := class("H", "SELECT id, body FROM posts ORDER BY created_at DESC", 1000, 10_000, 30*time.Second)
	list.Repeated = 1000
	of := func(q kasoku.Query) *diagnose.Case {
		return sized(queryRun(ordersGet, []kasoku.Query{q}, runBy("H", 1, kasoku.CallerConfirmed)), 80)
	}
	sayAll(t, r, of(list), "reads 10,000 rows a call and sends few")
	settings, menu := list, list
	settings.Fingerprint = "select name, value from settings"
	menu.RowsSent = 1000 * 499
	sayAll(t, r, of(settings), "quiet: no SELECT")
	sayAll(t, r, of(menu), "quiet: no SELECT")
	// Settings that each page loads whole.
	q.Repeated = 900
	sayAll(t, r, sized(queryRun(ordersGet, []kasoku.Query{q}, runBy("H", 1, kasoku.CallerHigh)), 80), "quiet: no SELECT")
}

func TestAggregate(t *testing.T) {
	r := query.Aggregate{}
	q := class("S", "SELECT IFNULL(SUM(p.score), ?) FROM papers p JOIN pupils u ON u.id = p.pupil GROUP BY u.id", 1000, 10, 30*time.Second)
	q.RowsExamined, q.Tables = 20_000*1000, []string{"papers", "pupils"}
	w := class("W", "INSERT INTO papers (pupil, score) VALUES (?, ?)", 100, 0, time.Second)
	w.Tables = []string{"papers"}
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q, w}, runBy("S", 1, kasoku.CallerHigh)), "endpoint GET /v1/orders", "adds up 20,000 rows at each call", "changes 0.10 times a call", "finding")
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q}), "table papers", "A sum over papers adds up 20,000 rows at each call")
	w.Calls = 2100
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q, w}), "quiet: a sum over papers")
	// Few calls say something only if they are long, and an endpoint waits for them.
	w.Calls, q.Calls, q.RowsExamined, q.RowsSent, q.Total = 1, 3, 3*20_000, 30, 24*time.Second
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q, w}, runBy("S", 1, kasoku.CallerHigh)), "endpoint GET /v1/orders", "adds up 20,000 rows at each call")
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q, w}), "quiet: no SELECT")
	q.Total = 3 * 249 * time.Millisecond
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q, w}, runBy("S", 1, kasoku.CallerHigh)), "quiet: no SELECT")
	q.Calls = 2
	q.Total = 24 * time.Second
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q, w}, runBy("S", 1, kasoku.CallerHigh)), "quiet: no SELECT")
	q.Calls, q.RowsSent, q.Total = 1000, 10_000, 30*time.Second
	w.Calls, q.RowsExamined = 100, 1900*1000
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q, w}), "quiet: a sum over papers")
	q.RowsExamined, q.Total = 20_000*1000, time.Second
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q, w}), "quiet: ", "1.0 % of request time")
	// Groups without a figure are distinct rows, as WordPress asks for the posts of a category.
	q = class("S", "SELECT p.id FROM papers p LEFT JOIN pupils u ON u.id = p.pupil WHERE u.room IN (?) GROUP BY p.id LIMIT ?", 1000, 10, 30*time.Second)
	q.RowsExamined, q.Tables = 20_000*1000, []string{"papers", "pupils"}
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q}), "quiet: no SELECT adds up")
}

// TestAggregate_Derived: groups of all, of which the rest of the statement keeps one, are to be made of the rows that
// are asked for; where the derived table is all of the statement, or reads by the outer row, nothing is said of that.
func TestAggregate_Derived(t *testing.T) {
	q := class("S", "SELECT d.name FROM rooms d LEFT JOIN (SELECT COUNT(*) AS n, room FROM papers GROUP BY room) p ON p.room = d.name WHERE d.name = ?", 1000, 1, 30*time.Second)
	q.RowsExamined, q.Tables = 20_000*1000, []string{"rooms", "papers"}
	check := func(outer, derived, access string) kasoku.Finding {
		t.Helper()
		c := queryRun(ordersGet, []kasoku.Query{q}, runBy("S", 1, kasoku.CallerHigh))
		c.Plans = []kasoku.Plan{{QueryID: "S", Rows: []kasoku.PlanRow{{Select: "PRIMARY", Table: outer, Access: "const", Rows: 1},
			{Select: derived, Table: "papers", Access: access, Rows: 20_000}}}}
		found, silent := query.Aggregate{}.Check(diagnose.NewCase(c.Recording, nil))
		if len(found) != 1 {
			t.Fatalf("%+v", silent)
		}
		return found[0]
	}
	f := check("d", "DERIVED", "index")
	if fix := f.Fixes[0]; fix.Text != "Group only the rows that are asked for" || !strings.Contains(fix.Note, "all of papers") ||
		!strings.HasPrefix(f.Fixes[1].Text, "Or keep the result") {
		t.Errorf("%+v", f.Fixes)
	}
	for _, plan := range [][3]string{{"<derived2>", "DERIVED", "index"}, {"d", "LATERAL DERIVED", "ref"}, {"d", "DERIVED", "ref"}} {
		if f := check(plan[0], plan[1], plan[2]); !strings.HasPrefix(f.Fixes[0].Text, "Keep the result") {
			t.Errorf("%v: %s", plan, f.Fixes[0].Text)
		}
	}
}

// TestAggregate_Sought: what is looked for in many rows is not added up over them: an index leaves few,
// and so does a column without the function that hides it.
func TestAggregate_Sought(t *testing.T) {
	sum := func(where string) *diagnose.Case {
		q := class("S", "SELECT pupil, AVG(score) FROM papers WHERE "+where+" GROUP BY pupil", 1000, 10, 30*time.Second)
		q.RowsExamined = 20_000 * 1000
		c := queryRun(ordersGet, []kasoku.Query{q})
		c.Tables = []kasoku.TableDef{{Name: "papers", Rows: 20_000, DataBytes: 4 << 20, Engine: "InnoDB",
			Create: "CREATE TABLE `papers` (\n  `id` int NOT NULL,\n  `pupil` int NOT NULL,\n  `course_id` int NOT NULL,\n" +
				"  `kind` int NOT NULL,\n  `score` int NOT NULL,\n  `day` datetime NOT NULL,\n" +
				"  PRIMARY KEY (`id`)\n) ENGINE=InnoDB",
			Columns: []kasoku.ColumnSample{{Name: "course_id", Rows: 2000, Distinct: 1500, Most: 3},
				{Name: "kind", Rows: 2000, Distinct: 2, Most: 1500}}}}
		return c
	}
	sayAll(t, query.Aggregate{}, sum("course_id = ?"), "quiet: CREATE INDEX ", "leaves few of the 20,000 rows of papers")
	sayAll(t, query.Aggregate{}, sum("DATE(day) = ?"), "quiet: day without DATE leaves few")
	sayAll(t, query.Aggregate{}, sum("kind = ?"), "A sum over papers adds up 20,000 rows at each call")
	sayAll(t, query.Aggregate{}, sum("score > ?"), "A sum over papers adds up 20,000 rows at each call")
}

func TestFoundRows(t *testing.T) {
	r := query.FoundRows{}
	page := func(where, extra string) *diagnose.Case {
		q := class("F", "SELECT SQL_CALC_FOUND_ROWS id FROM papers WHERE "+where+" ORDER BY day DESC LIMIT ?", 1000, 10, 30*time.Second)
		q.RowsExamined = 20_000 * 1000
		rec := queryRun(ordersGet, []kasoku.Query{q})
		rec.Tables = []kasoku.TableDef{{Name: "papers", Rows: 20_000, Engine: "InnoDB",
			Create: "CREATE TABLE `papers` (\n  `id` int NOT NULL,\n  `kind` int,\n  `title` text,\n  `day` date,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB"}}
		rec.Plans = []kasoku.Plan{{QueryID: "F", Rows: []kasoku.PlanRow{{Table: "papers", Access: "ref", Extra: extra}}}}
		return rec
	}
	sayAll(t, r, page("kind = ?", "Using where; Using filesort"), "table papers", "finds 20,000 rows of papers for a page of 10", "finding")
	// The page alone reads them all as well: two statements take twice as long.
	sayAll(t, r, page("kind = ?", "Using where; Using temporary; Using filesort"), "quiet: ", "reads all rows without the words")
	sayAll(t, r, page("(title LIKE ?)", "Using where; Using filesort"), "quiet: ", "no index finds those that fit")
}

// TestNeedlessJoin: what a plan says is read counts, and not what the server leaves out by itself.
func TestNeedlessJoin(t *testing.T) {
	r := query.NeedlessJoin{}
	run := func(text string, plan ...kasoku.PlanRow) *diagnose.Case {
		c := queryRun(ordersGet, []kasoku.Query{class("J", text, 1000, 1, 30*time.Second)})
		c.Tables = []kasoku.TableDef{
			{Name: "papers", Create: "CREATE TABLE `papers` (\n  `id` int NOT NULL,\n  `kind` int,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB",
				Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}}},
			{Name: "notes", Create: "CREATE TABLE `notes` (\n  `id` int NOT NULL,\n  `paper` int,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB",
				Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}}},
		}
		if len(plan) > 0 {
			c.Plans = []kasoku.Plan{{QueryID: "J", Rows: plan}}
		}
		return c
	}
	const page, one = "SELECT COUNT(DISTINCT p.id) FROM papers p LEFT JOIN notes n ON n.paper = p.id WHERE p.kind = ?",
		"SELECT COUNT(*) FROM notes n LEFT JOIN papers p ON p.id = n.paper"
	papers, notes := kasoku.PlanRow{Select: "SIMPLE", Table: "p", Rows: 100, Filtered: 100}, kasoku.PlanRow{Select: "SIMPLE", Table: "n", Rows: 3, Filtered: 100}
	sayAll(t, r, run(page, papers, notes), "table papers", "A COUNT over papers joins notes for nothing", "SELECT COUNT(1) FROM papers AS p WHERE p.kind = ?;", "DISTINCT count once")
	sayAll(t, r, run(page), "table papers", "finding medium")
	sayAll(t, r, run(one, notes, papers), "table notes", "by a unique key")
	sayAll(t, r, run(one, notes), "quiet: ", "the server leaves out by itself")
	sayAll(t, r, run("SELECT COUNT(*) FROM papers p LEFT JOIN notes n ON n.paper = p.id", papers, notes), "quiet: ", "no COUNT has a join")
	bare := run(page)
	bare.Tables = nil
	sayAll(t, r, bare, "blind: ")
}

func TestRecount(t *testing.T) {
	r := query.Recount{}
	q := class("C", "SELECT COUNT(*) FROM rentals WHERE rent = ?", 1000, 1, 30*time.Second)
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q}), "blind: ")
	q.Distinct = 20
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q}), "table rentals", "counted again 50 times for each value", "finding", "The numbers are mostly those of before.")
	counted, written := q, class("W", "INSERT INTO rentals (rent) VALUES (?)", 900, 0, time.Second)
	counted.Tables, written.Tables = []string{"rentals"}, []string{"rentals"}
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{counted, written}), "A write may change them")
	by := func(method string, share float64, class kasoku.CallerClass, with ...string) kasoku.Caller {
		return kasoku.Caller{QueryID: "C", Method: method, Route: "/v1/orders", Class: class, Share: share, PerRequest: 1,
			Calls: 1000 * share, Requests: 100, With: with}
	}
	said := func(object, note string, callers ...kasoku.Caller) {
		t.Helper()
		c := queryRun(ordersGet, []kasoku.Query{q})
		c.Callers = callers
		found, _ := r.Check(c)
		if len(found) != 1 || found[0].Object.String() != object || !strings.Contains(found[0].Evidence[0].Note, note) {
			t.Errorf("%+v, want %s, %s", found, object, note)
		}
	}
	said("endpoint GET /v1/orders", "confirmed", by("GET", 0.97, kasoku.CallerConfirmed))
	said("table rentals", "run by POST /v1/orders 55.0 %, GET /v1/orders 40.0 %", by("GET", 0.4, kasoku.CallerConfirmed),
		by("POST", 0.55, kasoku.CallerConfirmed))
	said("table rentals", "run by GET /v1/orders 40.0 %, of the rest it is not known", by("GET", 0.4, kasoku.CallerHigh),
		by("POST", 0.5, kasoku.CallerPossible))
	said("table rentals", "which endpoints run them is not known", by("GET", 1, kasoku.CallerGroup, "GET /me"))
	said("table rentals", "which endpoints run them is not known", by("GET", 1, kasoku.CallerPossible))
	said("table rentals", "which endpoints run them is not known")
	q.Distinct = 21
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q}), "quiet: a COUNT over rentals")
	q.Distinct, q.Calls = 19, 900
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q}), "quiet: ", "47 times each")
	q.Sample = "SELECT kind, COUNT(*) FROM rentals GROUP BY kind"
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q}), "quiet: no SELECT COUNT")
}

// grown gives a class rows a call by the second.
func grown(q kasoku.Query, rows ...uint64) kasoku.Query {
	q.Seconds = map[int]kasoku.QuerySecond{}
	for s, n := range rows {
		q.Seconds[s] = kasoku.QuerySecond{Calls: 20, Rows: 20 * n, Total: time.Second}
	}
	return q
}

func TestGrowingRows(t *testing.T) {
	r := query.GrowingRows{}
	q := class("G", "SELECT * FROM visits WHERE shop = ?", 1000, 100, 30*time.Second)
	w := class("W", "INSERT INTO visits (shop) VALUES (?)", 300, 0, time.Second)
	q.Tables, w.Tables = []string{"visits"}, []string{"visits"}
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{q}), "blind: ")
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{grown(q, 10, 15, 20, 25, 30, 40), w}, runBy("G", 1, kasoku.CallerHigh)),
		"endpoint GET /v1/orders", "Rows read of visits grow during the run: 13 → 35 a call", "finding")
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{grown(q, 20, 20, 25, 25, 35, 39), w}), "quiet: rows a call of visits go from 20 to 37")
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{grown(q, 10, 10, 9, 9, 35, 39), w}), "quiet: no SELECT")
	// Nothing is written, or only to another table; and a longer list finds more rows.
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{grown(q, 10, 15, 20, 25, 30, 40)}), "quiet: no SELECT")
	other := w
	other.Tables = []string{"shops"}
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{grown(q, 10, 15, 20, 25, 30, 40), other}), "quiet: no SELECT")
	listed := q
	listed.Fingerprint = "select * from visits where shop in(?+)"
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{grown(listed, 10, 15, 20, 25, 30, 40), w}), "blind: ")
	ranged := q
	ranged.Sample += " AND at >= ?"
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{grown(ranged, 10, 20, 30, 40, 50, 60), w}), "blind: ")
	// An attempt: what grew is gone, and requests take as long as before, or longer.
	loaded := func(c *diagnose.Case, d time.Duration) *kasoku.Recording {
		for s := range 6 {
			c.Seconds = append(c.Seconds, kasoku.LoadSecond{Second: s, Target: ordersGet, Asked: 100, Codes: map[int]uint64{200: 100}, Latency: spread(d+time.Duration(s)*time.Microsecond, 100)})
		}
		return c.Recording
	}
	was := loaded(queryRun(ordersGet, []kasoku.Query{grown(q, 10, 15, 20, 25, 30, 40), w}), 10*time.Millisecond)
	tried := func(d time.Duration) *diagnose.Case {
		return diagnose.NewCase(loaded(queryRun(ordersGet, []kasoku.Query{grown(ranged, 5, 5, 5, 5, 5, 5), w}), d), was)
	}
	sayAll(t, r, tried(10*time.Millisecond), "table visits", "Fewer rows read of visits: no effect", "info high")
	sayAll(t, r, tried(40*time.Millisecond), "Fewer rows read of visits: worse")
	sayAll(t, r, tried(5*time.Millisecond), "quiet: rows read of visits no longer grow, and that helped")
}

// rowInsert is a class of single-row INSERTs that come in rows.
func rowInsert(calls uint64) kasoku.Query {
	q := class("N", "INSERT INTO `lines` (a, b) VALUES (?, ?)", calls, 0, 20*time.Second)
	q.SingleRow, q.Streak, q.Streaks = calls, 12, calls
	return q
}

// counting puts counters of the server that grew over the run.
func counting(c *diagnose.Case, grown map[string]float64) *diagnose.Case {
	for name, by := range grown {
		c.Series = append(c.Series, kasoku.Series{Key: kasoku.Key{Source: diagnose.MySQL, Name: name}, Kind: kasoku.Counter,
			Points: []kasoku.Point{{}, {At: 10 * time.Second, Value: by}}})
	}
	return c
}

func TestSingleInserts(t *testing.T) {
	r := driver.SingleInserts{}
	sayAll(t, r, queryRun(ordersPost, []kasoku.Query{rowInsert(12000)}, runBy("N", 12, kasoku.CallerHigh)),
		"endpoint POST /v1/orders", "inserts row by row: 12 INSERTs a request", "INSERT INTO `lines` (a, b) VALUES (?, ?), (?, ?), (?, ?);", "finding")
	// Without endpoints: rows on a connection, more than requests explain; no number a request, no endpoint.
	loop := counting(queryRun(ordersPost, []kasoku.Query{rowInsert(12000)}), map[string]float64{"Com_commit": 1000, "Com_insert": 12000})
	sayAll(t, r, loop, "table lines\nA loop inserts into lines row by row on one connection", "Which program runs it is not known", "finding medium")
	for _, word := range []string{"a request", ordersPost} {
		if said := saysOf(t, r, loop); strings.Contains(said, word) {
			t.Errorf("says %q of a loop whose program is not known:\n%s", word, said)
		}
	}
	sayAll(t, r, queryRun(ordersGet, []kasoku.Query{rowInsert(2900)}), "quiet: at most 2.90")
	// Among other requests too few for each, but ten in each transaction.
	rare := queryRun(ordersGet, []kasoku.Query{rowInsert(2900)})
	rare.Transactions = []kasoku.Transaction{{Shape: []string{"N"}, Count: 290, Statements: 2900}}
	sayAll(t, r, rare, "table lines\nA loop inserts into lines row by row on one connection")
	rare.Transactions[0].Count = 1450
	sayAll(t, r, rare, "quiet: at most 2.90")
	rare.Transactions[0] = kasoku.Transaction{Shape: []string{"N"}, Count: 10, Statements: 100} // a few of them alone
	sayAll(t, r, rare, "quiet: at most 2.90")
	// An import beside few requests, which the join finds in none: a remark.
	sayAll(t, r, joined(queryRun(ordersPost, []kasoku.Query{rowInsert(250)})), "table lines\nA loop inserts into lines", "info")
	sayAll(t, r, queryRun(ordersPost, []kasoku.Query{rowInsert(2900)}, runBy("N", 2.9, kasoku.CallerConfirmed)), "quiet: at most 2.90 INSERTs")
	several := rowInsert(12000)
	several.SingleRow, several.Sample = 0, "INSERT INTO `lines` (a, b) VALUES (?, ?), …"
	sayAll(t, r, queryRun(ordersPost, []kasoku.Query{several}, runBy("N", 12, kasoku.CallerHigh)), "quiet: at most 0 INSERTs")
}

func TestPreparedLoop(t *testing.T) {
	r := driver.PreparedLoop{}
	run := func(prepare, execute float64, q kasoku.Query, callers ...kasoku.Caller) *diagnose.Case {
		return counting(queryRun(ordersPost, []kasoku.Query{q}, callers...), map[string]float64{
			"Com_stmt_prepare": prepare, "Com_stmt_execute": execute, "Com_stmt_close": prepare, "Questions": execute})
	}
	c := run(13000, 13000, rowInsert(12000), runBy("N", 12, kasoku.CallerHigh))
	sayAll(t, r, c, "endpoint POST /v1/orders", "prepares its INSERT anew for every row", "13,000 prepares for 13,000 executions", "PrepareContext")
	if found, _ := r.Check(c); len(found[0].Explains) != 1 || found[0].Explains[0] != "DRV-01" {
		t.Errorf("explains %v", found[0].Explains)
	}
	sayAll(t, r, run(13000, 13000, rowInsert(12000)), "table lines\nA loop prepares its INSERT", "A loop inserts into lines, and the driver")
	sayAll(t, r, run(1000, 13000, rowInsert(12000)), "quiet: statements were prepared 0.08 times")
	sayAll(t, r, run(30000, 30000, rowInsert(12000)), "quiet: no loop of INSERTs")
	// Two loops that make half together, the endpoints unknown: 50 rows in each transaction, few beside all requests.
	two := func(rows uint64) *diagnose.Case {
		chairs, estates := rowInsert(400), rowInsert(400)
		estates.ID, estates.Fingerprint = "M", "insert into estates (a, b) values (?, ?)"
		c := counting(queryRun(ordersPost, []kasoku.Query{chairs, estates}), map[string]float64{
			"Com_stmt_prepare": 1000, "Com_stmt_execute": 1000, "Com_stmt_close": 1000, "Questions": 1000})
		for _, id := range []string{"N", "M"} {
			c.Transactions = append(c.Transactions, kasoku.Transaction{Shape: []string{id}, Verbs: "INSERT",
				Count: 400 / rows, Statements: 400})
		}
		return c
	}
	const both = "80.0 % of the executions, with 1 more class like it"
	if found, silent := r.Check(two(50)); len(found) != 1 || !strings.Contains(found[0].Evidence[2].Note, both) {
		t.Errorf("%+v %+v", found, silent)
	}
	sayAll(t, r, two(1), "quiet: no loop of INSERTs")
	// One a request is no loop, though a service of one statement shows rows of it.
	sayAll(t, r, run(1000, 1000, rowInsert(1000)), "quiet: no loop of INSERTs")
	sayAll(t, r, queryRun(ordersPost, []kasoku.Query{rowInsert(12000)}), "blind: ")
}

func TestOpaqueCommit(t *testing.T) {
	r := durability.OpaqueCommit{}
	commit := class("K", "COMMIT", 2000, 0, 30*time.Second)
	other := class("U", "UPDATE a SET b = ? WHERE id = ?", 2000, 0, 20*time.Second)
	run := func(kinds int, queries ...kasoku.Query) *diagnose.Case {
		c := queryRun(ordersPost, queries)
		for i := range kinds {
			c.Transactions = append(c.Transactions, kasoku.Transaction{Shape: []string{"U"}, Verbs: "UPDATE", Count: uint64(1000 - i), Statements: 3000})
		}
		return c
	}
	sayAll(t, r, run(2, commit, other), "statement COMMIT", "COMMIT takes 60.0 % of statement time, and nothing says whose", "finding", "COMMIT /* name */")
	sayAll(t, r, run(1, commit, other), "quiet: ", "1 kind of transaction writes")
	tagged := commit
	tagged.Tag = "register"
	sayAll(t, r, run(2, tagged, other), "most of it register", "info")
	commit.Total = 2 * time.Second
	sayAll(t, r, run(2, commit, other), "quiet: COMMITs take 9.1 %")
	sayAll(t, r, run(2, other), "quiet: the slow log has no COMMIT")
}

func TestNeedlessTransaction(t *testing.T) {
	r := durability.NeedlessTransaction{}
	read := class("R", "SELECT * FROM a WHERE id = ?", 1000, 1, time.Second)
	read.Tables = []string{"a"}
	begin, commit := class("B", "START TRANSACTION", 1100, 0, time.Second), class("K", "COMMIT", 1100, 0, 9*time.Second)
	run := func(reads, changes uint64) *diagnose.Case {
		c := queryRun(ordersGet, []kasoku.Query{read, begin, commit}, runBy("R", 1, kasoku.CallerHigh))
		c.Transactions = []kasoku.Transaction{
			{Shape: []string{"R"}, Verbs: "SELECT", Count: reads, Statements: reads, ReadOnly: true},
			{Shape: []string{"R", "U"}, Verbs: "SELECT UPDATE", Count: changes, Statements: 2 * changes},
		}
		return c
	}
	sayAll(t, r, run(300, 700), "endpoint GET /v1/orders", "30.0 % of transactions protect nothing", "finding high", "+ err := db.QueryRowContext")
	sayAll(t, r, run(290, 710), "quiet: 290 of 1,000 transactions")
	writes := run(10, 0)
	writes.Transactions = append(writes.Transactions, kasoku.Transaction{Shape: []string{"U"}, Verbs: "UPDATE", Count: 900, Statements: 900})
	sayAll(t, r, writes, "+ _, err := db.ExecContext")
	// In Django only what reads is taken out, by its name; POST /v1/orders also changes something.
	in := func(c *diagnose.Case, language string) *diagnose.Case {
		c.Service = &kasoku.Service{Members: []kasoku.Member{{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: language}}}
		return c
	}
	note := func(c *diagnose.Case) string {
		c.Queries[0].Sample = "SELECT COUNT(*) AS `__count` FROM `a` WHERE `a`.`id` = ?"
		found, silent := r.Check(in(c, "python"))
		if len(found) != 1 {
			t.Fatalf("%+v", silent)
		}
		return found[0].Fixes[0].Note
	}
	said := note(run(300, 700))
	for _, w := range []string{"ATOMIC_REQUESTS = False", "autocommit=True"} {
		if strings.Contains(said, w) {
			t.Errorf("switches off all transactions: %s", said)
		}
	}
	if !strings.Contains(said, "on the views of GET /v1/orders alone") {
		t.Errorf("does not name the view: %s", said)
	}
	both := run(300, 700)
	both.Queries = append(both.Queries, class("U", "UPDATE a SET b = ? WHERE id = ?", 700, 0, time.Second))
	caller := both.Callers[0]
	caller.QueryID = "U"
	both.Callers = append(both.Callers, caller)
	if said := note(both); !strings.Contains(said, "on views that only read") {
		t.Errorf("names a view that changes something: %s", said)
	}
	// With autocommit off no BEGIN is sent.
	off := run(300, 700)
	off.Queries = []kasoku.Query{read, class("K", "COMMIT", 1000, 0, 9*time.Second)}
	off = in(off, "python")
	if found, _ := r.Check(off); len(found) != 1 || strings.Contains(fmt.Sprint(found), "BEGIN,") ||
		!strings.Contains(found[0].Cause, "after each is a round trip") || found[0].Expect[:3] != "one" ||
		found[0].Evidence[1].Text != "their COMMIT or ROLLBACK, of all statements" ||
		found[0].Evidence[1].Value != "15.0 %" ||
		!strings.Contains(found[0].Fixes[0].Text, "with autocommit") {
		t.Errorf("%+v", found)
	}
	// A queue asks for a job in a transaction, and locks the row that it finds until it is taken.
	queue := run(0, 100)
	queue.Transactions = append(queue.Transactions,
		kasoku.Transaction{Shape: []string{"Q"}, Verbs: "SELECT", Count: 900, Statements: 900})
	sayAll(t, r, queue, "quiet: 0 of 1,000 transactions")
	// ActiveRecord begins a transaction for each save.
	saves := run(0, 100)
	saves.Transactions = append(saves.Transactions, kasoku.Transaction{Shape: []string{"U"}, Verbs: "UPDATE", Count: 900, Statements: 900})
	sayAll(t, r, saves, "90.0 % of transactions protect nothing")
	sayAll(t, r, in(saves, "ruby"), "quiet: 0 of 1,000 transactions")
	sayAll(t, r, run(49, 0), "quiet: 49 of 49")
	sayAll(t, r, run(0, 0), "quiet: the slow log has no transaction")
}

func TestImplicitOrder(t *testing.T) {
	r := operation.ImplicitOrder{}
	run := func(sql, create string) *diagnose.Case {
		q := class("R", sql, 1000, 20, time.Second)
		q.Tables = []string{"notes"}
		c := queryRun(ordersGet, []kasoku.Query{q})
		if create != "" {
			c.Tables = []kasoku.TableDef{{Name: "notes", Create: create, Rows: 400}}
		}
		return c
	}
	const keyless = "CREATE TABLE `notes` (`id` int, `text` text)"
	sayAll(t, r, run("SELECT * FROM notes WHERE a = ?", keyless), "table notes", "Answers rest on the order in which notes stores its rows", "info")
	found, _ := r.Check(run("SELECT * FROM notes WHERE a = ? LIMIT ?", keyless))
	if len(found) != 1 || found[0].Fixes[0].Code != "" || !strings.HasSuffix(found[0].Fixes[1].Code, "\nSELECT * FROM notes WHERE a = ? ORDER BY seq LIMIT ?;") {
		t.Errorf("%+v", found)
	}
	sayAll(t, r, run("SELECT * FROM notes WHERE a = ? ORDER BY id", keyless), "quiet: 1 table has no primary key")
	sayAll(t, r, run("SELECT * FROM notes", "CREATE TABLE `notes` (`id` int, PRIMARY KEY (`id`))"), "quiet: all of 1 table have")
	sayAll(t, r, run("SELECT * FROM notes", ""), "blind: ")

	compared := func(a kasoku.ComparedAnswers, stale string) *diagnose.Case {
		c := run("SELECT * FROM notes", "")
		c.Settings = append(slices.Clip(c.Settings), a.Settings()...)
		c.Settings = append(c.Settings, kasoku.Setting{Scope: kasoku.ContractScope, Name: "stale GET /trend", Value: stale})
		return c
	}
	sayAll(t, r, compared(kasoku.ComparedAnswers{Asked: 7}, "1s"), "quiet: 7 answers are in the order of before")
	sayAll(t, r, compared(kasoku.ComparedAnswers{Asked: 7, Failed: 2}, "1s"),
		"quiet: 7 answers are in the order of before, 2 were not comparable")
	old := kasoku.ComparedAnswers{Asked: 7,
		Oldest: map[string]time.Duration{"GET /trend": 3 * time.Second, "GET /other": time.Hour}}
	sayAll(t, r, compared(old, "1s"), "endpoint GET /trend", "GET /trend is 3 s old; 1 s is allowed")
	sayAll(t, r, compared(old, "3s"), "quiet: ")
	moved := kasoku.ComparedAnswers{Asked: 7, Order: map[string]string{"GET /notes": "now comes in another order (3 of 9)"}}
	sayAll(t, r, compared(moved, "1s"), "endpoint GET /notes", "GET /notes answers in another order than before", "info")

	// Between runs: the same elements of the same requests, in another order.
	between := func(now, was kasoku.AnswerSequence, group bool) *diagnose.Case {
		of := func(x kasoku.AnswerSequence) kasoku.ComparedAnswers {
			return kasoku.ComparedAnswers{Asked: 7, Sequences: map[string]kasoku.AnswerSequence{"GET /notes": x}}
		}
		c, other := compared(of(now), "1s"), compared(of(was), "1s").Recording
		if group {
			c.Repeats = []*kasoku.Recording{other}
		} else {
			c.Baseline = other
		}
		return c
	}
	one := kasoku.AnswerSequence{Requests: 1, Elements: 2, Order: 3}
	turned, more, others := one, one, one
	turned.Order, more.Elements, more.Order, others.Requests, others.Order = 4, 5, 4, 6, 4
	for _, group := range []bool{false, true} {
		sayAll(t, r, between(one, turned, group), "endpoint GET /notes", "GET /notes answers in another order than in another run", "info")
		for _, x := range []kasoku.AnswerSequence{one, more, others} {
			sayAll(t, r, between(one, x, group), "quiet: 7 answers are in the order of before")
		}
	}
}

// TestUnsentColumns: QRY-03 remarks on wide columns whose bytes the answers do not have, and
// on none where they may have them.
func TestUnsentColumns(t *testing.T) {
	r := query.WideStar{}
	run := func(sent, answer uint64, columns string) *diagnose.Case {
		q := class("W", "SELECT "+columns+" FROM people WHERE team = ?", 1000, 20, 3*time.Second)
		q.Tables, q.BytesSent = []string{"people"}, 1000*sent
		c := queryRun(ordersGet, []kasoku.Query{q}, runBy("W", 1, kasoku.CallerConfirmed))
		c.Tables = []kasoku.TableDef{{Name: "people", Rows: 5000, DataBytes: 5000 * 9000, Create: "CREATE TABLE `people` (\n  `id` int(11) NOT NULL,\n  `team` int(11) NOT NULL,\n  `name` varchar(40) NOT NULL,\n  `photo` mediumblob NOT NULL,\n  PRIMARY KEY (`id`),\n  KEY `team` (`team`)\n) ENGINE=InnoDB"}}
		e := &c.Endpoints[0]
		e.Bytes, e.Codes = answer*e.Count, map[int]uint64{200: e.Count}
		return c
	}
	sayAll(t, r, run(200_000, 2_000, "id, name, photo"), "table people", "GET /v1/orders reads 200 kB of people for 2.0 kB", "info low", "at all of them for what it does send, or at none")
	sayAll(t, r, run(200_000, 2_000, "*"), "table people", "GET /v1/orders reads")
	head, front, rare := run(200_000, 2_000, "*"), run(200_000, 2_000, "*"), run(200_000, 2_000, "*")
	other := rare.Endpoints[0]
	other.Route, other.Total = "/v1/other", 60*other.Total
	rare.Endpoints = append(rare.Endpoints[:1:1], other)
	head.Endpoints[0].Method, head.Callers[0].Method = "HEAD", "HEAD"
	e := front.Endpoints[0]
	e.Host, e.Count, e.Bytes, e.Codes = "front", 2*e.Count, 2*e.Count*190_000, map[int]uint64{200: 2 * e.Count}
	front.Endpoints = append(front.Endpoints[:1:1], e)
	for _, c := range []*diagnose.Case{
		head, front,
		rare,                               // the endpoint takes no time
		run(200_000, 0, "id, name, photo"), // the log lacks sizes
		run(200_000, 2_000, "id, name"),    // of what is not read
		run(200_000, 20_000, "id, name, photo"),
		run(7_000, 20, "id, name, photo"),
	} {
		if text := saysOf(t, r, c); strings.Contains(text, "/orders reads") {
			t.Error(text)
		}
	}
}

// TestCheapScan: a table of which each request reads all rows is a remark, below the time from
// which an index is proposed; not where few requests do, or it is small.
func TestCheapScan(t *testing.T) {
	run := func(rows uint64, per float64) *diagnose.Case {
		q := class("S", "SELECT id FROM parcels WHERE code = ?", 1000, 1, 20*time.Millisecond)
		q.Tables, q.RowsExamined = []string{"parcels"}, 1000*rows
		busy := class("B", "SELECT id FROM orders WHERE id = ?", 1000, 1, 60*time.Second)
		c := queryRun(ordersGet, []kasoku.Query{q, busy}, runBy("S", per, kasoku.CallerConfirmed), runBy("B", 1, kasoku.CallerConfirmed))
		c.Tables = []kasoku.TableDef{{Name: "parcels", Rows: rows, Engine: "InnoDB", Create: "CREATE TABLE `parcels` (\n  `id` int(11) NOT NULL,\n  `code` varchar(20) NOT NULL,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB",
			Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}}}}
		c.Plans = []kasoku.Plan{{QueryID: "S", Rows: []kasoku.PlanRow{{Table: "parcels", Access: "ALL", Rows: float64(rows)}}}}
		return c
	}
	r := index.GeneralIndex{}
	sayAll(t, r, run(900, 1), "table parcels", "GET /v1/orders reads all 900 rows of parcels in each request", "info")
	sayAll(t, r, run(900, 0.4), "quiet: ")
	sayAll(t, r, run(300, 1), "quiet: ")
}
