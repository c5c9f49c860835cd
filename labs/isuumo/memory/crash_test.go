package memory

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/contest/contesttest"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/isuumo/data"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// childEnv makes the test binary a service: its value is the DSN, a line break and
// the directory of the files.
const childEnv = "KASOKU_TEST_ISUUMO_MEMORY"

func TestMain(m *testing.M) { contesttest.Main(m, childEnv, child) }

// child serves until it is killed.
func child(value string, ready func(address string)) error {
	dsn, dir, _ := strings.Cut(value, "\n")
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		return err
	}
	s, err := New(Options{
		DB: db, SQLDir: filepath.Join(dir, "sql"), FixtureDir: filepath.Join(dir, "fixture"),
		Log: log.New(os.Stderr, "", log.Lmicroseconds),
	})
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ready(ln.Addr().String())
	return http.Serve(ln, s)
}

// A crashed is a service in a process of its own that is killed again and again,
// and all answers that its clients received.
type crashed struct {
	t      *testing.T
	lab    *lab
	app    *contesttest.Victim
	client http.Client

	attempted, sold []atomic.Int64 // by chair
	sales, uploads  atomic.Int64   // acknowledged

	mu      sync.Mutex
	drafts  []*draft
	nextRow int64
}

// A draft is an upload that was begun.
type draft struct {
	chairs       []isuumo.Chair
	estates      []isuumo.Estate
	acknowledged bool
}

// send returns the status, 0 when there was no answer.
func (c *crashed) send(method, path, contentType string, body []byte) (int, []byte) {
	r, err := http.NewRequest(method, c.app.Base()+path, bytes.NewReader(body))
	if err != nil {
		c.t.Error(err)
		return 0, nil
	}
	r.Header.Set("Content-Type", contentType)
	resp, err := c.client.Do(r)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, nil
	}
	return resp.StatusCode, answer
}

// buy buys chairs: some are sold out soon, others never.
func (c *crashed) buy(rng *rand.Rand) (ok bool) {
	chair := &c.lab.data.Chairs[rng.IntN(crashChairs)]
	c.attempted[chair.ID].Add(1)
	code, _ := c.send("POST", fmt.Sprintf("/api/chair/buy/%d", chair.ID), "application/json", []byte(order))
	switch code {
	case http.StatusOK:
	case http.StatusNotFound:
		if chair.Stock > 1000 {
			c.t.Errorf("chair %d is sold out", chair.ID)
		}
		return true
	case 0, http.StatusServiceUnavailable:
		return false
	default:
		c.t.Errorf("purchase: %d", code)
		return false
	}
	c.sales.Add(1)
	if c.sold[chair.ID].Add(1) < chair.Stock {
		return true
	}
	if code, _ := c.send("GET", fmt.Sprintf("/api/chair/%d", chair.ID), "", nil); code == http.StatusOK {
		c.t.Errorf("chair %d was sold as often as it was there, and is shown", chair.ID)
	}
	return true
}

// upload uploads rows of one kind with new ids.
func (c *crashed) upload(ofChairs bool) (ok bool) {
	d := &draft{}
	c.mu.Lock()
	c.drafts = append(c.drafts, d)
	id := c.nextRow
	c.nextRow += crashRows
	c.mu.Unlock()
	path, part, text := "/api/chair", "chairs", []byte(nil)
	if ofChairs {
		d.chairs = slices.Clone(c.lab.data.Chairs[200 : 200+crashRows])
		for i := range d.chairs {
			d.chairs[i].ID = id + int64(i)
		}
		text = chairCSV(d.chairs)
	} else {
		d.estates = slices.Clone(c.lab.data.Estates[200 : 200+crashRows])
		for i := range d.estates {
			d.estates[i].ID = id + int64(i)
		}
		path, part, text = "/api/estate", "estates", estateCSV(d.estates)
	}
	contentType, body := uploadBody(part, text)
	switch code, _ := c.send("POST", path, contentType, body); code {
	case http.StatusCreated:
	case 0, http.StatusServiceUnavailable:
		return false
	default:
		c.t.Errorf("upload: %d", code)
		return false
	}
	d.acknowledged = true
	c.uploads.Add(1)
	if code, _ := c.send("GET", fmt.Sprintf("%s/%d", path, id), "", nil); code != http.StatusOK && code != 0 {
		c.t.Errorf("an uploaded row: %d", code)
	}
	return true
}

func (c *crashed) read(rng *rand.Rand) (ok bool) {
	paths := []string{"/api/chair/low_priced", "/api/estate/low_priced", "/api/chair/search?priceRangeId=1&page=0&perPage=25", "/api/recommended_estate/7"}
	path := paths[rng.IntN(len(paths))]
	code, _ := c.send("GET", path, "", nil)
	if code != http.StatusOK && code != 0 {
		c.t.Errorf("%s: %d", path, code)
	}
	return code != 0
}

const (
	crashChairs = 60 // that are bought
	crashRows   = 20 // of an upload
)

// clients runs clients until the context ends; each pauses after what was not
// answered.
func (c *crashed) clients(ctx context.Context) (wait func()) {
	var wg sync.WaitGroup
	run := func(n int, do func(rng *rand.Rand) bool) {
		for i := range n {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(n), uint64(i)))
				tick := time.NewTicker(5 * time.Millisecond)
				defer tick.Stop()
				for ctx.Err() == nil {
					if !do(rng) {
						<-tick.C
					}
				}
			})
		}
	}
	run(8, c.buy)
	run(1, func(*rand.Rand) bool { return c.upload(true) })
	run(1, func(*rand.Rand) bool { return c.upload(false) })
	run(2, func(rng *rand.Rand) bool { return c.read(rng) })
	return wg.Wait
}

// TestCrashes: whatever is killed, with SIGKILL and under load, everything that was
// confirmed to clients is in the database, nothing is there in part, and memory and
// database agree.
func TestCrashes(t *testing.T) {
	turn.Wait(t)
	kills := 10
	if os.Getenv("KASOKU_LONG") != "" {
		kills = 200
	}
	server := sandboxtest.MariaDB(t, durable)
	l := newLab(t, server)
	for i := crashChairs / 2; i < crashChairs; i++ {
		l.data.Chairs[i].Stock = 1_000_000
	}
	if err := data.WriteService(l.dir, l.data); err != nil {
		t.Fatal(err)
	}
	c := &crashed{
		t: t, lab: l, app: contesttest.NewVictim(t, childEnv, server.DSN("", "isuumo")+"\n"+l.dir), nextRow: 1_000_000,
		attempted: make([]atomic.Int64, crashChairs+1), sold: make([]atomic.Int64, crashChairs+1),
	}
	c.client.Transport = &http.Transport{MaxIdleConnsPerHost: 16}
	c.app.Start()
	defer func() { c.app.Kill() }()
	if code, _ := c.send("POST", "/initialize", "", nil); code != http.StatusOK {
		t.Fatalf("initialize: %d", code)
	}
	ctx, cancel := context.WithCancel(t.Context())
	wait := c.clients(ctx)
	for range kills {
		c.progress()
		c.app.Kill()
		c.app.Start()
		c.progress()
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c.progress()
	cancel()
	wait()
	target, err := url.Parse(c.app.Base())
	if err != nil {
		t.Fatal(err)
	}
	l.check(t, httputil.NewSingleHostReverseProxy(target))
	c.check(l)
	c.app.Kill()
	s, _ := l.start(t, l.options(t.Output()))
	l.check(t, s)
	c.check(l)
	t.Logf("%d sales and %d uploads acknowledged over %d kills", c.sales.Load(), c.uploads.Load(), 2*kills)
}

// progress waits until some purchases and uploads were acknowledged.
func (c *crashed) progress() {
	c.t.Helper()
	sales, uploads := c.sales.Load()+100, c.uploads.Load()+5
	until(c.t, "sales and uploads go on", func() bool {
		return c.sales.Load() >= sales && c.uploads.Load() >= uploads
	})
}

// check compares the tables with what was confirmed to clients.
func (c *crashed) check(l *lab) {
	c.t.Helper()
	r := l.rows(c.t)
	chairs, estates := map[int64]isuumo.Chair{}, map[int64]isuumo.Estate{}
	for _, row := range r.chairs {
		chairs[row.ID] = *row
	}
	for _, row := range r.estates {
		estates[row.ID] = *row
	}
	for _, row := range l.data.Chairs[:crashChairs] {
		gone := row.Stock - chairs[row.ID].Stock
		sold, attempted := c.sold[row.ID].Load(), c.attempted[row.ID].Load()
		if chairs[row.ID].Stock < 0 || gone < sold || gone > attempted {
			c.t.Errorf("chair %d: %d of %d are gone, %d were sold, %d were asked for", row.ID, gone, row.Stock, sold, attempted)
		}
	}
	begun := 0
	for _, d := range c.drafts {
		if checkDraft(c.t, d.chairs, chairs, func(c isuumo.Chair) int64 { return c.ID }, d.acknowledged) {
			begun += len(d.chairs)
		}
		if checkDraft(c.t, d.estates, estates, func(e isuumo.Estate) int64 { return e.ID }, d.acknowledged) {
			begun += len(d.estates)
		}
	}
	if want := len(l.data.Chairs) + len(l.data.Estates) + begun; len(chairs)+len(estates) != want {
		c.t.Errorf("%d rows, want %d", len(chairs)+len(estates), want)
	}
}

// checkDraft reports whether the rows of an upload are in the table: each as it was
// sent, and all of them or, when the upload was not acknowledged, none.
func checkDraft[T any](t *testing.T, rows []T, table map[int64]T, id func(T) int64, acknowledged bool) bool {
	t.Helper()
	n := 0
	for _, row := range rows {
		got, ok := table[id(row)]
		if !ok {
			continue
		}
		n++
		if !reflect.DeepEqual(got, row) {
			t.Errorf("uploaded %+v, the table has %+v", row, got)
		}
	}
	if n != len(rows) && (acknowledged || n != 0) {
		t.Errorf("of %d rows uploaded, %d are there; acknowledged: %t", len(rows), n, acknowledged)
	}
	return n > 0
}
