package mysql

import (
	"fmt"
	"testing"

	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestSampleColumns_CompositeKey: of a table that is in the order of its tenants the sample has rows of
// several, whatever the first column of the key is.
func TestSampleColumns_CompositeKey(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		const digits = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7)"
		sandboxtest.Exec(t, db, "CREATE DATABASE shop")
		r, err := New(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		f := func(kind string, least int) {
			t.Helper()
			name := "t_" + kind[:3]
			sandboxtest.Exec(t, db, "CREATE TABLE shop."+name+" (tenant "+kind+" NOT NULL, id INT NOT NULL, kind INT NOT NULL, PRIMARY KEY (tenant, id))",
				"INSERT INTO shop."+name+" SELECT t.d, a.d + 10 * b.d + 100 * c.d + 1000 * e.d, a.d FROM "+digits+" t, "+digits+" a, "+
					digits+" b, "+digits+" c, "+digits+" e")
			var table, create string
			if err := db.QueryRow("SHOW CREATE TABLE shop."+name).Scan(&table, &create); err != nil {
				t.Fatal(err)
			}
			def := TableDef{Schema: "shop", Name: name, Create: create, Rows: 8 * 4096,
				Indexes: []IndexParts{{Name: "PRIMARY", Unique: true, Columns: []string{"tenant", "id"}}}}
			columns, err := NewSchema(r).SampleColumns(t.Context(), def)
			if err != nil || len(columns) != 3 {
				t.Fatal(columns, err)
			}
			if c := columns[0]; c.Distinct < least || c.Rows > samplePlaces*sampleRows {
				t.Errorf("%s: %s", kind, fmt.Sprintf("%+v", c))
			}
		}
		f("SMALLINT", 7)
		f("VARCHAR(9)", 2)
	})
}
