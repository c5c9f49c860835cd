package isutrain

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/kit/kittest"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// oneDay is how many days have rows where snippets are applied.
const oneDay = 1

// busyDesk is a service with all defects and some reservations.
func busyDesk(t *testing.T, s *sandbox.Server) *desk {
	t.Helper()
	k := newDesk(t, s, "isutrain", Lab().All(), oneDay, nil)
	k.join("a@example.com")
	o := k.someOrder()
	for i := range 6 {
		o.SeatClass, o.Adult, o.Child = []string{premium, reserved, nonReserved}[i%3], 1+i%2, i%3
		id := k.ask(http.StatusOK, "POST", "/api/train/reserve", o)["reservation_id"]
		if i%2 == 0 {
			k.ask(http.StatusOK, "POST", "/api/train/reservation/commit", map[string]any{"card_token": "c",
				"reservation_id": id})
		}
	}
	return k
}

// answers asks for all that the service shows, and returns it line by line.
func (k *desk) answers() (out []string) {
	k.t.Helper()
	paths := []string{"/api/stations", "/api/user/reservations", "/api/user/reservations/1"}
	ends := []string{k.stations[0].Name, k.stations[12].Name, k.stations[stations-1].Name}
	for _, way := range [][2]int{{0, 1}, {1, 0}, {2, 0}, {0, 2}} {
		for _, from := range []time.Duration{5 * time.Hour, 9*time.Hour + 1*time.Minute} {
			paths = append(paths, "/api/train/search?"+url.Values{"use_at": {at(from)}, "from": {ends[way[0]]},
				"to": {ends[way[1]]}, "adult": {"1"}, "child": {"1"}}.Encode())
		}
	}
	o := k.someOrder()
	for _, car := range []int{1, 4, 13} {
		paths = append(paths, "/api/train/seats?"+url.Values{"date": {o.Date}, "train_class": {o.Class},
			"train_name": {o.Name}, "car_number": {fmt.Sprint(car)}, "from": {o.Departure}, "to": {o.Arrival}}.Encode())
	}
	for _, path := range paths {
		code, text := k.send("GET", path, nil)
		if code != http.StatusOK {
			k.t.Errorf("%s: %d %s", path, code, text)
		}
		out = append(out, path+"\n"+text)
	}
	return out
}

// same fails where answers differ from those of before.
func (k *desk) same(before []string, after string) {
	k.t.Helper()
	for i, text := range k.answers() {
		if text != before[i] {
			k.t.Errorf("%s: %s\nbefore: %s", after, text, before[i])
			return
		}
	}
}

// rowsRead is how many rows the server has read by now.
func (k *desk) rowsRead() (n int64) {
	k.t.Helper()
	rows, err := k.db.Query("SHOW GLOBAL STATUS LIKE 'Handler_read_%'")
	type row struct {
		name string
		n    int64
	}
	all, err := kit.Collect(rows, err, func(r *row) []any { return []any{&r.name, &r.n} })
	if err != nil {
		k.t.Fatal(err)
	}
	for _, r := range all {
		n += r.n
	}
	return n
}

// reading is how many rows the answers take.
func (k *desk) reading() int64 {
	k.t.Helper()
	before := k.rowsRead()
	k.answers()
	return k.rowsRead() - before
}

// isIndex reports whether a snippet changes the schema without a column.
func isIndex(x *kittest.Snippet) bool {
	return strings.HasPrefix(x.Code, "CREATE ") ||
		strings.HasPrefix(x.Code, "ALTER ") && !strings.Contains(x.Code, " COLUMN ")
}

// TestSnippets_Indexes: with each index that findings propose, one after another, the service answers as before and
// the server reads fewer rows for it.
func TestSnippets_Indexes(t *testing.T) {
	turn.Wait(t)
	var all []kittest.Snippet // two findings may propose one
	for _, x := range kittest.Snippets(t, Lab(), "sql") {
		if isIndex(&x) && !slices.ContainsFunc(all, func(o kittest.Snippet) bool { return o.Code == x.Code }) {
			all = append(all, x)
		}
	}
	sandboxtest.Both(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		k := busyDesk(t, s)
		before, reads := k.answers(), k.reading()
		first := reads
		for _, x := range all {
			for _, q := range x.Statements() {
				sandboxtest.Exec(t, k.db, q)
			}
			sandboxtest.Exec(t, k.db, "ANALYZE TABLE train_timetable_master, seat_master, train_master, reservations, "+
				"seat_reservations")
			k.same(before, x.Code)
			now := k.reading()
			t.Logf("%s %s: %d rows are read, %d before: %s", x.Finding.ID, x.Finding.Object, now, reads, x.Code)
			if now > reads {
				t.Errorf("%s: %d rows are read, %d before", x.Code, now, reads)
			}
			reads = now
		}
		if len(all) == 0 || reads > first/10 {
			t.Errorf("with %d indexes %d rows are read, %d without any", len(all), reads, first)
		}
	})
}

// ofFindings are the snippets of findings whose ids begin so, some at least.
func ofFindings(t *testing.T, id string) (out []kittest.Snippet) {
	t.Helper()
	for _, x := range kittest.Snippets(t, Lab(), "sql") {
		if strings.HasPrefix(x.Finding.ID, id) && !isIndex(&x) {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no finding is %s", id)
	}
	return out
}

// TestSnippets_Order: the statements that number the rows of a table keep today's order, also where the table gets the
// key that changes it.
func TestSnippets_Order(t *testing.T) {
	turn.Wait(t)
	all := ofFindings(t, "OPS-04")
	sandboxtest.Both(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		for _, x := range all {
			k := busyDesk(t, s)
			steps := x.Statements()
			ask := steps[len(steps)-1]
			list := func(query string) string {
				var out []string
				for day := range oneDay {
					for _, up := range []bool{false, true} {
						args := map[string]any{"date": dateOf(day), "is_nobori": up}
						rows, err := k.db.Query(query, k.bind(query, args)...)
						got, err := rowsOf(rows, err)
						if err != nil {
							t.Fatalf("%s: %v", query, err)
						}
						out = append(out, fmt.Sprint(got))
					}
				}
				return strings.Join(out, "\n")
			}
			ask = strings.ReplaceAll(ask, "IN (?)", "IN (?, ?, ?)") // a mask has one for a list of any length
			plain, _, _ := strings.Cut(ask, " ORDER BY")
			before := list(plain)
			for _, q := range steps[:len(steps)-1] {
				sandboxtest.Exec(t, k.db, q)
			}
			if got := list(ask); got != before {
				t.Errorf("%s\n%s\nbefore\n%s", x.Code, got, before)
			}
			if x.Finding.Object.Name != "train_master" {
				continue
			}
			sandboxtest.Exec(t, k.db, hurriedKey)
			if got := list(ask); got != before {
				t.Errorf("with the key %s\n%s\nbefore\n%s", x.Code, got, before)
			}
			if list(plain) == before {
				t.Error("the key changes no order: nothing is tested")
			}
		}
	})
}

// bind returns a value for each place of a statement: that of the column it is compared with, of train_class all in
// turn.
func (k *desk) bind(query string, values map[string]any) (out []any) {
	k.t.Helper()
	classes := 0
	for _, p := range places(query) {
		v, ok := values[p.column]
		if p.column == "train_class" && !ok {
			v, ok = kinds[classes%len(kinds)].name, true
			classes++
		}
		if !ok {
			k.t.Fatalf("no value of %s: %s", p.column, query)
		}
		out = append(out, v)
	}
	return out
}

// A valuePlace is where a statement has a value, or a question mark for one.
type valuePlace struct {
	column string // the last name before it
	value  string
	equal  bool // it is compared for equality
}

// places returns the values of a statement.
func places(query string) (out []valuePlace) {
	column, equal, ranged := "", false, false
	lex := sqlshape.NewLexer([]byte(query))
	for tok := lex.Next(); tok.Kind != sqlshape.End; tok = lex.Next() {
		switch {
		case tok.IsSymbol('?'), tok.Literal():
			out = append(out, valuePlace{column, string(tok.Unquoted()), equal})
		case tok.IsSymbol('<'), tok.IsSymbol('>'):
			ranged = true
		case tok.IsSymbol('='), tok.Is("in"):
			equal = !ranged
		case tok.Kind == sqlshape.Name || tok.Kind == sqlshape.Word:
			column, equal, ranged = strings.Trim(string(tok.Text), "`"), false, false
		}
	}
	return out
}

// rowsOf reads all rows of a query as text, with the names of the columns first.
func rowsOf(rows *sql.Rows, err error) (out [][]string, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	out = append(out, columns)
	for rows.Next() {
		cells := make([]sql.NullString, len(columns))
		into := make([]any, len(cells))
		for i := range cells {
			into[i] = &cells[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = c.String
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// TestSnippets_Lookups: what a statement for many keys sends is what the lookups of the service send, one by one.
func TestSnippets_Lookups(t *testing.T) {
	turn.Wait(t)
	all := ofFindings(t, "QRY-")
	sandboxtest.Both(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		k := busyDesk(t, s)
		texts := k.logged()
		compared := 0
		for _, x := range all {
			for _, q := range x.Statements() {
				if strings.HasPrefix(q, "SELECT ") {
					compared += k.compare(q, texts)
				} else if x.IsFor(s.Kind) {
					sandboxtest.Exec(t, k.db, q)
				}
			}
		}
		if compared == 0 {
			t.Error("no lookup was compared")
		}
	})
}

// logged returns the statements that the answers take, each once.
func (k *desk) logged() (texts []string) {
	k.t.Helper()
	sandboxtest.Exec(k.t, k.db, "SET GLOBAL log_output = 'TABLE'", "TRUNCATE mysql.general_log",
		"SET GLOBAL general_log = ON")
	k.answers()
	sandboxtest.Exec(k.t, k.db, "SET GLOBAL general_log = OFF")
	rows, err := k.db.Query("SELECT DISTINCT CONVERT(argument USING utf8mb4) FROM mysql.general_log " +
		"WHERE command_type = 'Query'")
	texts, err = kit.Collect(rows, err, func(text *string) []any { return []any{text} })
	if err != nil {
		k.t.Fatal(err)
	}
	return texts
}

// A lookup is a statement of the service with what it compares.
type lookup struct {
	text string
	keys map[string]string   // for equality, by column
	rest map[string][]string // otherwise
	sent [][]string          // with the names of the columns first
}

// tablesIn are the tables of the schema that a statement names.
func tablesIn(query string) (out []string) {
	for _, create := range schema {
		if name := strings.Fields(create)[2]; slices.Contains(strings.FieldsFunc(query, func(r rune) bool {
			return r != '_' && (r < 'a' || r > 'z')
		}), name) {
			out = append(out, name)
		}
	}
	return out
}

// chosen is what a statement sends, without its keys at the front where it is one for many.
func chosen(query string) string {
	list, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(query, "SELECT "), "DISTINCT "), " FROM ")
	return list
}

// rests are the values that have to be the same for all keys.
func (l *lookup) rests() string { return fmt.Sprint(l.rest) }

// lookupsLike returns up to three logged statements that read the tables that one for many keys reads, compare the
// same columns, and have the same values but for those of keys: two that send rows, if there are such, and one that
// sends none.
func (k *desk) lookupsLike(many string, texts []string) (out []lookup) {
	k.t.Helper()
	var none []lookup
	columns := func(all []valuePlace) (names []string) {
		for _, p := range all {
			names = append(names, p.column)
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	want := columns(places(many))
	for _, text := range texts {
		if sqlshape.Verb([]byte(text)) != "SELECT" || strings.Contains(text, "FOR UPDATE") ||
			!slices.Equal(tablesIn(text), tablesIn(many)) || !slices.Equal(columns(places(text)), want) ||
			!strings.HasSuffix(chosen(many), chosen(text)) {
			continue
		}
		l := lookup{text: text, keys: map[string]string{}, rest: map[string][]string{}}
		for _, p := range places(text) {
			if p.equal {
				l.keys[p.column] = p.value
			} else {
				l.rest[p.column] = append(l.rest[p.column], p.value)
			}
		}
		rows, err := k.db.Query(text)
		if l.sent, err = rowsOf(rows, err); err != nil {
			k.t.Fatal(err)
		}
		if len(l.sent) == 1 {
			none = append(none, l)
		} else if len(out) < 2 && (len(out) == 0 || out[0].rests() == l.rests()) {
			out = append(out, l)
		}
	}
	for i := range none {
		if len(out) < 3 && (len(out) == 0 || out[0].rests() == none[i].rests()) {
			out = append(out, none[i])
		}
	}
	return out
}

// compare holds what a statement for many keys sends against the lookups, and returns how many of these there were.
func (k *desk) compare(many string, texts []string) int {
	k.t.Helper()
	list := k.lookupsLike(many, texts)
	if len(list) < 2 || len(list[0].sent) == 1 {
		k.t.Errorf("%d lookups are like %s, or none sends rows", len(list), many)
		return 0
	}
	var args []any
	seen := map[string]int{}
	for _, p := range places(many) {
		n := seen[p.column]
		seen[p.column]++
		if _, isKey := list[0].keys[p.column]; isKey {
			args = append(args, list[min(n, len(list)-1)].keys[p.column])
		} else {
			args = append(args, list[0].rest[p.column][n])
		}
	}
	rows, err := k.db.Query(many, args...)
	all, err := rowsOf(rows, err)
	if err != nil {
		k.t.Fatalf("%s: %v", many, err)
	}
	for i := range list {
		l := &list[i]
		got, want := l.of(all, l.sent[0]), l.sent[1:]
		sortRows(got)
		sortRows(want)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			k.t.Errorf("%s\nsends %v\nat once %v by %s %v", l.text, want, got, many, args)
		}
	}
	return len(list)
}

// of returns the rows of the lookup's keys, with the columns that it has.
func (l *lookup) of(all [][]string, columns []string) (out [][]string) {
	at := func(name string) int {
		return slices.IndexFunc(all[0], func(c string) bool { return c == name || c == name+"_key" })
	}
	for _, row := range all[1:] {
		mine := true
		for name, v := range l.keys {
			i := at(name)
			mine = mine && i >= 0 && row[i] == v
		}
		if !mine {
			continue
		}
		var cells []string
		for i, c := range columns {
			from := slices.Index(all[0], c)
			if from < 0 { // the name that the rewrite gives to an expression: the last ones
				from = len(all[0]) - len(columns) + i
			}
			cells = append(cells, row[from])
		}
		out = append(out, cells)
	}
	return out
}

func sortRows(rows [][]string) { slices.SortFunc(rows, slices.Compare[[]string]) }

// TestSnippets_Outside: LCK-05 says to ask the other service before or after the transaction. As the service does so
// without that defect, no transaction is open while it is asked; with it, one is. Answers are the same.
func TestSnippets_Outside(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Both(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		said := map[string]string{}
		for _, d := range []kit.Set{{"LCK-05"}, {}} {
			var open atomic.Int64
			l := &ledger{}
			admin := sandboxtest.DB(t, s, "")
			k := newDesk(t, s, "isutrain", d, oneDay, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var n int64
				err := admin.QueryRowContext(context.WithoutCancel(r.Context()),
					"SELECT COUNT(*) FROM information_schema.INNODB_TRX").Scan(&n)
				if err != nil {
					t.Error(err)
				}
				open.Add(n)
				l.routes().ServeHTTP(w, r)
			}))
			k.join("a@example.com")
			id := k.ask(http.StatusOK, "POST", "/api/train/reserve", k.someOrder())["reservation_id"]
			_, paid := k.send("POST", "/api/train/reservation/commit", map[string]any{"card_token": "c",
				"reservation_id": id})
			_, gone := k.send("POST", fmt.Sprintf("/api/user/reservations/%v/cancel", id), nil)
			_, left := k.send("GET", "/api/user/reservations", nil)
			said[d.String()] = paid + gone + left
			if held := open.Load() > 0; held != d.Has("LCK-05") {
				t.Errorf("%s: %d transactions were open while the payment service was asked", d, open.Load())
			}
		}
		if said["LCK-05"] != said["none"] {
			t.Errorf("answers differ: %v", said)
		}
	})
}
