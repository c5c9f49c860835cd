package encode

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/report/statements"
)

// A DigestFile is what a server counted of its statements. It is a snapshot, too:
// [ReadDigests] reads it again.
type DigestFile struct {
	Schema  int       `json:"schema"`
	Kind    string    `json:"kind"` // digests
	Server  string    `json:"server"`
	At      time.Time `json:"at"`
	Over    *float64  `json:"over_s"` // the time between two snapshots, null since the server began to count
	Lost    uint64    `json:"lost"`
	Classes []Digest  `json:"classes"`
}

// A Digest is a class of statements of one default database.
type Digest struct {
	Database     string       `json:"schema"`
	ID           string       `json:"id"`
	Text         string       `json:"text"`
	Sample       string       `json:"sample,omitempty"`
	Calls        uint64       `json:"calls"`
	Total        float64      `json:"total_s"`
	Mean         float64      `json:"mean_s"`
	Min          *float64     `json:"min_s"`
	P95          *float64     `json:"p95_s"`
	Max          *float64     `json:"max_s"`
	Lock         float64      `json:"lock_s"`
	Errors       uint64       `json:"errors"`
	RowsExamined uint64       `json:"rows_examined"`
	RowsSent     uint64       `json:"rows_sent"`
	RowsAffected uint64       `json:"rows_affected"`
	NoIndex      uint64       `json:"no_index"`
	TmpDisk      uint64       `json:"tmp_disk_tables"`
	Buckets      [][3]float64 `json:"buckets"` // from_s, to_s, calls
}

// DigestsJSON writes them, sorted by a column.
func DigestsJSON(w io.Writer, d *statements.Digests, column string, at time.Time) error {
	return JSON(w, DigestFile{Schema, "digests", d.Server, at, known(d.Over.Seconds(), d.Over > 0), d.Lost,
		list(d.Sorted(column), newDigest)})
}

func newDigest(r *statements.DigestRow) Digest {
	p95, ok := r.P95()
	return Digest{
		Database: r.Schema, ID: r.ID, Text: r.Text, Sample: r.Sample, Calls: r.Calls,
		Total: r.Total.Seconds(), Mean: r.Total.Seconds() / float64(max(r.Calls, 1)),
		Min: known(r.Min.Seconds(), r.Max > 0), P95: known(p95.Seconds(), ok), Max: known(r.Max.Seconds(), r.Max > 0),
		Lock:   r.Lock.Seconds(),
		Errors: r.Errors, RowsExamined: r.RowsExamined, RowsSent: r.RowsSent, RowsAffected: r.RowsAffected,
		NoIndex: r.NoIndex, TmpDisk: r.TmpDisk,
		Buckets: list(r.Buckets, func(b *mysql.Bucket) [3]float64 {
			return [3]float64{b.Low.Seconds(), b.High.Seconds(), float64(b.Calls)}
		}),
	}
}

// ReadDigests reads a snapshot that DigestsJSON wrote.
func ReadDigests(r io.Reader) (d *mysql.Digests, server string, at time.Time, err error) {
	var f DigestFile
	if err := json.NewDecoder(r).Decode(&f); err != nil {
		return nil, "", at, fmt.Errorf("not the JSON of digests: %w", err)
	}
	if f.Kind != "digests" {
		return nil, "", at, fmt.Errorf("kind %q, want digests", f.Kind)
	}
	d = &mysql.Digests{Classes: map[mysql.DigestKey]mysql.Digest{}, Lost: f.Lost}
	for _, c := range f.Classes {
		k := mysql.DigestKey{Schema: c.Database, ID: c.ID}
		if _, twice := d.Classes[k]; twice {
			return nil, "", at, fmt.Errorf("class %q of schema %q is there twice", c.ID, c.Database)
		}
		d.Classes[k] = c.class()
	}
	return d, f.Server, f.At, nil
}

func (c *Digest) class() mysql.Digest {
	out := mysql.Digest{
		Text: c.Text, Sample: c.Sample, Calls: c.Calls, Total: ofSeconds(c.Total), Lock: ofSeconds(c.Lock),
		Errors:       c.Errors,
		RowsExamined: c.RowsExamined, RowsSent: c.RowsSent, RowsAffected: c.RowsAffected, NoIndex: c.NoIndex,
		TmpDisk: c.TmpDisk,
	}
	if c.Min != nil && c.Max != nil {
		out.Min, out.Max = ofSeconds(*c.Min), ofSeconds(*c.Max)
	}
	for _, b := range c.Buckets {
		out.Buckets = append(out.Buckets, mysql.Bucket{Low: ofSeconds(b[0]), High: ofSeconds(b[1]),
			Calls: uint64(max(b[2], 0))})
	}
	return out
}

// ofSeconds returns a duration to the nearest nanosecond, at most the longest.
func ofSeconds(s float64) time.Duration {
	ns := math.Round(s * 1e9)
	switch {
	case ns >= math.MaxInt64:
		return math.MaxInt64
	case ns > 0:
		return time.Duration(ns)
	}
	return 0
}
