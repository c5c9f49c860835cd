package report

// Findings is the list of findings, in the order in which to fix them.
type Findings struct {
	List  []Finding
	Empty []Prose // what to say instead when there is none
	Table *Table  // the same for machines; nil when there is none
}

// A Finding is one cause with its proof and its cure.
type Finding struct {
	Number     int
	Anchor     string // of a page: f1
	ID         string
	Key        string // what it is known by in other runs: IDX-01 table shop.items
	Said       string // beside the title: new, still there; empty unless another run was looked at
	Title      string
	Info       bool
	Share      float64 // 0..1
	Impact     string  // 69.5 %
	ImpactOf   string  // of requests
	Shared     bool    // the share is also that of an earlier finding
	Explained  string  // "by 1, POOL-01", with which it goes; empty when no finding explains it
	Estimate   bool
	Requests   bool // the share is of requests rather than of latency
	Risk       string
	Risky      bool // the fix may lose data or change meaning
	Confidence string
	Cause      Prose
	Evidence   []Evidence
	Fixes      []Fix
	Expect     Prose
	Verify     Prose
	Object     string
	Open       bool
}

// An Evidence is one quoted fact. Its text may come from a log.
type Evidence struct {
	Source, Text, Note, Value string
	Strong                    bool
}

// A Fix is one thing to do.
type Fix struct {
	Text  Prose
	Where string
	Code  []CodeLine
	Note  Prose
	Lang  string
	Risk  string
}

// A CodeLine is one line of code, added, removed or as it is.
type CodeLine struct {
	Sign byte // '+', '-' or ' '
	Text string
}
