package encode

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/report/statements"
)

// A snapshot that was written is read as it was.
func TestDigestsRoundTrip(t *testing.T) {
	d := &statements.Digests{Server: "MySQL 9.7.0", Digests: mysql.Digests{Lost: 3, Classes: map[mysql.DigestKey]mysql.Digest{
		{Schema: "shop", ID: "a1"}: {Text: "SELECT ?", Sample: "SELECT 1", Calls: 7, Total: 123456789012345678, Lock: 3, Min: 1, Max: 99, Errors: 1,
			RowsAffected: 2, RowsSent: 3, RowsExamined: 4, TmpDisk: 5, NoIndex: 6, Buckets: []mysql.Bucket{{Low: 0, High: 10, Calls: 5}, {Low: 10, High: 12, Calls: 2}}},
		{ID: "a1"}: {Text: "COMMIT", Calls: 1, Total: time.Second},
	}}}
	var b bytes.Buffer
	at := time.Date(2026, 11, 20, 1, 2, 3, 0, time.UTC)
	if err := DigestsJSON(&b, d, "total", at); err != nil {
		t.Fatal(err)
	}
	got, server, read, err := ReadDigests(&b)
	if err != nil || server != d.Server || !read.Equal(at) {
		t.Fatalf("%q %v %v", server, read, err)
	}
	const tolerance = 20 // ns: a float of seconds holds no more of 4 years
	for k, want := range d.Classes {
		c := got.Classes[k]
		if diff := c.Total - want.Total; diff < -tolerance || diff > tolerance {
			t.Errorf("total %d, want %d", c.Total, want.Total)
		}
		c.Total = want.Total
		if len(c.Buckets) == 0 {
			c.Buckets = nil
		}
		if !reflect.DeepEqual(c, want) {
			t.Errorf("%+v\nwant %+v", c, want)
		}
	}
	if got.Lost != 3 || len(got.Classes) != 2 {
		t.Errorf("%+v", got)
	}
}

func FuzzReadDigests(f *testing.F) {
	for _, s := range []string{"", "{}", `{"kind":"digests","classes":[{"id":"x","calls":1,"total_s":1e300,"buckets":[[1,2,-3]]}]}`, `{"kind":"run"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, _, _, err := ReadDigests(strings.NewReader(s))
		if (err == nil) == (d == nil) {
			t.Fatalf("%v with %v", d, err)
		}
		if d == nil {
			return
		}
		for k, c := range d.Classes {
			if c.Total < 0 || c.Lock < 0 {
				t.Errorf("%v: %+v", k, c)
			}
		}
		var b bytes.Buffer
		if err := DigestsJSON(&b, &statements.Digests{Digests: *d}, "calls", time.Time{}); err != nil {
			t.Error(err)
		}
	})
}
