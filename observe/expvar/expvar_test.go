package expvar_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	goexpvar "expvar"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/expvar"
)

var _ observe.WarningSource = (*expvar.Source)(nil)

// nowhere is a driver whose connections are good for nothing else.
type nowhere struct{}

func (nowhere) Connect(context.Context) (driver.Conn, error) { return conn{}, nil }
func (nowhere) Driver() driver.Driver                        { return nil }

type conn struct{}

func (conn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("no statements") }
func (conn) Close() error                        { return nil }
func (conn) Begin() (driver.Tx, error)           { return nil, errors.New("no transactions") }

// A real program's variables, with its command line and memory beside the pool.
func TestCollect(t *testing.T) {
	db := sql.OpenDB(nowhere{})
	defer db.Close()
	db.SetMaxOpenConns(3)
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	goexpvar.Publish("shop", goexpvar.Func(func() any { return map[string]any{"pools": map[string]any{"main": db.Stats()}} }))
	srv := httptest.NewServer(goexpvar.Handler())
	defer srv.Close()
	s := expvar.New(srv.URL + "/debug/vars")
	defer s.Close()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	got := map[string]kasoku.Sample{}
	for _, x := range f.Samples {
		if x.Instance != "shop.pools.main" {
			t.Errorf("%+v", x)
		}
		got[x.Name] = x
	}
	if len(got) != reflect.TypeFor[sql.DBStats]().NumField() || got["MaxOpenConnections"].Value != 3 || got["InUse"].Value != 1 || got["Idle"].Value != 0 ||
		got["WaitCount"].Kind != kasoku.Counter || got["WaitDuration"].Unit != "s" {
		t.Errorf("%+v", got)
	}
	if w := s.Warnings(); len(w) > 0 {
		t.Error(w)
	}
}

func TestCollectFails(t *testing.T) {
	answer := "[]"
	code := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, answer)
	}))
	defer srv.Close()
	f := func(want string, addresses ...string) *expvar.Source {
		t.Helper()
		s := expvar.New(addresses...)
		defer s.Close()
		err := s.Collect(t.Context(), &kasoku.Frame{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
		return s
	}
	if w := f("", srv.URL).Warnings(); len(w) != 1 || w[0].Code != "no-pools" {
		t.Errorf("%+v", w)
	}
	answer = "oops"
	f("no JSON", srv.URL)
	code = http.StatusNotFound
	f("answered 404", srv.URL)
	code, answer = http.StatusOK, `{"db":{"OpenConnections":1,"InUse":1,"Idle":0,"WaitCount":7}}`
	f("", srv.URL, "http://127.0.0.1:1/")
	f("refused", "http://127.0.0.1:1/")
}

func TestCheck(t *testing.T) {
	for address, ok := range map[string]bool{
		"http://127.0.0.1:6060/debug/vars": true, "https://app/debug/vars": true, "127.0.0.1:6060": false, "/debug/vars": false, "ftp://a/b": false, "http://": false, "\x00": false,
	} {
		if err := expvar.Check(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	stats, err := json.Marshal(map[string]any{"cmdline": []string{"app", "-password=x"}, "db": sql.DBStats{WaitCount: 3}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stats)
	f.Add([]byte(`{"a":{"b":{"OpenConnections":1,"InUse":1,"Idle":0,"WaitCount":-1}}}`))
	f.Add([]byte(`{"\u001b[31m":{"OpenConnections":1,"InUse":1,"Idle":0,"WaitCount":1}}`))
	f.Add([]byte(`[1`))
	f.Fuzz(func(t *testing.T, body []byte) {
		pools, err := expvar.Parse(body)
		if err != nil && pools != nil {
			t.Error("pools with an error")
		}
		for _, p := range pools {
			if len(p.Values) < 4 || strings.ContainsAny(p.Name, "\x1b\n\r\x00") {
				t.Errorf("%+v", p)
			}
			for name, v := range p.Values {
				if v < 0 || strings.ContainsAny(name, "\x1b") {
					t.Errorf("%s = %v", name, v)
				}
			}
		}
	})
}
