package record

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/mysql"
)

// CodeSampled is the code of the warning that a run's slow log held a part of the statements.
const CodeSampled = "slow-log-sampled"

// sampled reports whether the slow log is to hold a part of the statements.
func (o *Options) sampled() bool { return o.Sample > 1 }

// validateSample refuses what takes every statement.
func (o *Options) validateSample() error {
	const which = "a sample of the statements (1 of %d) does not report which request issued them"
	switch {
	case o.Sample < 0:
		return fmt.Errorf("sample %d: want 1 or more", o.Sample)
	case !o.sampled():
	case !o.SlowLog:
		return fmt.Errorf("a sample (1 of %d) is of the slow log, which is not switched on", o.Sample)
	case o.Join == JoinTail || o.Join == JoinTable:
		return fmt.Errorf(which+": join %q contradicts it", o.Sample, o.Join)
	case o.Probe != nil:
		return fmt.Errorf(which+": it contradicts the probe", o.Sample)
	}
	return nil
}

// checkSample refuses a sample where the server cannot take one, before anything is
// changed.
func (d *database) checkSample(o *Options) error {
	if o.sampled() && d.reader.Flavor() != mysql.MariaDB {
		return &sampleError{o.Sample}
	}
	d.way.sample = o.Sample
	return nil
}

// checkAgreed refuses a sample while another recording rests on another one: what that one
// says of itself would no longer be true. What cannot be asked shows later.
func (d *database) checkAgreed(ctx context.Context, o *Options) error {
	if !o.SlowLog || !o.sampled() {
		return nil
	}
	var other *guard.DisagreeError
	if err := d.hold.Check(ctx, d.slow); errors.As(err, &other) {
		return fmt.Errorf("a sample of 1 of %d statements: %w", o.Sample, err)
	}
	return nil
}

// A sampleError reports that a server has no log_slow_rate_limit that is known.
type sampleError struct{ n int }

func (e *sampleError) Error() string {
	return fmt.Sprintf("the slow log cannot hold 1 of %d statements: MySQL's holds all or none", e.n)
}

// Hint returns what to do on a server that cannot log a sample.
func (e *sampleError) Hint() string {
	return "leave --mysql-sample out (kasoku.toml: sample in [mysql]), or take statement digests, which cost no " +
		"disk: `--no-slowlog --digests`. MariaDB has log_slow_rate_limit; Percona Server has it too, and kasoku does not set it there"
}

// expected is how many statements the slow log should hold, below 0 when unknown.
func (d *database) expected() float64 { return d.asked / float64(max(d.way.sample, 1)) }

// markSample notes in the run that its slow log holds a part of the statements.
func (c *changes) markSample() {
	if !c.o.sampled() {
		return
	}
	c.o.Settings = append(slices.Clip(c.o.Settings), kasoku.Setting{Scope: kasoku.SampleScope, Name: kasoku.SampleName, Value: strconv.Itoa(c.o.Sample)})
	hint := "compare it with runs of the same sample alone; a run without --mysql-sample has all"
	if !big.NewInt(int64(c.o.Sample)).ProbablyPrime(0) {
		// The server logs those whose number is a multiple of N: of a single client that
		// sends two statements in turn, with N = 10, that is always the same one.
		hint += "; a prime such as 101 keeps step with fewer loops"
	}
	c.warn(kasoku.Warning{Code: CodeSampled,
		Text: fmt.Sprintf("the slow log holds 1 of %d statements: calls, times and rows of queries are those of the "+
			"logged ones, not scaled; "+
			"what runs rarely may be missing, and there are no transactions and no callers", c.o.Sample),
		Hint: hint,
	})
}

// refusedJoin describes why a run whose slow log is a sample has no join of requests and
// statements; nil when it looked for one or was not to.
func (j *joining) refusedJoin() []kasoku.Join {
	if !j.o.sampled() || !j.couldJoin() {
		return nil
	}
	return []kasoku.Join{{Host: j.host(), Refused: fmt.Sprintf("the slow log holds 1 of %d statements: which "+
		"request issued the others is not known", j.o.Sample)}}
}
