package sqltag_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/kasoku/kasoku/mysqlflags" // registers the driver
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/sqltag"
)

// TestServers: the server logs the comment, of statements with their values in the
// text and of prepared ones.
func TestServers(t *testing.T) {
	log := filepath.Join(t.TempDir(), "slow.log")
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		log := log + s.Kind
		sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "SET GLOBAL slow_query_log_file = '"+log+"'", "SET GLOBAL long_query_time = 0", "SET GLOBAL slow_query_log = ON")
		for _, params := range []string{"", "?interpolateParams=true"} {
			db, err := sqltag.Open("mysql", s.DSN("root", "")+params)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			mux := http.NewServeMux()
			mux.HandleFunc("GET /sum/{n}", func(w http.ResponseWriter, r *http.Request) {
				var n int
				if err := db.QueryRowContext(r.Context(), "SELECT ? + 1", r.PathValue("n")).Scan(&n); err != nil || n != 42 {
					t.Errorf("%d, %v", n, err)
				}
				tx, err := db.BeginTx(r.Context(), nil)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := tx.Exec("DO 1"); err != nil { // no context: the goroutine's
					t.Error(err)
				}
				if err := tx.Commit(); err != nil {
					t.Error(err)
				}
			})
			sqltag.Tag(mux).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/sum/41", nil))
		}
		data, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		const route = "/*route='GET%20%2Fsum%2F%7Bn%7D'*/ "
		for _, want := range []string{route + "SELECT '41' + 1;", route + "DO 1;"} {
			if n := strings.Count(string(data), want); n != 2 {
				t.Errorf("%d × %q in\n%s", n, want, data)
			}
		}
	})
}
