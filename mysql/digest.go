package mysql

import (
	"context"
	"fmt"
	"time"

	"github.com/kasoku/kasoku/mysqlflags"
)

// A DigestKey names a class of statements: those of one normalised text in one
// default schema.
type DigestKey struct {
	Schema string // default schema of the session; empty without one
	ID     string // the server's hash of the text
}

// A Digest is what the statements of one class have done since the server began
// to count.
type Digest struct {
	Text         string // normalised by the server, cut at max_digest_length; literals are ?
	Calls        uint64
	Total        time.Duration // sum of their times
	Lock         time.Duration
	Min, Max     time.Duration // since the server counts; 0 in a difference
	Errors       uint64
	RowsAffected uint64
	RowsSent     uint64
	RowsExamined uint64
	TmpDisk      uint64   // temporary tables on disk
	NoIndex      uint64   // calls that used no index
	Sample       string   // one statement as it was sent, its values included; empty where the server keeps none
	Buckets      []Bucket // how long they took, by time; none where the server does not report it
}

// A Bucket is how many statements took a time of [Low, High).
type Bucket struct {
	Low, High time.Duration
	Calls     uint64
}

// Digests is a snapshot of a server's statement digests.
type Digests struct {
	Classes map[DigestKey]Digest
	Lost    uint64 // statements beyond performance_schema_digests_size, in no class
}

// Summaries are what a server sums up of its statements, tables and indexes since it
// began to count: performance_schema, and MariaDB's user statistics.
type Summaries struct{ r *Reader }

// NewSummaries returns the summaries of the reader's server.
func NewSummaries(r *Reader) Summaries { return Summaries{r} }

const digestQuery = "SELECT /* kasoku */ COALESCE(SCHEMA_NAME, ''), COALESCE(DIGEST, ''), COALESCE(DIGEST_TEXT, " +
	"''), COUNT_STAR, " +
	"SUM_TIMER_WAIT, SUM_LOCK_TIME, MIN_TIMER_WAIT, MAX_TIMER_WAIT, SUM_ERRORS, SUM_ROWS_AFFECTED, SUM_ROWS_SENT, " +
	"SUM_ROWS_EXAMINED, " +
	"SUM_CREATED_TMP_DISK_TABLES, SUM_NO_INDEX_USED, %s " +
	"FROM performance_schema.events_statements_summary_by_digest"

const bucketQuery = "SELECT /* kasoku */ COALESCE(SCHEMA_NAME, ''), COALESCE(DIGEST, ''), BUCKET_TIMER_LOW, " +
	"BUCKET_TIMER_HIGH, COUNT_BUCKET " +
	"FROM performance_schema.events_statements_histogram_by_digest WHERE COUNT_BUCKET > 0 ORDER BY 1, 2, 3"

// maxBucketed is how many classes may be there for their buckets to be read: the
// server makes up 450 rows for each, 18 ms for 300 classes.
const maxBucketed = 2000

// mostDigests bounds the bytes of all classes: a server keeps 10,000 of them, each with
// two texts of 1 kB.
const mostDigests = 32 << 20

// Digests reads what the server's statements have done since it began to count.
// It never empties the table: that is somebody else's too.
//
// Statements that a MariaDB runs as prepared ones over the binary protocol are
// in no digest.
//
// Source: MySQL 9.7 manual "Statement Summary Tables", "Statement Histogram
// Summary Tables"; timers are in picoseconds. Tried on MariaDB 10.11.
func (s Summaries) Digests(ctx context.Context) (*Digests, error) {
	if !s.r.HasSchema() {
		return nil, fmt.Errorf("statement digests: %w", schemaError{})
	}
	defer mysqlflags.AllowAnswer(s.r.db, mostDigests)()
	var out *Digests
	err := s.r.with(ctx, func(conn *session) error {
		out = &Digests{Classes: map[DigestKey]Digest{}}
		var k DigestKey
		var d Digest
		var total, lock, least, most uint64
		sample := "''"
		if conn.flavor == MySQL && conn.version.AtLeast(8, 0, 3) {
			sample = "COALESCE(QUERY_SAMPLE_TEXT, '')"
		}
		err := conn.query(ctx, fmt.Sprintf(digestQuery, sample), func() error {
			if k.ID == "" {
				out.Lost += d.Calls
				return nil
			}
			if isOwnDigest(d.Text, d.Sample) {
				return nil
			}
			d.Total, d.Lock, d.Min, d.Max = picoseconds(total), picoseconds(lock), picoseconds(least), picoseconds(most)
			out.Classes[k] = d
			return nil
		}, &k.Schema, &k.ID, &d.Text, &d.Calls, &total, &lock, &least, &most,
			&d.Errors, &d.RowsAffected, &d.RowsSent, &d.RowsExamined, &d.TmpDisk, &d.NoIndex, &d.Sample)
		if err != nil || conn.flavor != MySQL || !conn.version.AtLeast(8, 0, 3) || len(out.Classes) > maxBucketed {
			return err
		}
		return out.addBuckets(ctx, conn)
	})
	if err != nil {
		return nil, fmt.Errorf("statement digests: %w", err)
	}
	return out, nil
}

// addBuckets adds the buckets to the classes.
func (d *Digests) addBuckets(ctx context.Context, conn *session) error {
	var k DigestKey
	var low, high, calls uint64
	return conn.query(ctx, bucketQuery, func() error {
		if c, known := d.Classes[k]; known {
			c.Buckets = append(c.Buckets, Bucket{picoseconds(low), picoseconds(high), calls})
			d.Classes[k] = c
		}
		return nil
	}, &k.Schema, &k.ID, &low, &high, &calls)
}

// picoseconds returns a timer's value, in whole nanoseconds.
func picoseconds(v uint64) time.Duration { return time.Duration(v / 1000) }

// Since returns what was added after an earlier snapshot: classes without a
// call are left out. restarted is true when the server counts anew since, so
// that statements in between are missing.
func (d *Digests) Since(earlier *Digests) (added *Digests, restarted bool) {
	added = &Digests{Classes: map[DigestKey]Digest{}, Lost: d.Lost}
	if d.Lost >= earlier.Lost {
		added.Lost -= earlier.Lost
	}
	for k, before := range earlier.Classes {
		restarted = restarted || d.Classes[k].Calls < before.Calls
	}
	for k, now := range d.Classes {
		if before := earlier.Classes[k]; !restarted {
			now = now.minus(before)
		}
		if now.Calls > 0 {
			added.Classes[k] = now
		}
	}
	return added, restarted
}

// minus returns what was added to an earlier reading of the same class.
func (d Digest) minus(before Digest) Digest {
	d.Calls -= before.Calls
	d.Total -= before.Total
	d.Lock -= before.Lock
	if before.Calls > 0 {
		d.Min, d.Max = 0, 0 // those of the rest are unknown
	}
	d.Errors -= before.Errors
	d.RowsAffected -= before.RowsAffected
	d.RowsSent -= before.RowsSent
	d.RowsExamined -= before.RowsExamined
	d.TmpDisk -= before.TmpDisk
	d.NoIndex -= before.NoIndex
	had := map[time.Duration]uint64{}
	for _, b := range before.Buckets {
		had[b.Low] = b.Calls
	}
	var buckets []Bucket
	for _, b := range d.Buckets {
		if b.Calls -= had[b.Low]; b.Calls > 0 {
			buckets = append(buckets, b)
		}
	}
	d.Buckets = buckets
	return d
}
