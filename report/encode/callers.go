package encode

import "github.com/kasoku/kasoku"

// A Caller is an endpoint that runs statements of a class.
type Caller struct {
	Host        string   `json:"host"`
	QueryID     string   `json:"query_id"`
	Method      string   `json:"method"`
	Route       string   `json:"route"`
	With        []string `json:"with"`   // the other endpoints of a group
	Class       string   `json:"class"`  // confirmed, high, possible, group
	Source      string   `json:"source"` // trace, probe, comments, overlap
	PerRequest  float64  `json:"per_request"`
	Least       float64  `json:"least"`
	Most        float64  `json:"most"`
	Requests    uint64   `json:"requests"`
	Calls       float64  `json:"calls"`
	Share       float64  `json:"share_ratio"`
	Likelihood  float64  `json:"likelihood"`
	Decisive    float64  `json:"decisive_ratio"`
	Loop        bool     `json:"loop"`
	List        string   `json:"list_id,omitempty"`
	Slope       float64  `json:"slope"`
	Correlation float64  `json:"correlation"`
	Note        string   `json:"note,omitempty"`
}

func newCaller(c *kasoku.Caller) Caller {
	return Caller{
		c.Host, c.QueryID, c.Method, c.Route, full(c.With), string(c.Class), c.Source, rounded(c.PerRequest),
		rounded(c.Least), rounded(c.Most), c.Requests,
		rounded(c.Calls), rounded(c.Share), rounded(c.Likelihood), rounded(c.Decisive), c.Loop, c.List,
		rounded(c.Slope), rounded(c.Correlation), c.Note,
	}
}

// A Join defines how well it is known which endpoint runs which statements.
type Join struct {
	Host        string      `json:"host"`
	Source      string      `json:"source"`
	Resolution  float64     `json:"resolution_s"`
	From        float64     `json:"from_s"`
	To          float64     `json:"to_s"`
	Requests    uint64      `json:"requests"`
	Statements  uint64      `json:"statements"`
	Questions   uint64      `json:"questions"` // 0 when not known
	Background  float64     `json:"background"`
	Connections uint64      `json:"connections"`
	Busy        float64     `json:"busy"`
	Saturated   bool        `json:"saturated"`
	Refused     string      `json:"refused,omitempty"`
	Checks      []JoinCheck `json:"checks"`
	Loops       []QueryLoop `json:"loops"`
	CPU         float64     `json:"cpu_s"`
}

// A JoinCheck is one precondition of a join.
type JoinCheck struct {
	Name  string `json:"name"`
	Holds bool   `json:"holds"`
	Text  string `json:"text"`
}

// A QueryLoop is a row of few classes of statements on one connection.
type QueryLoop struct {
	QueryIDs []string `json:"query_ids"`
	Runs     uint64   `json:"runs"`
	Calls    uint64   `json:"calls"`
	Longest  uint64   `json:"longest"`
}

func newJoin(j *kasoku.Join) Join {
	return Join{
		j.Host, j.Source, j.Resolution.Seconds(), j.Interval.From.Seconds(), j.Interval.To.Seconds(), j.Requests,
		j.Statements, j.Questions, rounded(j.Background),
		j.Connections, rounded(j.Busy), j.Saturated, j.Refused,
		list(j.Checks, func(c *kasoku.JoinCheck) JoinCheck { return JoinCheck{c.Name, c.Holds, c.Text} }),
		list(j.Loops, func(l *kasoku.QueryLoop) QueryLoop {
			return QueryLoop{full(l.QueryIDs), l.Runs, l.Calls,
				l.Longest}
		}), j.CPU.Seconds(),
	}
}
