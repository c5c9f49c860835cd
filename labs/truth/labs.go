package truth

import (
	"slices"

	"github.com/kasoku/kasoku/labs/carbon"
	"github.com/kasoku/kasoku/labs/isuumo"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/userapi"
)

// Of returns the truth of a small lab.
func Of(l *kit.Lab) *Lab {
	out := &Lab{Name: l.Name, Defects: l.Defects}
	for _, d := range l.Defects {
		if d.Apart != "" {
			out.Apart = append(out.Apart, d.ID)
		}
	}
	return out
}

// Userapi returns the truth of userapi: what makes it slow.
func Userapi() *Lab {
	expected := map[string]kit.Defect{
		"POOL-01": {Object: "pool|endpoint|process", Brings: []string{"POOL-04"}},
		"POOL-02": {Object: "max_connections", Brings: []string{"POOL-04", "MES-07"}},
		"DRV-04":  {Brings: []string{"DBC-08", "DBC-09"}}, // it saves in transactions of one statement
	}
	return labOf("userapi", userapi.Seeded(), expected)
}

// Isuumo returns the truth of isuumo.
func Isuumo() *Lab {
	var ids []string
	for _, d := range isuumo.Known() {
		switch d.ID {
		case "OPS-09": // shows in a restart alone
		case "CCH-07", "DBC-05": // groundwork of others, which no rule looks for
		case "OPS-02": // initialize takes a third of a second of its 30 s, however it is done
		default:
			ids = append(ids, d.ID)
		}
	}
	l := labOf("isuumo", ids, map[string]kit.Defect{
		"QRY-03":  {Object: "estate|chair"},
		"QRY-04":  {Object: "nazotte", Brings: []string{"IDX-07"}}, // each lookup compares a function of columns
		"POOL-06": {Brings: []string{"POOL-01"}},                   // database/sql keeps its default of two
		"QRY-08":  {Object: "estate|chair", Brings: []string{"IDX-04", "IDX-05"}},
		"DRV-02":  {Object: "POST /api/(estate|chair)|estate|chair", Brings: []string{"DRV-03"}},
		// Without an index a search for features reads by its LIKE, and says so.
		"IDX-04": {Object: "estate|chair", Brings: []string{"IDX-01", "IDX-03", "IDX-05", "IDX-06", "IDX-09", "QRY-08"}},
		// An index by ranges has no order: what fits is sorted.
		"IDX-05": {Object: "estate|chair", Brings: []string{"IDX-04", "IDX-01", "IDX-06"}},
		"IDX-06": {Object: "estate|chair", Brings: []string{"IDX-02"}},
		"IDX-07": {Object: "estate"},
		"DBC-02": {Object: "log_bin"},
		"LCK-01": {Object: "chair", Brings: []string{"DBC-08"}, // purchases become transactions, as uploads are
			Slight: "a purchase holds one row for one UPDATE: a hundredth of the requests' time at most"},
		"NGX-03": {Object: "POST|location|client_body"},
		"OPS-02": {Object: "initialize"},
	})
	l.Apart = []string{"DBC-02"}  // the service was shipped without
	l.Always = []string{"DBC-01"} // what is acknowledged is on disk, in all variants
	for i := range l.Defects {    // while CCH-07 is seeded, the same answers are made anew
		if d := isuumo.Known()[slices.IndexFunc(isuumo.Known(),
			func(k isuumo.Defect) bool { return k.ID == l.Defects[i].ID })]; d.SQL {
			l.Defects[i].Brings = append(l.Defects[i].Brings, "CCH-01", "QRY-08")
		}
	}
	return l
}

// Goldrush returns the truth of the game's client, as far as there are rules.
func Goldrush() *Lab {
	l := labOf("goldrush", []string{"CLI-01", "CLI-02", "CLI-03", "CLI-04", "CLI-05", "CLI-06", "CLI-13"},
		map[string]kit.Defect{
			"CLI-01": {Object: "client"}, "CLI-02": {Object: "client"}, "CLI-03": {Object: "client"},
			"CLI-04": {Object: "client"}, "CLI-05": {Object: "client"}, "CLI-06": {Object: "client"},
			"CLI-13": {Object: "client"},
		})
	// Who sends one request at a time floods no one, uses each licence once at a time, leaves the service time, and
	// explores too seldom to see what that costs by size.
	l.Apart = []string{"CLI-04", "CLI-05", "CLI-06", "CLI-13"}
	return l
}

// Carbon returns the truth of the time-series database.
func Carbon() *Lab {
	// What TS-02 throws away does not wait to be written.
	return &Lab{Name: carbon.Name, Defects: carbon.Lab(), Apart: append(carbon.Alone(), "TS-01")}
}

// labOf fills in what is expected of ids.
func labOf(name string, ids []string, expected map[string]kit.Defect) *Lab {
	l := &Lab{Name: name}
	for _, id := range ids {
		d := expected[id]
		d.ID = id
		l.Defects = append(l.Defects, d)
	}
	return l
}

// Case returns the case of a variant; the seeded ids of "all" are those of the lab.
func (l *Lab) Case(variant string) Case {
	c := Case{Lab: l, Variant: variant}
	switch variant {
	case None:
	case All:
		for _, d := range l.Defects {
			if d.Slight == "" && !slices.Contains(l.Apart, d.ID) {
				c.Seeded = append(c.Seeded, d.ID)
			}
		}
	default:
		c.Seeded = []string{variant}
	}
	return c
}
