package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/query"
)

// queryRun is a run of 1,000 requests of an endpoint that took 100 s together, with
// statements and who runs them.
func queryRun(endpoint string, queries []kasoku.Query, callers ...kasoku.Caller) *diagnose.Case {
	method, route, _ := strings.Cut(endpoint, " ")
	rec := &kasoku.Recording{
		Run:       kasoku.Run{Length: 10 * time.Second},
		Endpoints: []kasoku.Endpoint{{Method: method, Route: route, Count: 1000, Codes: map[int]uint64{200: 1000}, Total: 100 * time.Second, Seconds: map[int]kasoku.EndpointSecond{1: {Count: 1000}}, Last: 9 * time.Second}},
		Queries:   queries,
	}
	for _, x := range callers {
		x.Method, x.Route, x.Requests = method, route, 1000
		if q := diagnose.NewCase(rec, nil).Statements().QueryByID(x.QueryID); q != nil {
			x.Calls, x.Share = float64(q.Calls), 1
		}
		rec.Callers = append(rec.Callers, x)
	}
	return diagnose.NewCase(rec, nil)
}

// class is a class of statements.
func class(id, sql string, calls uint64, rows float64, total time.Duration) kasoku.Query {
	verb, _, _ := strings.Cut(sql, " ")
	return kasoku.Query{ID: id, Sample: sql, Fingerprint: strings.ToLower(sql), Verb: verb, Calls: calls, RowsSent: uint64(rows * float64(calls)), RowsExamined: uint64(rows * float64(calls)), Total: total, Last: 9 * time.Second}
}

// runBy reports that a request runs so many of a class.
func runBy(id string, per float64, how kasoku.CallerClass) kasoku.Caller {
	return kasoku.Caller{QueryID: id, PerRequest: per, Class: how, Least: per, Most: per, Source: kasoku.FromProbe}
}

// TestLoops_Shared: the same loop in a second endpoint is a finding of its own where it costs something, else
// evidence of the first.
func TestLoops_Shared(t *testing.T) {
	for _, tt := range []struct {
		second float64 // calls of the lookup that are the second endpoint's, of 20,000
		want   int
	}{{6000, 2}, {400, 1}} {
		c := queryRun("GET /v1/orders", []kasoku.Query{
			class("L", "SELECT * FROM orders WHERE shop = ?", 1000, 20, time.Second),
			class("P", "SELECT name FROM customers WHERE id = ?", 20000, 1, 40*time.Second),
		}, runBy("L", 1, kasoku.CallerConfirmed), runBy("P", 20, kasoku.CallerConfirmed))
		x := runBy("P", 20, kasoku.CallerConfirmed)
		x.Method, x.Route, x.Requests = "PUT", "/v1/bills", uint64(tt.second/20)
		x.Calls, x.Share = tt.second, tt.second/20000
		c.Callers[1].Calls, c.Callers[1].Share = 20000-tt.second, 1-x.Share
		c.Callers = append(c.Callers, x)
		c.Endpoints = append(c.Endpoints, kasoku.Endpoint{Method: "PUT", Route: "/v1/bills", Count: x.Requests,
			Codes: map[int]uint64{200: x.Requests}, Total: time.Second, Last: 9 * time.Second,
			Seconds: map[int]kasoku.EndpointSecond{1: {Count: x.Requests}}})
		found, silent := query.EachRow{}.Check(diagnose.NewCase(c.Recording, nil))
		if len(found) != tt.want || found[0].Object.Name != "GET /v1/orders" {
			t.Fatalf("%v calls: %d findings, want %d: %+v %+v", tt.second, len(found), tt.want, found, silent)
		}
		said := fmt.Sprint(found[0].Evidence)
		if is := strings.Contains(said, "the same loop in PUT /v1/bills: 0.9 % of request time"); is != (tt.want == 1) {
			t.Errorf("%v calls: evidence %+v", tt.second, found[0].Evidence)
		}
	}
}

// TestLoops_FewRequests: a loop that is small beside all requests is a remark where its endpoint was asked for once or
// twice, whatever part of that it is.
func TestLoops_FewRequests(t *testing.T) {
	for requests, want := range map[uint64]kasoku.Severity{4: kasoku.Info, 20: kasoku.Problem} {
		c := queryRun("GET /v1/orders", []kasoku.Query{
			class("L", "SELECT * FROM orders WHERE shop = ?", requests, 20, time.Millisecond),
			class("P", "SELECT name FROM customers WHERE id = ?", 20*requests, 1, 400*time.Millisecond),
		}, runBy("L", 1, kasoku.CallerConfirmed), runBy("P", 20, kasoku.CallerConfirmed))
		c.Endpoints[0].Count, c.Endpoints[0].Total = requests, time.Second
		for i := range c.Callers {
			c.Callers[i].Requests = requests
		}
		c.Endpoints = append(c.Endpoints, kasoku.Endpoint{Method: "GET", Route: "/v1/report", Count: 1000, Total: 99 * time.Second,
			Codes: map[int]uint64{200: 1000}, Seconds: map[int]kasoku.EndpointSecond{1: {Count: 1000}}, Last: 9 * time.Second})
		found, silent := query.EachRow{}.Check(diagnose.NewCase(c.Recording, nil))
		if len(found) != 1 || found[0].Severity != want {
			t.Errorf("%d requests: want %s: %+v %+v", requests, want, found, silent)
		}
	}
}

func TestLoops(t *testing.T) {
	all := map[string]diagnose.Rule{"QRY-04": query.EachPoint{}, "QRY-05": query.EachRow{}, "QRY-06": query.NestedQueries{}}
	// Exactly the rules that are named speak.
	f := func(want string, c *diagnose.Case, parts ...string) {
		t.Helper()
		for id, r := range all {
			found, silent := r.Check(c)
			switch {
			case len(found) > 1 || len(found) == 1 != (id == want):
				t.Errorf("want %q: %s found %d, %+v", want, id, len(found), silent)
			case id == want:
				said := found[0].Object.String() + "\n" + found[0].Title + "\n" + found[0].Cause + "\n" + found[0].Fixes[0].Code + "\n" + found[0].Fixes[0].Note + "\n" + string(found[0].Severity) + " " + string(found[0].Confidence.Level)
				for _, p := range parts {
					if !strings.Contains(said, p) {
						t.Errorf("%s does not say %q:\n%s", id, p, said)
					}
				}
				if len([]rune(found[0].Title)) > 70 {
					t.Errorf("title of %d: %s", len([]rune(found[0].Title)), found[0].Title)
				}
			}
		}
	}
	const get, post = "GET /v1/orders", "POST /v1/shops/near"
	list := class("L", "SELECT * FROM orders WHERE shop = ?", 1000, 20, time.Second)
	lookup := class("P", "SELECT name FROM customers WHERE id = ?", 20000, 1, 40*time.Second)
	sure := kasoku.CallerConfirmed
	f("QRY-05", queryRun(get, []kasoku.Query{list, lookup}, runBy("L", 1, sure), runBy("P", 20, sure)),
		"endpoint GET /v1/orders", "GET /v1/orders runs one SELECT per row: 20 a request", "rows of orders", "SELECT id, name FROM customers WHERE id IN (?, ?, ?);", "finding")
	f("QRY-05", queryRun(get, []kasoku.Query{list, lookup}, runBy("L", 1, kasoku.CallerHigh), runBy("P", 20, kasoku.CallerHigh)), "finding")
	// By overlap alone, with nothing that bears it out, and only possible: not enough.
	f("", queryRun(get, []kasoku.Query{lookup}, runBy("P", 20, kasoku.CallerHigh)))
	f("", queryRun(get, []kasoku.Query{list, lookup}, runBy("L", 1, sure), runBy("P", 20, kasoku.CallerPossible)))
	// Four are no loop.
	f("", queryRun(get, []kasoku.Query{list, lookup}, runBy("L", 1, sure), runBy("P", 4.9, sure)))
	// What else the lookup asks for is kept, a LIMIT for each key too; one that takes any rows is said in words.
	strict := class("P", "SELECT COUNT( * ) FROM notes n JOIN users u ON u.id = n.author WHERE n.item = ? AND n.hidden IS NULL AND u.left_at > ?", 20000, 1, 40*time.Second)
	f("QRY-05", queryRun(get, []kasoku.Query{list, strict}, runBy("L", 1, sure), runBy("P", 20, sure)),
		"SELECT n.item, COUNT(1) FROM notes AS n JOIN users AS u ON u.id = n.author WHERE n.item IN (?, ?, ?) AND n.hidden IS NULL AND u.left_at > ? GROUP BY n.item;",
		"A key without rows is missing from the answer.", "The other values must be the same for all keys.")
	newest := class("P", "SELECT * FROM notes WHERE item = ? ORDER BY at DESC LIMIT ?", 20000, 1, 40*time.Second)
	f("QRY-05", queryRun(get, []kasoku.Query{list, newest}, runBy("L", 1, sure), runBy("P", 20, sure)),
		"ROW_NUMBER() OVER (PARTITION BY item ORDER BY at DESC) AS row_no", "WHERE row_no <= ? ORDER BY row_no;", "The last column counts the rows of each key")
	some := class("P", "SELECT * FROM notes WHERE item = ? LIMIT ?", 20000, 1, 40*time.Second)
	f("QRY-05", queryRun(get, []kasoku.Query{list, some}, runBy("L", 1, sure), runBy("P", 20, sure)),
		"The lookup of notes needs a statement of its own form: a LIMIT without ORDER BY takes any rows: say first which ones.")
	// The same few in each request that a trace saw, which no list's rows account for, stand in the program one by one.
	attribute := class("P", "SELECT value FROM attributes WHERE shop = ? AND name = ?", 5000, 0.2, 40*time.Second)
	attribute.Distinct, attribute.Repeated = 4000, 2
	traced := func(per, least float64) kasoku.Caller {
		x := runBy("P", per, sure)
		x.Source, x.Least = kasoku.FromTrace, least
		return x
	}
	pinned := class("L", "SELECT id, title FROM posts WHERE shop = ?", 1000, 3, time.Second)
	f("", queryRun(get, []kasoku.Query{pinned, attribute}, runBy("L", 1, sure), traced(5, 5)))
	f("", queryRun(get, []kasoku.Query{attribute}, traced(9, 9)))
	f("QRY-05", queryRun(get, []kasoku.Query{attribute}, traced(10, 10)))
	f("QRY-05", queryRun(get, []kasoku.Query{attribute}, traced(5, 4)))
	pinned.RowsSent = 5 * pinned.Calls
	f("QRY-05", queryRun(get, []kasoku.Query{pinned, attribute}, runBy("L", 1, sure), traced(5, 5)))
	// Names of settings: few more texts than a request asks for, one of which each asks for; not numbers, nor other texts.
	setting := class("P", "SELECT value FROM settings WHERE name = ? LIMIT ?", 13000, 0.4, 40*time.Second)
	setting.Distinct, setting.Repeated, setting.Streak = 27, 1000, 5
	topics := class("L", "SELECT id, title FROM posts WHERE shop = ?", 1000, 13, time.Second)
	f("", queryRun(get, []kasoku.Query{topics, setting}, runBy("L", 1, sure), traced(13, 13)))
	f("QRY-05", queryRun(get, []kasoku.Query{topics, setting}, runBy("L", 1, sure), traced(13, 9)))
	setting.Repeated = 800
	f("QRY-05", queryRun(get, []kasoku.Query{topics, setting}, runBy("L", 1, sure), traced(13, 13)))
	setting.Repeated, setting.Numbers = 1000, []string{"name"}
	f("QRY-05", queryRun(get, []kasoku.Query{topics, setting}, runBy("L", 1, sure), traced(13, 13)))
	setting.Distinct, setting.Numbers = 40, nil
	f("QRY-05", queryRun(get, []kasoku.Query{topics, setting}, runBy("L", 1, sure), traced(13, 13)))
	// A long poll asks the same until there is something, and no list is read; other texts than
	// requests are a loop over what the request brought.
	poll := class("P", "SELECT id FROM events WHERE room = ? AND id > ?", 20000, 0, 40*time.Second)
	poll.Distinct, poll.Repeated = 900, 40
	f("", queryRun(get, []kasoku.Query{poll}, runBy("P", 20, sure)))
	poll.Distinct, poll.Repeated = 15000, 2
	f("QRY-05", queryRun(get, []kasoku.Query{poll}, runBy("P", 20, sure)))
	// Little time is a remark.
	cheap := lookup
	cheap.Total = time.Second
	slow := list
	slow.Total = 99 * time.Second
	f("QRY-05", queryRun(get, []kasoku.Query{slow, cheap}, runBy("L", 1, sure), runBy("P", 20, sure)), "info")
	// A statement that sends many rows counts where its list is known.
	many := class("P", "SELECT * FROM visits WHERE shop = ? ORDER BY at", 20000, 300, 40*time.Second)
	known := runBy("P", 20, kasoku.CallerHigh)
	known.List = "L"
	f("QRY-05", queryRun(get, []kasoku.Query{list, many}, runBy("L", 1, sure), known), "GET /v1/orders runs one")
	// Over an area.
	box := class("L", "SELECT * FROM shops WHERE lat <= ? AND lat >= ? AND lon <= ? AND lon >= ? ORDER BY id", 1000, 100, time.Second)
	point := class("P", "SELECT * FROM shops WHERE id = ? AND ST_Contains(ST_PolygonFromText(?), ST_GeomFromText(?))", 100000, 0.3, 60*time.Second)
	area := queryRun(post, []kasoku.Query{box, point}, runBy("L", 1, sure), runBy("P", 100, sure))
	f("QRY-04", area, "Put the lookup's test of the shape") // whose rows are not known to be one each
	area.Tables = []kasoku.TableDef{{Name: "shops", Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}}}}}
	f("QRY-04", area,
		"endpoint POST /v1/shops/near", "100 a request", "WHERE lat <= ? AND lat >= ? AND lon <= ? AND lon >= ? AND ST_CONTAINS(ST_POLYGONFROMTEXT(?), POINT(lat, lon)) ORDER BY id;")
	f("QRY-05", queryRun(post, []kasoku.Query{box, class("P", "SELECT * FROM owners WHERE id = ?", 100000, 1, 60*time.Second)}, runBy("L", 1, sure), runBy("P", 100, sure)))
	// Nested.
	outer := class("O", "SELECT * FROM lessons WHERE course = ?", 6000, 5, time.Second)
	inner := class("I", "SELECT score FROM papers WHERE lesson = ? AND pupil = ?", 30000, 1, 30*time.Second)
	f("QRY-06", queryRun(get, []kasoku.Query{list, outer, inner}, runBy("L", 1, sure), runBy("O", 6, sure), runBy("I", 30, sure)), "nested loops: 30 a request", "from lessons 6 times a request")
	// Without endpoints: as many as five for each request of all, in rows on a connection.
	row := lookup
	row.Streaks, row.Streak = 20000, 20
	f("QRY-05", queryRun(get, []kasoku.Query{list, row}), "table customers", "A loop runs one SELECT per row of customers", "medium")
	once := row
	once.Calls = 1000
	f("", queryRun(get, []kasoku.Query{list, once}))
	f("", queryRun(get, nil))
	// Overlap in time attributes most lookups to no endpoint, but they are seen in loops: the
	// endpoint that has most of what is given at all.
	few := queryRun(get, []kasoku.Query{list, row}, runBy("L", 1, sure), runBy("P", 2, kasoku.CallerPossible))
	few.Callers[1].Calls, few.Callers[1].Share = 2000, 0.1
	f("", few)
	few.Joins = []kasoku.Join{{Loops: []kasoku.QueryLoop{{QueryIDs: []string{"P"}, Runs: 90, Calls: 900}}}}
	f("QRY-05", few, "endpoint GET /v1/orders", "GET /v1/orders may run one SELECT per row", "medium")
	few.Joins[0].Saturated = true
	f("", few)
}

// TestManyKeys: a list has one ? for each key; of conditions in parentheses that is not said, nor how a list is made.
func TestManyKeys(t *testing.T) {
	list := class("L", "SELECT id FROM lessons WHERE course = ?", 1000, 20, time.Second)
	for lookup, want := range map[string]string{
		"SELECT score FROM papers WHERE lesson = ?":               "One ? for each key, such as strings.Repeat",
		"SELECT score FROM papers WHERE lesson = ? AND pupil = ?": "The conditions in parentheses once for each key. Where the list is empty, run none. Then",
	} {
		c := queryRun("GET /v1/orders", []kasoku.Query{list, class("P", lookup, 20000, 1, 30*time.Second)}, runBy("L", 1, kasoku.CallerConfirmed), runBy("P", 20, kasoku.CallerConfirmed))
		found, silent := (query.EachRow{}).Check(c)
		if len(found) != 1 {
			t.Fatalf("%+v", silent)
		}
		if note := found[0].Fixes[0].Note; !strings.HasPrefix(note, want) {
			t.Errorf("%s: %s", lookup, note)
		}
	}
}
