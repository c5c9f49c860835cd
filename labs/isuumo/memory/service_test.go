package memory

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/csv"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/labs/isuumo/model"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// durable are the settings that the lab's database has in all variants.
var durable = sandbox.Options{Vars: map[string]string{"innodb_flush_log_at_trx_commit": "1", "innodb_doublewrite": "ON"}}

// A lab is a database and the files of a service, with few rows.
type lab struct {
	data *isuumo.Data
	dir  string
	db   *sql.DB
}

func newLab(t *testing.T, server *sandbox.Server) *lab {
	t.Helper()
	d := data.Generate(data.Options{Size: data.Small})
	d.Chairs, d.Estates = d.Chairs[:400], d.Estates[:400]
	l := &lab{data: d, dir: t.TempDir()}
	if err := data.WriteService(l.dir, d); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Exec(t, sandboxtest.DB(t, server, ""), "DROP DATABASE IF EXISTS isuumo", "CREATE DATABASE isuumo")
	l.db = sandboxtest.DB(t, server, "isuumo")
	return l
}

func (l *lab) options(w io.Writer) Options {
	return Options{
		DB: l.db, SQLDir: filepath.Join(l.dir, "sql"), FixtureDir: filepath.Join(l.dir, "fixture"),
		Log: log.New(w, "", 0),
	}
}

// start starts a service, which is closed at the end of the test or by the function.
func (l *lab) start(t *testing.T, o Options) (*Service, func()) {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return s, stop
}

// started starts a service and initialises it.
func (l *lab) started(t *testing.T) *Service {
	t.Helper()
	s, _ := l.start(t, l.options(t.Output()))
	ask(t, s, "POST", "/initialize", "")
	return s
}

// rows reads the tables.
func (l *lab) rows(t testing.TB) *rows {
	t.Helper()
	conn, err := l.db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s := &session{conn}
	if err := s.use(t.Context(), "isuumo"); err != nil { // of another database, if it was before /initialize
		t.Fatal(err)
	}
	chairs, err := readRows(t.Context(), s, "chair", chairColumns, chairFields)
	if err != nil {
		t.Fatal(err)
	}
	estates, err := readRows(t.Context(), s, "estate", estateColumns, estateFields)
	if err != nil {
		t.Fatal(err)
	}
	return &rows{model.Pointers(chairs), model.Pointers(estates)}
}

// check compares all answers with the tables.
func (l *lab) check(t testing.TB, h http.Handler) {
	t.Helper()
	r := l.rows(t)
	r.checkLists(t, h)
	r.checkRows(t, h, false)
	q := &model.ChairQuery{Features: []string{"%"}, PerPage: 1 << 20}
	n := len(slices.DeleteFunc(slices.Clone(r.chairs), func(c *isuumo.Chair) bool { return c.Stock <= 0 }))
	got := ask(t, h, "GET", "/api/chair/search?"+q.Values().Encode(), "")
	if !strings.HasPrefix(string(got), `{"count":`+strconv.Itoa(n)+",") {
		t.Fatalf("a search for all of %d chairs: %.40s", n, got)
	}
}

const order = `{"email":"somebody@example.com"}`

func buy(h http.Handler, id int64) int {
	code, _ := answerOf(h, "POST", fmt.Sprintf("/api/chair/buy/%d", id), order)
	return code
}

// uploadBody is a file of CSV in a multipart form.
func uploadBody(part string, text []byte) (contentType string, body []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	f, _ := w.CreateFormFile(part, part+".csv") // a buffer takes everything
	f.Write(text)
	w.Close()
	return w.FormDataContentType(), b.Bytes()
}

func postRows(h http.Handler, target, part string, text []byte) int {
	contentType, body := uploadBody(part, text)
	r := httptest.NewRequest("POST", target, bytes.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

func postChairs(h http.Handler, chairs ...isuumo.Chair) int {
	return postRows(h, "/api/chair", "chairs", chairCSV(chairs))
}

func postEstates(h http.Handler, estates ...isuumo.Estate) int {
	return postRows(h, "/api/estate", "estates", estateCSV(estates))
}

func chairCSV(chairs []isuumo.Chair) []byte {
	return csvOf(chairs, func(c *isuumo.Chair) []any {
		return []any{c.ID, c.Name, c.Description, c.Thumbnail, c.Price, c.Height, c.Width, c.Depth, c.Color, c.Features, c.Kind, c.Popularity, c.Stock}
	})
}

func estateCSV(estates []isuumo.Estate) []byte {
	return csvOf(estates, func(e *isuumo.Estate) []any {
		return []any{e.ID, e.Name, e.Description, e.Thumbnail, e.Address, e.Latitude, e.Longitude, e.Rent, e.DoorHeight, e.DoorWidth, e.Features, e.Popularity}
	})
}

func csvOf[T any](rows []T, fields func(*T) []any) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for i := range rows {
		var record []string
		for _, f := range fields(&rows[i]) {
			record = append(record, fmt.Sprint(f))
		}
		w.Write(record)
	}
	w.Flush()
	return b.Bytes()
}

// TestService: the life of a service over a database that begins without tables.
func TestService(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, durable, func(t *testing.T, server *sandbox.Server) {
		l := newLab(t, server)
		s, stop := l.start(t, l.options(t.Output()))
		if code, _ := answerOf(s, "GET", "/api/chair/low_priced", ""); code != http.StatusServiceUnavailable {
			t.Errorf("without tables: %d", code)
		}
		if code := buy(s, 1); code != http.StatusServiceUnavailable {
			t.Errorf("purchase without tables: %d", code)
		}
		ask(t, s, "POST", "/initialize", "")
		first := l.rows(t)
		if len(first.chairs) != 400 || len(first.estates) != 400 {
			t.Fatalf("%d chairs, %d estates", len(first.chairs), len(first.estates))
		}
		l.check(t, s)

		l.write(t, s)
		l.check(t, s)
		stop()

		// A process that starts reads the tables, whatever they have beside their columns.
		sandboxtest.Exec(t, l.db, "ALTER TABLE isuumo.chair ADD COLUMN rank_no INTEGER NOT NULL DEFAULT 7 FIRST")
		s, _ = l.start(t, l.options(t.Output()))
		l.check(t, s)
		l.write2(t, s)
		l.check(t, s)

		// The files decide, and they may have changed.
		if err := os.WriteFile(filepath.Join(l.dir, "sql", "3_More.sql"), []byte("UPDATE isuumo.chair SET stock = 0 WHERE id = 3;\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		ask(t, s, "POST", "/initialize", "")
		first.chairs[2].Stock = 0
		first.checkRows(t, s, false)
		l.check(t, s)
	})
}

// write sells and uploads.
func (l *lab) write(t *testing.T, s *Service) {
	t.Helper()
	// A chair is sold as often as it is there, by however many at once.
	c := l.data.Chairs[4]
	var wg sync.WaitGroup
	codes := make([]int, c.Stock+20)
	for i := range codes {
		wg.Go(func() { codes[i] = buy(s, c.ID) })
	}
	wg.Wait()
	if sold := countIf(codes, func(code int) bool { return code == http.StatusOK }); sold != int(c.Stock) {
		t.Errorf("%d of %d chairs sold", sold, c.Stock)
	}
	if n := countIf(codes, func(code int) bool { return code == http.StatusNotFound }); n != 20 {
		t.Errorf("statuses %v", codes)
	}

	if code := postChairs(s, l.data.DraftChairs[0]...); code != http.StatusCreated {
		t.Errorf("upload of chairs: %d", code)
	}
	if code := postEstates(s, l.data.DraftEstates[0]...); code != http.StatusCreated {
		t.Errorf("upload of estates: %d", code)
	}
	if code := postEstates(s); code != http.StatusCreated {
		t.Errorf("upload of nothing: %d", code)
	}
	// All or nothing, whatever the database refuses.
	again := slices.Clone(l.data.DraftChairs[1])
	again[len(again)-1].ID = 5
	if code := postChairs(s, again...); code != http.StatusInternalServerError {
		t.Errorf("upload with an id that is there: %d", code)
	}
	again = slices.Clone(l.data.DraftChairs[1])
	again[len(again)-1].Color = strings.Repeat("赤", 65)
	if code := postChairs(s, again...); code != http.StatusInternalServerError {
		t.Errorf("upload with a color that is too long: %d", code)
	}
	if code, _ := answerOf(s, "GET", fmt.Sprintf("/api/chair/%d", again[0].ID), ""); code != http.StatusNotFound {
		t.Errorf("a chair that was not uploaded: %d", code)
	}
}

// write2 uploads rows whose text and numbers are hard to write as SQL or JSON.
func (l *lab) write2(t *testing.T, s *Service) {
	t.Helper()
	c := l.data.DraftChairs[2][0]
	c.Name, c.Description = `'); DROP TABLE chair; -- \`, "a\"b\\\nc\x00d\t🪑 </script>"
	c.Color, c.Features = "透明 ", `100%\'`
	if code := postChairs(s, c); code != http.StatusCreated {
		t.Fatalf("upload of a strange chair: %d", code)
	}
	same(t, "strange chair", ask(t, s, "GET", fmt.Sprintf("/api/chair/%d", c.ID), ""), model.ChairAnswer(&c))
	e := l.data.DraftEstates[2][0]
	e.Latitude, e.Longitude, e.Rent = 1e-7, -139.76912345678901, -5
	if code := postEstates(s, e); code != http.StatusCreated {
		t.Fatalf("upload of a strange estate: %d", code)
	}
	same(t, "strange estate", ask(t, s, "GET", fmt.Sprintf("/api/estate/%d", e.ID), ""), model.EstateAnswer(&e))
}
