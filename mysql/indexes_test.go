package mysql

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

func TestIndexes(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY, a INT, b VARCHAR(99), UNIQUE KEY ab (a, b), KEY b10 (b(10)))",
			"SET GLOBAL max_connections = 77")
		want := []string{"unique index shop.items.ab (a, b)", "index shop.items.b10 (b(10))", "unique index shop.items.PRIMARY (id)"}
		r, err := New(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if r.Flavor() == MySQL {
			sandboxtest.Exec(t, db, "CREATE INDEX expr ON shop.items ((a + 1))")
			want = slices.Insert(want, 2, "index shop.items.expr ((`a` + 1))")
			want[2] = "index shop.items.expr (((`a` + 1)))"
		}
		indexes, err := NewSchema(r).Indexes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, i := range indexes {
			got = append(got, fmt.Sprint(i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		names, ok, err := r.SetAtRuntime(t.Context())
		if err != nil || !ok || !slices.Contains(names, "max_connections") || slices.Contains(names, "port") {
			t.Errorf("%q %v %v", names, ok, err)
		}
		on, err := r.EnabledConsumers(t.Context())
		if err != nil || slices.Contains(on, "statements_digest") != (r.Flavor() == MySQL) || slices.Contains(on, "events_waits_current") {
			t.Errorf("consumers %q, %v", on, err)
		}
	})
}
