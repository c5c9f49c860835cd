package isuumo

import (
	"fmt"
	"slices"
	"strings"
)

// A Defect is something that makes the service slow and can be seeded by itself.
type Defect struct {
	ID    string // of the catalogue
	Where string // "service", "database", "nginx"
	About string
	// Shipped defects are those of the service as the contest had it.
	Shipped bool
	// SQL defects are in queries, so nothing is seen of them while answers come
	// from memory.
	SQL bool
}

// Known lists all defects.
func Known() []Defect {
	return []Defect{
		{"CCH-07", "service", "nothing is kept in memory: every answer is read from the database", true, false},
		{"QRY-03", "service", "queries read all columns of all rows that they look at", true, true},
		{"QRY-04", "service", "the polygon search asks once more for each estate in the bounding box", true, true},
		{"QRY-08", "service", "each search counts its matches anew", true, true},
		{"DRV-01", "service", "each query is prepared, executed and closed", true, true},
		{"DRV-02", "service", "an upload inserts row by row, each prepared anew", true, true},
		{"LCK-01", "service", "a purchase locks its row by SELECT … FOR UPDATE before it changes it", true, true},
		{"POOL-06", "service", "ten connections to the database, however many requests wait", true, true},
		{"APP-01", "service", "a log line for each request, JSON with indents", true, false},
		{"IDX-04", "database", "no index but the primary keys: nothing serves filters and prices", true, true},
		{"IDX-05", "database", "range conditions stop the use of the rest of an index", true, true},
		{"IDX-06", "database", "no index in the order popularity DESC, id ASC", true, true},
		{"IDX-07", "database", "no spatial index: the polygon is tried against a function of columns", true, true},
		{"NGX-01", "nginx", "a new connection to the service for each request", true, false},
		{"NGX-03", "nginx", "the body of an upload goes through a temporary file", true, false},
		{"NGX-05", "nginx", "requests of crawlers reach the service", true, false},
		{"DBC-05", "database", "the settings that the server comes with", true, false},
		{"DBC-02", "database", "a binary log that no one reads, synchronised at each commit", false, false},
		{"OPS-02", "service", "/initialize loads all rows first and alters the tables afterwards", false, false},
		{"OPS-09", "service", "what is kept in memory is not read again by /initialize", false, false},
	}
}

// Forms lists other ways in which write-ups mended a defect. They can be asked for as defects can, and are
// part of no variant.
func Forms() []Defect {
	return []Defect{
		{"IDX-05T", "database", "the ids of ranges are written by triggers, and not generated", false, true},
		{"QRY-03S", "database", "searches read narrow tables of their own, which triggers keep; not with IDX-05",
			false, true},
		{"QRY-08K", "service", "counts are changed with each write, and not asked for after it; not with QRY-08",
			false, true},
	}
}

// Defects is a set of seeded defects by id.
type Defects []string

// The variants: how far the service has been tuned.
const (
	Initial  = "initial" // as shipped
	Indexes  = "indexes" // tuned without a change of code: indexes, my.cnf, nginx
	RangeIDs = "ranges"  // ids of ranges, written by triggers
	Counted  = "counted" // and counts that are kept until the next write
	Kept     = "kept"    // and counts that are kept with each write
	Split    = "split"   // as counted, and tables of their own for searches
	Tuned    = "tuned"
)

// Variants lists those that are compared, the slowest first.
func Variants() []string { return []string{Initial, Indexes, Tuned} }

// AllVariants lists all, those too that lie between two that are compared.
func AllVariants() []string { return []string{Initial, Indexes, RangeIDs, Counted, Kept, Split, Tuned} }

// About describes in a few words what a variant is, empty of another name.
func About(variant string) string {
	switch variant {
	case Initial:
		return "as it was shipped"
	case Indexes:
		return "indexes, my.cnf, nginx.conf"
	case RangeIDs:
		return "as indexes, and ids of ranges"
	case Counted:
		return "as ranges, and counts are kept"
	case Kept:
		return "as counted, changed with each write"
	case Split:
		return "as counted, and tables to search"
	case Tuned:
		return "answers from memory, the database as the record"
	}
	return ""
}

// Variant returns the defects that a variant has.
func Variant(name string) (Defects, error) {
	var out Defects
	switch name {
	case Initial, Indexes:
		for _, d := range Known() {
			mended := name == Indexes && slices.Contains([]string{"IDX-04", "IDX-06", "NGX-01", "NGX-03", "NGX-05",
				"DBC-05"}, d.ID)
			if d.Shipped && !mended {
				out = append(out, d.ID)
			}
		}
	case RangeIDs, Counted, Kept, Split:
		d, err := Variant(Indexes)
		if err != nil {
			return nil, err
		}
		out = append(d.Without("IDX-05"), "IDX-05T")
		if name != RangeIDs {
			out = out.Without("QRY-08")
		}
		if name == Kept {
			out = append(out, "QRY-08K")
		}
		if name == Split {
			out = append(out.Without("QRY-03"), "QRY-03S")
		}
	case Tuned:
	default:
		return nil, fmt.Errorf("unknown variant %q: want %s", name, strings.Join(AllVariants(), ", "))
	}
	return out, nil
}

// ParseDefects reads a list of ids with commas, "all" for those of the service as
// shipped, or "none". Defects of queries bring CCH-07 with them: answers from
// memory would hide them.
func ParseDefects(s string) (Defects, error) {
	switch s = strings.TrimSpace(s); s {
	case "all":
		return Variant(Initial)
	case "none", "":
		return Variant(Tuned)
	}
	known := append(Known(), Forms()...)
	chosen := map[string]bool{}
	for id := range strings.SplitSeq(s, ",") {
		id = strings.ToUpper(strings.TrimSpace(id))
		i := slices.IndexFunc(known, func(d Defect) bool { return d.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("unknown defect %q: want %s, all or none", id, strings.Join(ids(known), ", "))
		}
		chosen[id] = true
		if known[i].SQL {
			chosen["CCH-07"] = true
		}
	}
	var out Defects
	for _, d := range known { // in the catalogue's order, so that equal sets print alike
		if chosen[d.ID] {
			out = append(out, d.ID)
		}
	}
	return out, nil
}

func ids(defects []Defect) []string {
	out := make([]string, len(defects))
	for i, d := range defects {
		out[i] = d.ID
	}
	return out
}

// Has reports whether the set holds the id.
func (d Defects) Has(id string) bool { return slices.Contains(d, id) }

// Split reports whether searches read tables of their own. These have the columns of ranges, so that there
// are none while IDX-05 is seeded.
func (d Defects) Split() bool { return d.Has("QRY-03S") && !d.Has("IDX-05") }

// Without returns the set without one id.
func (d Defects) Without(id string) Defects {
	return slices.DeleteFunc(slices.Clone(d), func(x string) bool { return x == id })
}

// String lists the ids, "none" for an empty set.
func (d Defects) String() string {
	if len(d) == 0 {
		return "none"
	}
	return strings.Join(d, ",")
}
