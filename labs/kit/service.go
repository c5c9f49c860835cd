package kit

import (
	"database/sql"
	"expvar"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Collect scans rows into values, to the places that into gives of one. Rows and their error are those of
// a query; the rows are closed.
func Collect[T any](rows *sql.Rows, err error, into func(*T) []any) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []T{}
	for rows.Next() {
		var v T
		if err := rows.Scan(into(&v)...); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// Chatty logs five lines for each request, as APP-01 has it.
func Chatty(log io.Writer, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strconv.FormatInt(time.Now().UnixNano(), 36)
		for _, step := range []string{"request received", "session looked up", "handler chosen", "handler entered"} {
			fmt.Fprintf(log, "%s DEBUG %s id=%s method=%s uri=%s agent=%q\n", time.Now().Format(time.RFC3339Nano),
				step, id, r.Method, r.URL, r.UserAgent())
		}
		h.ServeHTTP(w, r)
		fmt.Fprintf(log, "%s DEBUG request done id=%s\n", time.Now().Format(time.RFC3339Nano), id)
	})
}

// ShowPool shows a pool as expvar does.
func ShowPool(db *sql.DB) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		stats := expvar.Func(func() any { return db.Stats() })
		fmt.Fprintf(w, "{\"db\": %s}\n", stats.String())
	}
}
