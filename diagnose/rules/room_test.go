package rules

import (
	"fmt"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/application"
	"github.com/kasoku/kasoku/diagnose/rules/operation"
)

// leveled puts what initialize answered, and eight levels in step 3 during which the load stays as it is.
func leveled(answer string) *build {
	b := ladder()
	b.Events = append(b.Events, kasoku.Event{At: time.Second, Kind: kasoku.EventInitialize, Text: answer})
	for i := range 8 {
		at := 30*time.Second + time.Duration(i)*500*time.Millisecond
		b.Events = append(b.Events, kasoku.Event{At: at, Kind: kasoku.EventLevel,
			Text: fmt.Sprintf("level %d at %d points", i+1, 100*i)})
	}
	return b
}

func TestAnsweredSize(t *testing.T) {
	r := operation.AnsweredSize{}
	const ten = "POST /initialize: available_days 10"
	f := fires(t, r, leveled(ten), kasoku.Medium, "available_days = 10, which the program chooses itself")
	if f.Severity != kasoku.Info || f.Object.String() != "endpoint POST /initialize" || f.Impact.Share != 0 {
		t.Errorf("%s %s %+v", f.Severity, f.Object, f.Impact)
	}
	fires(t, r, leveled("POST /initialize: campaign 0"), kasoku.Medium, "campaign = 0")
	// The last answer counts.
	b := leveled(ten)
	b.Events = append(b.Events, kasoku.Event{At: 2 * time.Second, Kind: kasoku.EventInitialize,
		Text: "POST /initialize: no number"})
	silent(t, r, b, 0, 0, "answered no number")
	// States, times, addresses and halves are no sizes; nor is what no benchmark wrote so.
	for _, answer := range []string{"no number", "status 200", "statusCode 0", "took_ms 31", "started_at 12", "elapsed 3",
		"port 50051", "users 4000000", "share 0.5", "n -1", "a\x1b[31m 7", "available_days", "", "available_days 1e3x"} {
		silent(t, r, leveled("POST /initialize: "+answer), 0, 0, "answered no number")
	}
	// The load follows the levels.
	b = leveled(ten)
	for i := range b.Seconds {
		if b.Seconds[i].Second >= 34 {
			b.Seconds[i].Asked *= 2
		}
	}
	silent(t, r, b, 0.55, 0.65, "from level 4 to 8 the requests became 2.00 times as many")
	// The host is busy, one program has its core, requests wait for locks.
	silent(t, r, leveled(ten).cpu(0.1, 1.1), 0.8, 0.85, "60.0 % of the busiest host's CPU")
	b = leveled(ten).counter("Innodb_row_lock_waits", 0, 0, 9000).counter("Innodb_row_lock_time", 0, 0, 9000)
	silent(t, r, b, 0.1, 0.99, "wait for locks of rows")
	disk := kasoku.Key{Host: "h", Source: diagnose.Host, Name: "disk.busy", Instance: "vda"}
	silent(t, r, leveled(ten).add(disk, kasoku.Counter, func(s int) float64 { return 0.8 * float64(s) }), 0.6, 0.65,
		"the disk vda is busy for 80.0 % of the time")
	blind(t, r, ladder(), "what initialize answered was not handed over")
	b = ladder()
	b.Events = append(b.Events, kasoku.Event{At: time.Second, Kind: kasoku.EventInitialize, Text: ten})
	blind(t, r, b, "level rose 0 times")
}

// TestRoom: what it takes that a limit of the program's own is named; TestKeptRuns has real ones.
func TestRoom(t *testing.T) {
	r := application.Room{}
	full := func(codes map[int]uint64) *build {
		b := ladder()
		b.Queries = []kasoku.Query{
			{ID: "C", Verb: "SELECT", Fingerprint: "select count(*) from seats", Tables: []string{"seats"}, Calls: 40},
			{ID: "I", Verb: "INSERT", Fingerprint: "insert into seats (name) values(?+)", Tables: []string{"seats"},
				Calls: 10},
		}
		b.Transactions = []kasoku.Transaction{{Shape: []string{"C", "I"}, Count: 10},
			{Shape: []string{"C"}, Count: 30, RolledBack: 30}}
		b.Callers = []kasoku.Caller{{QueryID: "I", Method: "POST", Route: "/seats", Class: kasoku.CallerHigh, Calls: 10,
			PerRequest: 0.25}}
		b.Endpoints = []kasoku.Endpoint{{Method: "POST", Route: "/seats", Count: 40, Codes: codes,
			Latency: spread(time.Millisecond, 40), Total: 40 * time.Millisecond,
			Seconds: map[int]kasoku.EndpointSecond{30: {Count: 40}}}}
		return b
	}
	refused := map[int]uint64{200: 10, 403: 30}
	f := fires(t, r, full(refused), kasoku.Medium, "30 others rolled back right after the count")
	if f.Severity != kasoku.Info || f.Object.String() != "endpoint POST /seats" || f.Impact.Share != 0 {
		t.Errorf("%s %s %+v", f.Severity, f.Object, f.Impact)
	}
	// A limit on purpose, a stranger, and a database that failed are none.
	for _, code := range []int{401, 404, 429, 499, 503} {
		silent(t, r, full(map[int]uint64{200: 10, code: 30}), 0, 0, "answered 4xx 0 times")
	}
	b := full(refused)
	b.Transactions[1].RolledBack = 4
	silent(t, r, b, 0.8, 0.8, "4 transactions counted the rows of seats and rolled back")
	b = full(refused)
	b.Queries[0].Fingerprint = "select count(*) from seats where show_id = ?"
	silent(t, r, b, 0, 0, "no transaction counts all rows")
	b = full(refused)
	b.Callers = nil
	silent(t, r, b, 0, 0, "answered 4xx 0 times")
	silent(t, r, full(refused).cpu(0.1, 1.1), 0.8, 0.85, "60.0 % of the busiest host's CPU")
	// Others that count the rows and are rolled back, as drivers do without autocommit, and an endpoint that
	// refuses requests for another reason.
	b = full(refused)
	b.Queries = append(b.Queries, kasoku.Query{ID: "S", Verb: "SELECT", Fingerprint: "select ?", Calls: 30})
	b.Transactions[1].Shape = []string{"S", "C"}
	silent(t, r, b, 0, 0, "0 transactions counted the rows of seats and rolled back")
	silent(t, r, full(map[int]uint64{200: 10, 403: 30, 422: 200}), 0.1, 0.2, "answered 4xx 230 times")
	blind(t, r, ladder(), "slow log")
}
