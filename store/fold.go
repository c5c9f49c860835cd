package store

import (
	"cmp"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store/chunk"
)

// foldBytes is how much the tail of a source holds before it is folded ahead of
// time. A sample takes at most 10 bytes more in a chunk than in the tail.
const foldBytes = 4 << 20

// A folder turns tail rows into chunks. It keeps its memory between folds; the
// zero value is ready to use.
type folder struct {
	zstd    *zstd.Encoder
	times   []time.Duration
	samples []sample
	last    int64 // id of the last row
	columns []chunk.Column
	offsets []uint32  // backing of the columns' ticks
	values  []float64 // backing of the columns' values
	raw     []byte
	packed  []byte
	damage  []kasoku.Gap // rows that could not be decoded
}

// A sample is one value of a tick, which is an index into times.
type sample struct {
	series int64
	tick   uint32
	value  float64
}

// fold moves the tail of one source into chunks, in one transaction.
func (w *Writer) fold(db *sql.DB, src *source) error {
	err := inTx(db, func(tx *sql.Tx) error { return w.folder.fold(tx, src.key) })
	if err != nil {
		return fmt.Errorf("fold %s/%s: %w", src.key.host, src.key.source, err)
	}
	src.rows, src.tailBytes = 0, 0
	return nil
}

// fold moves the tail of one source into chunks. A chunk covers one whole minute
// of the run's clock at most.
func (f *folder) fold(q queryer, key sourceKey) error {
	for {
		rows, err := f.load(q, key)
		if err != nil {
			return fmt.Errorf("read tail: %w", err)
		}
		if rows == 0 {
			return nil
		}
		if err := f.store(q, key); err != nil {
			return err
		}
		_, err = q.Exec("DELETE FROM tail WHERE host = ? AND source = ? AND id <= ?", key.host, key.source, f.last)
		if err != nil {
			return fmt.Errorf("clear tail: %w", err)
		}
	}
}

// load decodes the rows of the next chunk, in the order in which they came, and
// returns how many there are.
func (f *folder) load(q queryer, key sourceKey) (n int, err error) {
	f.times, f.samples, f.damage = f.times[:0], f.samples[:0], f.damage[:0]
	rows, err := q.Query("SELECT id, at_ns, data FROM tail WHERE host = ? AND source = ? ORDER BY id", key.host,
		key.source)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var first time.Duration
	var data sql.RawBytes
	for bytes := 0; rows.Next(); n++ {
		var id int64
		var at time.Duration
		if err := rows.Scan(&id, &at, &data); err != nil {
			return 0, err
		}
		if n == 0 {
			first = at
		}
		bytes += len(data)
		if n > 0 && (bytes > foldBytes || at.Truncate(foldEvery) != first.Truncate(foldEvery)) {
			return n, nil
		}
		f.decode(key, at, data)
		f.last = id
	}
	return n, rows.Err()
}

// decode adds one row to times and samples.
func (f *folder) decode(key sourceKey, at time.Duration, data []byte) {
	tick, before := uint32(len(f.times)), len(f.samples)
	err := chunk.EachSample(data, func(id int64, v float64) {
		f.samples = append(f.samples, sample{id, tick, v})
	})
	if err != nil {
		f.samples = f.samples[:before]
		f.damage = append(f.damage, kasoku.Gap{Host: key.host, Source: key.source,
			Interval: kasoku.Interval{From: at, To: at}, Reason: "damaged in the file: " + err.Error()})
		return
	}
	f.times = append(f.times, at)
}

// order sorts the ticks by time.
func (f *folder) order() {
	if slices.IsSorted(f.times) {
		return
	}
	places := make([]uint32, len(f.times)) // in the order of time
	for i := range places {
		places[i] = uint32(i)
	}
	slices.SortStableFunc(places, func(a, b uint32) int { return cmp.Compare(f.times[a], f.times[b]) })
	rank := make([]uint32, len(places))
	for i, p := range places {
		rank[p] = uint32(i)
	}
	for i := range f.samples {
		f.samples[i].tick = rank[f.samples[i].tick]
	}
	slices.Sort(f.times)
}

// store writes the loaded ticks as one chunk.
func (f *folder) store(q queryer, key sourceKey) error {
	for _, g := range f.damage {
		if err := gapTable().add(q, &g); err != nil {
			return err
		}
	}
	if len(f.samples) == 0 {
		return nil
	}
	f.order()
	f.group()
	if f.zstd == nil {
		enc, err := chunk.NewCompressor()
		if err != nil {
			return fmt.Errorf("start compressor: %w", err)
		}
		f.zstd = enc
	}
	f.raw = chunk.Append(f.raw[:0], f.times, f.columns)
	f.packed = f.zstd.EncodeAll(f.raw, f.packed[:0])
	_, err := q.Exec("INSERT INTO chunk (host, source, from_ns, to_ns, ticks, series, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
		key.host, key.source, ns(f.times[0]), ns(f.times[len(f.times)-1]), len(f.times), len(f.columns), f.packed)
	if err != nil {
		return fmt.Errorf("write chunk: %w", err)
	}
	return nil
}

// group sorts the samples into columns. Of several values of one series at one
// tick the last one stays.
func (f *folder) group() {
	slices.SortStableFunc(f.samples, func(a, b sample) int {
		return cmp.Or(cmp.Compare(a.series, b.series), cmp.Compare(a.tick, b.tick))
	})
	n := len(f.samples)
	f.offsets, f.values = slices.Grow(f.offsets[:0], n), slices.Grow(f.values[:0], n)
	f.columns = f.columns[:0]
	for i, s := range f.samples {
		if i+1 < n && f.samples[i+1].series == s.series && f.samples[i+1].tick == s.tick {
			continue
		}
		f.offsets, f.values = append(f.offsets, s.tick), append(f.values, s.value)
		if k := len(f.columns); k == 0 || f.columns[k-1].ID != s.series {
			f.columns = append(f.columns, chunk.Column{ID: s.series})
		}
		c := &f.columns[len(f.columns)-1]
		end := len(f.values)
		start := end - len(c.Values) - 1
		c.Ticks, c.Values = f.offsets[start:end], f.values[start:end]
	}
}

// foldAll moves what is left of the tail of every source into chunks.
func (f *folder) foldAll(q queryer) error {
	rows, err := q.Query("SELECT DISTINCT host, source FROM tail ORDER BY host, source")
	if err != nil {
		return fmt.Errorf("read tail: %w", err)
	}
	defer rows.Close()
	var keys []sourceKey
	for rows.Next() {
		var k sourceKey
		if err := rows.Scan(&k.host, &k.source); err != nil {
			return fmt.Errorf("read tail: %w", err)
		}
		keys = append(keys, k)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read tail: %w", err)
	}
	rows.Close() // the connection is needed for what follows
	for _, k := range keys {
		if err := f.fold(q, k); err != nil {
			return fmt.Errorf("fold %s/%s: %w", k.host, k.source, err)
		}
	}
	return nil
}
