package mysql

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The tables of performance_schema's set-up whose rows can be changed.
const (
	setupConsumers   = "setup_consumers"
	setupInstruments = "setup_instruments"
)

// setupRow splits the name of a row of performance_schema's set-up:
// setup_consumers.statements_digest.
func setupRow(name string) (table, row string, ok bool) {
	table, row, ok = strings.Cut(name, ".")
	if ok && (table == setupConsumers || table == setupInstruments) {
		return table, row, true
	}
	return "", "", false
}

// ErrNoSchema means that a server runs without performance_schema.
var ErrNoSchema = errors.New("performance_schema is off")

// A schemaError is ErrNoSchema with what to do.
type schemaError struct{}

// Error returns the text of ErrNoSchema.
func (schemaError) Error() string { return ErrNoSchema.Error() }

// Unwrap returns ErrNoSchema.
func (schemaError) Unwrap() error { return ErrNoSchema }

// Hint returns how to switch it on.
func (schemaError) Hint() string {
	return "it can be switched on only at the server's start: performance_schema=ON below [mysqld] in its option " +
		"file; without it, `kasoku slowlog` reads the slow log"
}

// Consumers plans the changes of performance_schema's set-up after which a
// server counts its statements by digest. To make them takes UPDATE on
// performance_schema. A server that runs without performance_schema is refused
// with [ErrNoSchema].
//
// Source: MySQL 9.7 manual "Performance Schema Statement Digests and Sampling",
// "Pre-Filtering by Consumer"; tried on MariaDB 10.11 and MySQL 9.7: the
// consumers below suffice, without those of single statements and threads.
type Consumers struct{ r *Reader }

// NewConsumers returns the consumers of the reader's server.
func NewConsumers(r *Reader) *Consumers { return &Consumers{r} }

// Plan returns what is to be changed; nothing is altered.
func (c *Consumers) Plan(ctx context.Context) (Plan, error) {
	if !c.r.HasSchema() {
		return Plan{}, fmt.Errorf("statement digests: %w", schemaError{})
	}
	now := map[string]string{}
	if err := addSetup(ctx, c.r, now); err != nil {
		return Plan{}, fmt.Errorf("statement digests: %w", explainSet(c.r.Flavor(), err))
	}
	return planDigests(now), nil
}

// planDigests lists the rows to change so that statements are counted by digest.
func planDigests(now map[string]string) Plan {
	var p Plan
	for _, consumer := range []string{"global_instrumentation", "statements_digest"} {
		p.need(now, setupConsumers+"."+consumer, "YES", false)
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if table, _, _ := setupRow(name); table == setupInstruments {
			p.need(now, name, "YES,YES", false)
		}
	}
	return p
}

// HasSchema reports whether performance_schema is on.
func (r *Reader) HasSchema() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.server.schema
}

// setupQuery reads the consumers, and the instruments of whole statements: those
// of the parts of stored programs (statement/sp) do not count for a digest.
const setupQuery = "SELECT /* kasoku */ CONCAT('" + setupConsumers +
	".', NAME), ENABLED FROM performance_schema.setup_consumers UNION ALL " +
	"SELECT CONCAT('" + setupInstruments +
	".', NAME), CONCAT(ENABLED, ',', TIMED) FROM performance_schema.setup_instruments " +
	"WHERE NAME LIKE 'statement/%' AND NAME NOT LIKE 'statement/sp/%' AND NAME NOT LIKE 'statement/scheduler/%'"

// addSetup adds the rows of performance_schema's set-up to a map of values.
func addSetup(ctx context.Context, r *Reader, to map[string]string) error {
	return r.with(ctx, func(conn *session) error {
		if !conn.schema {
			return nil // after a restart without it
		}
		var name, value string
		return conn.query(ctx, setupQuery, func() error {
			to[name] = value
			return nil
		}, &name, &value)
	})
}
