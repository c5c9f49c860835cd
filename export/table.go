package export

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"time"
)

// timeForm is RFC 3339 in UTC, to the millisecond, always as long.
const timeForm = "2006-01-02T15:04:05.000Z07:00"

// A CSV writes values as comma-separated text (RFC 4180), with a header.
type CSV struct {
	w     *csv.Writer
	start time.Time
	row   []string
}

// csvHeader names the columns; those of JSON are the same.
var csvHeader = []string{"time", "host", "source", "entity", "metric", "value", "unit"}

// NewCSV returns an output; start is the wall time of offset 0.
func NewCSV(w io.Writer, start time.Time) *CSV { return &CSV{w: csv.NewWriter(w), start: start} }

// Write implements [Output]. What was written is handed on before it returns.
func (c *CSV) Write(_ context.Context, values []Value) error {
	if err := c.header(); err != nil {
		return err
	}
	for i := range values {
		v := &values[i]
		c.row = append(c.row[:0], wall(c.start, v.At).UTC().Format(timeForm), v.Key.Host, v.Key.Source, v.Key.Instance,
			v.Metric(),
			strconv.FormatFloat(v.Value, 'f', -1, 64), v.Unit)
		if err := c.w.Write(c.row); err != nil {
			return err
		}
	}
	c.w.Flush()
	return c.w.Error()
}

func (c *CSV) header() error {
	if c.row != nil {
		return nil
	}
	c.row = make([]string, 0, len(csvHeader))
	return c.w.Write(csvHeader)
}

// Close implements [Output]. A table without rows has its header.
func (c *CSV) Close(context.Context) error {
	if err := c.header(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

// A JSON writes each value as an object on a line of its own.
type JSON struct {
	w     *bufio.Writer
	start time.Time
}

// NewJSON returns an output; start is the wall time of offset 0.
func NewJSON(w io.Writer, start time.Time) *JSON { return &JSON{bufio.NewWriter(w), start} }

type jsonRow struct {
	Time   string   `json:"time"`
	Host   string   `json:"host"`
	Source string   `json:"source"`
	Entity string   `json:"entity"`
	Metric string   `json:"metric"`
	Value  *float64 `json:"value"` // null: no number
	Unit   string   `json:"unit"`
}

// Write implements [Output]. What was written is handed on before it returns.
func (j *JSON) Write(_ context.Context, values []Value) error {
	e := json.NewEncoder(j.w)
	e.SetEscapeHTML(false)
	for i := range values {
		v := &values[i]
		row := jsonRow{
			Time: wall(j.start, v.At).UTC().Format(timeForm), Host: v.Key.Host, Source: v.Key.Source,
			Entity: v.Key.Instance, Metric: v.Metric(), Unit: v.Unit,
		}
		if !math.IsNaN(v.Value) && !math.IsInf(v.Value, 0) {
			row.Value = &v.Value
		}
		if err := e.Encode(row); err != nil {
			return err
		}
	}
	return j.w.Flush()
}

// Close implements [Output].
func (j *JSON) Close(context.Context) error { return j.w.Flush() }
