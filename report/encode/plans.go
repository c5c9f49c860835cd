package encode

import (
	"encoding/json"
	"io"

	"github.com/kasoku/kasoku"
)

// PlansJSON writes plans and the tables that their statements name.
func PlansJSON(w io.Writer, rec *kasoku.Recording) error {
	return JSON(w, Plans{Schema, "plans", newPlans(rec), newTables(rec)})
}

// Plans are how a server runs statements.
type Plans struct {
	Schema int        `json:"schema"`
	Kind   string     `json:"kind"` // plans
	Plans  []Plan     `json:"plans"`
	Tables []TableDef `json:"tables"`
}

// A Plan is how a server runs the statements of a class.
type Plan struct {
	Host        string          `json:"host"`
	ID          string          `json:"id"`
	Fingerprint string          `json:"fingerprint"`
	Database    string          `json:"schema"`
	Steps       []PlanStep      `json:"steps"`
	Answer      json.RawMessage `json:"answer"` // the server's JSON, or its text
	Note        string          `json:"note,omitempty"`
}

// A PlanStep is a row of EXPLAIN.
type PlanStep struct {
	Select       string   `json:"select_type"`
	Table        string   `json:"table"`
	Access       string   `json:"access"`
	PossibleKeys string   `json:"possible_keys"`
	Key          string   `json:"key"`
	KeyLen       string   `json:"key_len"`
	Ref          string   `json:"ref"`
	Rows         float64  `json:"rows"`
	Filtered     *float64 `json:"filtered_percent"`
	Extra        string   `json:"extra"`
}

// A TableDef is a table with its indexes.
type TableDef struct {
	Host       string     `json:"host"`
	Database   string     `json:"schema"`
	Name       string     `json:"name"`
	Engine     string     `json:"engine"`
	Rows       uint64     `json:"rows"`
	DataBytes  uint64     `json:"data_bytes"`
	IndexBytes uint64     `json:"index_bytes"`
	Create     string     `json:"create"`
	Indexes    []IndexDef `json:"indexes"`
}

// An IndexDef is an index; a cardinality of -1 is not known.
type IndexDef struct {
	Name        string   `json:"name"`
	Unique      bool     `json:"unique"`
	Columns     []string `json:"columns"`
	Cardinality []int64  `json:"cardinality"`
}

func newPlans(rec *kasoku.Recording) []Plan {
	fingerprints := map[string]string{}
	for i := range rec.Queries {
		fingerprints[rec.Queries[i].ID] = rec.Queries[i].Fingerprint
	}
	return list(rec.Plans, func(p *kasoku.Plan) Plan {
		out := Plan{Host: p.Host, ID: p.QueryID, Fingerprint: fingerprints[p.QueryID], Database: p.Schema,
			Steps: list(p.Rows, newPlanStep), Note: p.Note}
		if out.Answer = json.RawMessage(p.Text); !json.Valid(out.Answer) {
			out.Answer, _ = json.Marshal(p.Text) // a string can always be encoded
		}
		return out
	})
}

func newPlanStep(r *kasoku.PlanRow) PlanStep {
	return PlanStep{r.Select, r.Table, r.Access, r.PossibleKeys, r.Key, r.KeyLen, r.Ref, r.Rows,
		known(r.Filtered, r.Filtered >= 0), r.Extra}
}

func newTables(rec *kasoku.Recording) []TableDef {
	return list(rec.Tables, func(d *kasoku.TableDef) TableDef {
		return TableDef{d.Host, d.Schema, d.Name, d.Engine, d.Rows, d.DataBytes, d.IndexBytes, d.Create,
			list(d.Indexes, func(x *kasoku.IndexDef) IndexDef {
				return IndexDef{x.Name, x.Unique, full(x.Columns), append([]int64{}, x.Cardinality...)}
			})}
	})
}
