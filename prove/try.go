package prove

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/explain"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Defaults of [Options].
const (
	DefaultRepeat = 5
	DefaultTop    = 5
	DefaultLimit  = 10 * time.Second
)

// Options configure what is tried, and where.
type Options struct {
	DSN     string // of a database that may be changed
	Finding *kasoku.Finding
	Queries []kasoku.Query // of the run, with statements as they were sent
	Guard   guard.Options  // where the change is journalled; its DSN is that above
	Keep    bool           // leave the change as it is
	Repeat  int            // how often each statement is run; 0: DefaultRepeat
	Top     int            // classes of statements; 0: DefaultTop
	Limit   time.Duration  // of one statement; 0: DefaultLimit
	Answers Answers        // that the change must not alter; nil: they are not asked for

	Progress func(what string, done, all int)
}

// Answers are those of a service that a change must not alter.
type Answers interface {
	// Keep asks for them before the change.
	Keep(ctx context.Context) error
	// Differences asks again, and says in a line each what is answered otherwise.
	Differences(ctx context.Context) ([]string, error)
}

// A Trial is what a change did.
type Trial struct {
	Finding *kasoku.Finding
	Changes []mysql.Changed
	Samples []Sample
	Took    time.Duration // to make the change
	Gain    float64       // part of the time that is gone of what it is about, by calls; below 0: more
	Known   bool          // Gain is
	Unused  bool          // it is an index, and no plan is another with it
	Kept    bool
	Hidden  string   // what plans said of the index while no other session could use it; empty where no index is made
	Refuted bool     // none of them uses it: it was taken back before any other session saw it
	Asked   bool     // the answers were compared
	Differs []string // what was answered otherwise with the change, which is then taken back
}

// A Sample is a statement before and after.
type Sample struct {
	Query         kasoku.Query
	Before, After Timing
	Note          string // why it was not run
	PlanBefore    *kasoku.Plan
	PlanAfter     *kasoku.Plan
	About         bool // the change concerns it: its plan is another, or, with a variable, its time beyond noise
	Shown         bool // it takes less, or more, time than noise explains
}

// A trier is one trial.
type trier struct {
	o      Options
	db     *sql.DB
	reader *mysql.Reader
	hold   *guard.Hold
	schema string
}

// Try makes the change of a finding, measures its statements before and after, and takes it
// back unless it is to be kept. It fails with [ErrNoEdit] for a finding without a change that
// it can make, or whose gain only a whole run shows, and with [ErrNoStatement], before it
// changes anything, where none of the statements can be run.
func Try(ctx context.Context, o Options) (res *Trial, err error) {
	o.Repeat, o.Top, o.Limit = cmp.Or(o.Repeat, DefaultRepeat), cmp.Or(o.Top, DefaultTop), cmp.Or(o.Limit, DefaultLimit)
	o.Guard.DSN = o.DSN
	edits := Edits(o.Finding, kasoku.EditIndex, kasoku.EditVariable)
	if len(edits) == 0 {
		return nil, fmt.Errorf("%s: %w", o.Finding.ID, ErrNoEdit)
	}
	if slices.ContainsFunc(edits, func(e kasoku.Edit) bool { return strings.Contains(e.Do, " query_cache") }) {
		return nil, fmt.Errorf("%s: what a cache of answers gains only a whole run shows: %w", o.Finding.ID, ErrNoEdit)
	}
	t := &trier{o: o, schema: mysqlflags.Database(o.DSN)}
	samples := t.samples(edits)
	if !slices.ContainsFunc(samples, func(s Sample) bool { return s.Query.Raw != "" }) {
		return nil, fmt.Errorf("%s: %w", o.Finding.ID, ErrNoStatement)
	}
	if t.db, err = mysqlflags.OpenBounded(o.DSN); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.db.Close()) }()
	if t.reader, err = mysql.New(ctx, t.db); err != nil {
		return nil, fmt.Errorf("database %s: %w", mysqlflags.Redact(o.DSN), err)
	}
	defer func() { err = errors.Join(err, t.reader.Close()) }()
	if t.hold, err = guard.New(ctx, t.reader, o.Guard); err != nil {
		return nil, err
	}
	return t.run(ctx, edits, samples)
}

// restoreWithin bounds the way back.
const restoreWithin = time.Minute

func (t *trier) run(ctx context.Context, edits []kasoku.Edit, samples []Sample) (res *Trial, err error) {
	res = &Trial{Finding: t.o.Finding, Samples: samples}
	if err := t.part("before", func() error { return t.measure(ctx, res.Samples, false) }); err != nil {
		return nil, err
	}
	if t.o.Answers != nil {
		t.progress("answers", 0, 1)
		if err := t.part("answers before", func() error { return t.o.Answers.Keep(ctx) }); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	t.progress("change", 0, 1)
	hidden, why := hide(edits, t.reader.CanHide())
	if err := t.part("change", func() error { return t.hold.Apply(ctx, &planner{t.reader, t.schema, hidden}) }); err != nil {
		return nil, errors.Join(err, t.takeBack(ctx))
	}
	res.Took, res.Changes, res.Hidden = time.Since(began), t.hold.Changes(), why
	err = t.part("hidden", func() error { return t.verify(ctx, res, edits, hidden) })
	if err == nil && res.Refuted {
		err = t.takeBack(ctx)
		res.Changes = t.hold.Changes()
		return res, err
	}
	if err == nil {
		err = t.part("after", func() error { return t.measure(ctx, res.Samples, true) })
	}
	if err == nil && t.o.Answers != nil {
		t.progress("answers", 0, 1)
		err = t.part("answers after", func() (err error) { res.Differs, err = t.o.Answers.Differences(ctx); return err })
		res.Asked = err == nil
	}
	if err == nil && t.o.Keep && len(res.Differs) == 0 {
		res.Kept = true
		err = t.keep(ctx)
	} else {
		err = errors.Join(err, t.takeBack(ctx))
		res.Changes = t.hold.Changes()
	}
	return res, errors.Join(err, t.part("gain", func() error { res.relate(edits); res.gain(); return nil }))
}

// part does one part of a trial. A panic in it is an error, so that the change is taken
// back as after any other.
func (t *trier) part(name string, f func() error) error {
	return contain.Do(contain.Part{Kind: contain.Step, Name: "trial: " + name}, f)
}

// takeBack undoes the change, also when the context has ended.
func (t *trier) takeBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreWithin)
	defer cancel()
	return t.hold.Release(ctx, func(guard.Left) error { return nil })
}

// keep takes the change out of the journal: no one takes it back.
func (t *trier) keep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreWithin)
	defer cancel()
	return t.hold.Leave(ctx)
}

func (t *trier) progress(what string, done, all int) {
	if t.o.Progress != nil {
		t.o.Progress(what, done, all)
	}
}

// samples are the classes that took the most time of those that the edits are about: of an
// index those that name its table. Those that the finding quotes come first.
func (t *trier) samples(edits []kasoku.Edit) []Sample {
	var tables []string
	for _, e := range edits {
		if e.Kind == kasoku.EditIndex {
			if s, err := mysql.ParseIndex(e.Do); err == nil {
				tables = append(tables, s.Table)
			}
		}
	}
	about := func(q *kasoku.Query) bool {
		return len(tables) == 0 || slices.ContainsFunc(q.Tables, func(name string) bool {
			return slices.ContainsFunc(tables, func(t string) bool { return strings.EqualFold(t, name[strings.LastIndexByte(name, '.')+1:]) })
		})
	}
	queries := slices.Clone(t.o.Queries)
	slices.SortStableFunc(queries, func(a, b kasoku.Query) int {
		if x, y := quotes(t.o.Finding, &a), quotes(t.o.Finding, &b); x != y {
			return map[bool]int{true: -1, false: 1}[x]
		}
		return cmp.Compare(b.Total, a.Total)
	})
	var out []Sample
	for i := range queries {
		if q := &queries[i]; about(q) && len(out) < t.o.Top {
			s := Sample{Query: *q}
			switch {
			case q.Raw == "":
				s.Note = explain.NoSample
			case !onlyReads(q.Raw):
				s.Note = "it writes or locks, and is not run"
			}
			out = append(out, s)
		}
	}
	return out
}

// onlyReads reports whether a statement is one SELECT that neither writes nor locks. The
// verb that the run has for it is not asked: a run file is a claim.
func onlyReads(statement string) bool {
	_, locks, ok := sqlshape.PlainText([]byte(statement))
	return ok && !locks
}

// measure asks for the plans of the samples and runs them.
func (t *trier) measure(ctx context.Context, samples []Sample, after bool) error {
	queries := make([]kasoku.Query, len(samples))
	for i := range samples {
		queries[i] = samples[i].Query
	}
	plans, _, err := explain.Queries(ctx, t.reader, queries, explain.Options{Top: max(len(queries), 1), Schema: t.schema})
	if err != nil {
		return err
	}
	conn, err := t.session(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for i := range samples {
		s := &samples[i]
		t.progress("measure", i, len(samples))
		plan, took := &s.PlanBefore, &s.Before
		if after {
			plan, took = &s.PlanAfter, &s.After
		}
		if n := slices.IndexFunc(plans, func(p kasoku.Plan) bool { return p.QueryID == s.Query.ID }); n >= 0 {
			*plan = &plans[n]
		}
		if s.Note != "" {
			continue
		}
		if *took, err = t.time(ctx, conn, s.Query); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.Note = err.Error()
		}
	}
	return nil
}

// session returns a connection whose statements no cache of answers serves.
func (t *trier) session(ctx context.Context) (*sql.Conn, error) {
	conn, err := t.db.Conn(ctx)
	if err == nil && t.reader.Flavor() == mysql.MariaDB {
		_, _ = conn.ExecContext(ctx, "/* kasoku */ SET SESSION query_cache_type = OFF") // refused where there is no cache
	}
	return conn, err
}

// mostFetched bounds the bytes of the rows of one statement, of which none is kept.
const mostFetched = 1 << 30

// time runs a statement several times in a read-only transaction and returns the
// times until its last row.
func (t *trier) time(ctx context.Context, conn *sql.Conn, q kasoku.Query) (all Timing, err error) {
	defer mysqlflags.AllowAnswer(t.db, mostFetched)()
	if schema := cmp.Or(q.Schema, t.schema); schema != "" {
		if _, err := conn.ExecContext(ctx, "/* kasoku */ USE "+mysql.QuoteParts(schema)); err != nil {
			return nil, err
		}
	}
	text, _, _ := sqlshape.PlainText([]byte(q.Raw))
	for range t.o.Repeat {
		d, err := timeOnce(ctx, conn, string(text), t.o.Limit)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

func timeOnce(ctx context.Context, conn *sql.Conn, statement string, limit time.Duration) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	began := time.Now()
	rows, err := tx.QueryContext(ctx, statement)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() { // its rows are only fetched
	}
	return time.Since(began), rows.Err()
}

// gain weighs the samples that the trial is about by their calls. What differs no more than noise
// counts as it was.
func (r *Trial) gain() {
	var before, after float64
	for i := range r.Samples {
		s := &r.Samples[i]
		b, a := s.Before.Median().Seconds(), s.After.Median().Seconds()
		if s.Note != "" || b <= 0 || a <= 0 {
			continue
		}
		r.Known = true
		if !s.About {
			continue
		}
		if !s.Shown {
			a = b
		}
		before += b * float64(s.Query.Calls)
		after += a * float64(s.Query.Calls)
	}
	if before > 0 {
		r.Gain = 1 - after/before
	}
}
