package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/index"
)

// TestLikeScan_Found: where calls of a LIKE whose patterns were not kept read less than the table on average,
// the index of the column serves some, and no pattern is said to begin with a wildcard.
func TestLikeScan_Found(t *testing.T) {
	const sql = "SELECT COUNT(*) FROM keepers WHERE surname LIKE REPLACE(?, ?, ?)"
	check := func(perCall uint64) ([]kasoku.Finding, []kasoku.Silence) {
		q := class("L", sql, 1000, 1, 60*time.Second)
		q.RowsExamined, q.Tables = perCall*1000, []string{"keepers"}
		c := queryRun(ordersGet, []kasoku.Query{q}, runBy("L", 1, kasoku.CallerConfirmed))
		c.Tables = []kasoku.TableDef{{Name: "keepers", Engine: "InnoDB", Rows: 20_000, DataBytes: 2 << 20,
			Create: "CREATE TABLE `keepers` (\n  `id` int NOT NULL,\n  `surname` varchar(30),\n  PRIMARY KEY (`id`),\n  KEY `surname` (`surname`)\n) ENGINE=InnoDB",
			Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{20_000}},
				{Name: "surname", Columns: []string{"surname"}, Cardinality: []int64{4000}}}}}
		c.Plans = []kasoku.Plan{{QueryID: "L", Rows: []kasoku.PlanRow{{Table: "keepers", Access: "index", Key: "surname", Rows: 20_000, Filtered: -1, Extra: "Using where; Using index"}}}}
		return index.LikeScan{}.Check(diagnose.NewCase(c.Recording, nil))
	}
	if found, silent := check(20_000); len(found) != 1 || !strings.Contains(found[0].Cause, "begins with %") {
		t.Errorf("%+v %+v", found, silent)
	}
	if found, silent := check(16_900); len(found) != 0 || len(silent) != 1 || !strings.Contains(silent[0].Reason, "an index serves some of the patterns") {
		t.Errorf("%+v %+v", found, silent)
	}
}

// TestLikeScan_SameColumn: a column that is searched three times needs one index of words: the second of its name
// would be refused.
func TestLikeScan_SameColumn(t *testing.T) {
	const sql = "SELECT id FROM keepers WHERE skills LIKE ? AND skills LIKE ? AND notes LIKE ? AND Skills LIKE ?"
	q := class("L", sql, 1000, 1, 60*time.Second)
	q.RowsExamined, q.Tables = 20_000_000, []string{"keepers"}
	c := queryRun(ordersGet, []kasoku.Query{q}, runBy("L", 1, kasoku.CallerConfirmed))
	c.Tables = []kasoku.TableDef{{Name: "keepers", Engine: "InnoDB", Rows: 20_000, DataBytes: 2 << 20,
		Create:  "CREATE TABLE `keepers` (\n  `id` int NOT NULL,\n  `skills` varchar(64),\n  `notes` text,\n  PRIMARY KEY (`id`)\n) ENGINE=InnoDB",
		Indexes: []kasoku.IndexDef{{Name: "PRIMARY", Unique: true, Columns: []string{"id"}, Cardinality: []int64{20_000}}}}}
	c.Plans = []kasoku.Plan{{QueryID: "L", Rows: []kasoku.PlanRow{{Table: "keepers", Access: "ALL", Rows: 20_000, Filtered: -1, Extra: "Using where"}}}}
	found, silent := index.LikeScan{}.Check(diagnose.NewCase(c.Recording, nil))
	if len(found) != 1 {
		t.Fatalf("%+v", silent)
	}
	code := found[0].Fixes[0].Code
	if strings.Count(code, "CREATE FULLTEXT INDEX") != 2 || strings.Count(code, "MATCH (") != 4 {
		t.Errorf("%s", code)
	}
}
