// Package sqltag puts the route of the HTTP request into the SQL that it issues:
//
//	/*route='GET%20%2Fusers%2F%7Bid%7D'*/ SELECT name FROM users WHERE id = ?
//
// Its one idea: with that comment a slow log alone shows which endpoint runs which
// statement, exactly and for next to nothing. kasoku reads it, and so does whatever
// knows sqlcommenter. Fingerprints, digests and plans are the same with it.
//
// Two lines of a program change:
//
//	db, err := sqltag.Open("mysql", dsn)        // was sql.Open
//	http.ListenAndServe(addr, sqltag.Tag(mux))  // was mux
//
// Statements that are run with the request's context carry its route; so do those
// that are run without, as long as the goroutine of the handler runs them. What a
// goroutine runs that the handler started needs the context.
//
// The comment holds the route, not the request: a statement has as many texts as
// it has endpoints, so caches of prepared statements keep working. A statement
// that was prepared outside of a request is left as it is. BEGIN, COMMIT and
// ROLLBACK are the driver's and carry nothing.
//
// The package needs the standard library alone; its one file can be copied. All of
// it may be used by several goroutines at once.
//
// Sources: sqlcommenter's specification for the form of the comment; the package
// database/sql/driver for what a driver may offer.
package sqltag

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// Open is sql.Open with a tagging driver around the one of that name. It connects
// no sooner than sql.Open does, and fails as that does.
func Open(driverName, dsn string) (*sql.DB, error) {
	db, err := sql.Open(driverName, dsn)
	if err != nil {
		return nil, err
	}
	d := db.Driver()
	if err := db.Close(); err != nil { // it has connected to nothing
		return nil, err
	}
	if dc, ok := d.(driver.DriverContext); ok {
		c, err := dc.OpenConnector(dsn)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(Connector(c)), nil
	}
	return sql.OpenDB(Connector(dsnConnector{d, dsn})), nil
}

// Connector returns a connector whose connections tag what they run, for
// sql.OpenDB.
func Connector(c driver.Connector) driver.Connector { return connector{c} }

// Tag returns a handler that lets next run with the request's route known: the
// pattern of next where that is an http.ServeMux, else the pattern that a mux
// around it matched, else the path with numbers and other ids replaced.
func Tag(next http.Handler) http.Handler {
	mux, _ := next.(*http.ServeMux)
	return TagBy(func(r *http.Request) string {
		pattern := r.Pattern
		if mux != nil {
			_, pattern = mux.Handler(r)
		}
		if pattern == "" {
			return r.Method + " " + formOf(r.URL.Path)
		}
		if !strings.Contains(pattern, " ") { // it takes any method
			return r.Method + " " + pattern
		}
		return pattern
	}, next)
}

// TagBy is [Tag] with a route of your own. Where route returns an empty string
// statements are left as they are.
func TagBy(route func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := WithRoute(r.Context(), route(r))
		defer current.set(tagOf(ctx))()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

type key struct{}

// WithRoute returns a context whose statements carry the route, such as
// "GET /users/:id" or the name of a job. An empty one takes a tag away.
func WithRoute(ctx context.Context, route string) context.Context {
	return context.WithValue(ctx, key{}, comments.of(route))
}

// tagOf returns the comment for statements of a context, empty without one.
func tagOf(ctx context.Context) string {
	tag, _ := ctx.Value(key{}).(string)
	return tag
}

// tagQuery returns the statement with the comment of its context, else of the
// goroutine's request. One that has a route keeps it.
func tagQuery(ctx context.Context, query string) string {
	tag, ok := ctx.Value(key{}).(string)
	if !ok {
		tag = current.get()
	}
	if tag == "" || strings.HasPrefix(query, "/*route=") {
		return query
	}
	return tag + query
}

// comments keeps the comments of routes, as many as a program may have. Routes
// beyond are written anew each time.
var comments cache

type cache struct {
	known sync.Map // route to comment
	n     atomic.Int64
}

const mostKept = 4096

func (c *cache) of(route string) string {
	if route == "" {
		return ""
	}
	if v, ok := c.known.Load(route); ok {
		return v.(string)
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.WriteString("/*route='")
	for i := range len(route) {
		switch ch := route[i]; {
		case 'a' <= ch && ch <= 'z', 'A' <= ch && ch <= 'Z', '0' <= ch && ch <= '9', strings.IndexByte("-_.~", ch) >= 0:
			b.WriteByte(ch)
		default: // so neither a quote nor the end of the comment can be in it
			b.Write([]byte{'%', hex[ch>>4], hex[ch&15]})
		}
	}
	b.WriteString("'*/ ")
	if c.n.Load() < mostKept {
		if _, there := c.known.LoadOrStore(strings.Clone(route), b.String()); !there {
			c.n.Add(1)
		}
	}
	return b.String()
}

// formOf returns a path with what looks like an id replaced: numbers, and segments
// of at least 8 characters with a digit among them.
func formOf(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		digits := 0
		for _, ch := range p {
			if '0' <= ch && ch <= '9' {
				digits++
			}
		}
		if digits > 0 && (digits == len(p) || len(p) >= 8) {
			parts[i] = ":id"
		}
	}
	return strings.Join(parts, "/")
}

// current knows the requests that goroutines are at, for programs that run
// statements without a context.
var current requests

type requests struct {
	shards [64]struct {
		sync.Mutex
		tags map[uint64]string
		_    [48]byte // two shards share no line of the cache
	}
}

// set makes the tag that of this goroutine and returns what puts back the one
// before.
func (r *requests) set(tag string) func() {
	id := goroutineID()
	s := &r.shards[id%64]
	s.Lock()
	defer s.Unlock()
	if s.tags == nil {
		s.tags = map[uint64]string{}
	}
	before := s.tags[id]
	s.tags[id] = tag
	return func() {
		s.Lock()
		defer s.Unlock()
		if before == "" {
			delete(s.tags, id)
		} else {
			s.tags[id] = before
		}
	}
}

func (r *requests) get() string {
	id := goroutineID()
	s := &r.shards[id%64]
	s.Lock()
	defer s.Unlock()
	return s.tags[id]
}

// goroutineID returns the number of this goroutine, from the first line of its
// trace: "goroutine 18 [running]:". There is no other way without package unsafe.
func goroutineID() uint64 {
	var buf [40]byte
	line := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	var id uint64
	for _, ch := range line {
		if ch < '0' || ch > '9' {
			break
		}
		id = 10*id + uint64(ch-'0')
	}
	return id
}

type dsnConnector struct {
	d   driver.Driver
	dsn string
}

func (c dsnConnector) Connect(context.Context) (driver.Conn, error) { return c.d.Open(c.dsn) }
func (c dsnConnector) Driver() driver.Driver                        { return c.d }

type connector struct{ driver.Connector }

// Close closes the driver's connector where it has something to close.
func (c connector) Close() error {
	if cl, ok := c.Connector.(io.Closer); ok {
		return cl.Close()
	}
	return nil
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	got, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{got}, nil
}

// conn passes all on to a driver's connection. Where that does not offer
// something, conn does what database/sql would do without it.
type conn struct{ driver.Conn }

// Unwrap returns the driver's own connection, for sql.Conn.Raw.
func (c *conn) Unwrap() driver.Conn { return c.Conn }

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	query = tagQuery(ctx, query)
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		return p.PrepareContext(ctx, query)
	}
	s, err := c.Conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := c.Conn.(driver.QueryerContext); ok {
		return q.QueryContext(ctx, tagQuery(ctx, query), args)
	}
	return nil, driver.ErrSkip // it is prepared, and tagged there
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := c.Conn.(driver.ExecerContext); ok {
		return e.ExecContext(ctx, tagQuery(ctx, query), args)
	}
	return nil, driver.ErrSkip
}

var errOptions = errors.New("sqltag: the driver knows neither isolation levels nor read-only transactions")

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.Conn.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, o)
	}
	if o != (driver.TxOptions{}) {
		return nil, errOptions
	}
	tx, err := c.Begin() // all that an old driver has
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, tx.Rollback())
	}
	return tx, nil
}

func (c *conn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

func (c *conn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *conn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip // to the driver's converters
}
