package kasoku

// Severity distinguishes a finding that costs something from a remark.
type Severity string

// The severities.
const (
	Problem Severity = "finding"
	Info    Severity = "info"
)

// Level is how sure a finding is.
type Level string

// The levels of confidence.
const (
	High   Level = "high"
	Medium Level = "medium"
	Low    Level = "low"
)

// Confidence is a level with the signals that support it.
type Confidence struct {
	Level Level
	Holds int    // signals that hold
	Of    int    // signals that were looked at
	Note  string // "no slow log", why it is not higher
}

// Risk is what a fix may cost.
type Risk string

// The risks, from the least to the greatest.
const (
	RiskNone       Risk = "none"
	RiskAppRestart Risk = "app restart"
	RiskRestart    Risk = "restart"
	RiskDurability Risk = "durability"
	RiskSemantics  Risk = "semantics"
)

// An Object is what a finding is about.
type Object struct {
	Kind string // table, endpoint, variable, process, pool
	Name string
}

// String returns kind and name, such as "variable max_connections".
func (o Object) String() string {
	if o.Name == "" {
		return o.Kind
	}
	return o.Kind + " " + o.Name
}

// Impact is the share of late or failed request time, or of requests, that
// would go if the finding were fixed, 0..1. Impacts of findings that explain
// the same requests are shared and must not be added.
type Impact struct {
	Share    float64
	Of       string   // "of requests at 1,000 req/s", "of latency at 100 req/s"
	Estimate bool     // computed from a model rather than counted
	Shared   []string // ids of the findings that explain the same share
}

// Evidence is one quoted fact. A finding without evidence is not shown.
type Evidence struct {
	Source   string   // status, var, app.log, access, slow.log, load, process
	Text     string   // Connections, or the quoted line
	Note     string   // small print: "0 → 6,612", "first 14:02:39.412"
	Value    string   // "+9,979", "× 6,612", formatted
	Number   float64  // the value as a number, in the unit that the text names
	Strong   bool     // carries the finding
	Series   []Key    // what to mark on the time axis
	Interval Interval // where
}

// A Fix is one thing to do.
type Fix struct {
	Text  string // imperative sentence
	Where string // "where the pool is opened", "my.cnf", "now, until the next restart"
	Code  string // can be pasted; lines starting with + or - are a diff
	Note  string
	Risk  Risk
	Lang  string // go, sql, ini
	Edits []Edit // what kasoku can do of it by itself; empty when it takes a person
}

// The kinds of edits.
const (
	EditIndex    = "index"    // DDL that changes no answer: CREATE INDEX, DROP INDEX
	EditVariable = "variable" // a global variable of the database
	EditNginx    = "nginx"    // directives of nginx
)

// An Edit is one change of a server that needs no change of a program.
type Edit struct {
	Kind    string
	Do      string // statement, empty when it takes a restart
	Undo    string // statement that takes it back; of a variable empty: its value before
	Conf    string // line for the database's configuration file
	Context string // of nginx: http, server, "location /api/", "upstream app"; where it has several, each that proxies
	Lines   string // of nginx: directives to have there, one a line; a directive that is there with the same name gives way
}

// A Finding names one cause.
type Finding struct {
	ID         string // of the catalogue: POOL-01
	Object     Object
	Title      string // subject verb object, at most 70 characters
	Clause     string // the cause as a clause of the verdict, "MariaDB refuses all beyond 151"; empty when it is no cause of failure or delay
	Severity   Severity
	Confidence Confidence
	Impact     Impact
	Evidence   []Evidence
	Cause      string
	Fixes      []Fix
	Expect     string   // the gain to expect
	Verify     string   // what the next run must show
	Explains   []string // ids of findings that go when this one is fixed
	Interval   Interval
}

// Risk returns the greatest risk of the finding's fixes.
func (f *Finding) Risk() Risk {
	order := map[Risk]int{RiskNone: 0, RiskAppRestart: 1, RiskRestart: 2, RiskDurability: 3, RiskSemantics: 4}
	r := RiskNone
	for _, x := range f.Fixes {
		if order[x.Risk] > order[r] {
			r = x.Risk
		}
	}
	return r
}

// A Silence is why a rule made no finding.
type Silence struct {
	ID     string
	Reason string  // "Connections grew 0.02 per request, the threshold is 0.2"
	Near   float64 // how near to its threshold, 0..1; 0 when it could not look
	Blind  bool    // it could not look: what it reads was not recorded
}

// A Diagnosis is what all rules said of one run.
type Diagnosis struct {
	Verdict  string    // one sentence: what happened and why, with its number
	Findings []Finding // in the order in which to fix them
	Silences []Silence
	Rules    int // how many looked
}
