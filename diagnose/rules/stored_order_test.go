package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/rules/index"
)

// TestIndexes_StoredOrder: advice of an index warns where statements send the rows of a table
// without a key as they are stored, and is no harmless change where the index serves one.
func TestIndexes_StoredOrder(t *testing.T) {
	const keyless = "CREATE TABLE `trains` (`day` date NOT NULL, `name` varchar(20) NOT NULL, `kind` int NOT NULL, " +
		"`departs` int NOT NULL)"
	const keyed = "CREATE TABLE `trains` (`id` int NOT NULL, `day` date NOT NULL, `name` varchar(20) NOT NULL, " +
		"`kind` int NOT NULL, `departs` int NOT NULL, PRIMARY KEY (`id`))"
	const listed, one = "SELECT name, departs FROM trains WHERE day = ?", "SELECT departs FROM trains WHERE name = ?"
	f := func(name, create, schema string, want string, risk kasoku.Risk, of ...string) {
		t.Helper()
		var all []kasoku.Query
		for i, sql := range of {
			rows := 1.0
			if strings.HasPrefix(sql, listed) {
				rows = 20
			}
			q := class(string(rune('A'+i)), sql, 1000, rows, 40*time.Second)
			q.RowsExamined, q.Tables = 1000*20_000, []string{"rail.trains"}
			all = append(all, q)
		}
		c := queryRun(ordersGet, all)
		c.Tables = []kasoku.TableDef{{Schema: schema, Name: "trains", Create: create, Rows: 20_000}}
		found, silent := index.MissingIndex{}.Check(c)
		if len(found) != 1 {
			t.Errorf("%s: %d findings, %v", name, len(found), silent)
			return
		}
		fix := &found[0].Fixes[0]
		if fix.Risk != risk || strings.Contains(fix.Note, "(OPS-04)") != (want != "") || !strings.Contains(fix.Note, want) {
			t.Errorf("%s: risk %q, %q; want %q, risk %q", name, fix.Risk, fix.Note, want, risk)
		}
	}
	const served = "First add ORDER BY to 1 class of statements of trains (OPS-04): the index serves one"
	f("the index serves the list", keyless, "rail", served, kasoku.RiskSemantics, listed)
	f("and another", keyless, "rail", served, kasoku.RiskSemantics, listed, one)
	f("the list says its order", keyless, "rail", "", kasoku.RiskNone, listed+" ORDER BY departs, name")
	f("a row alone", keyless, "rail", "", kasoku.RiskNone, one)
	f("the table has a key", keyed, "rail", "", kasoku.RiskNone, listed)
}
