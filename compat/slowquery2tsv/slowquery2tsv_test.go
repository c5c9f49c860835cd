package slowquery2tsv_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/compat/slowquery2tsv"
	"github.com/kasoku/kasoku/mysql"
)

func TestWrite(t *testing.T) {
	d := &mysql.Digests{Classes: map[mysql.DigestKey]mysql.Digest{
		{ID: "b"}:                               {Text: "COMMIT", Calls: 4, Total: 3 * time.Second, Min: time.Microsecond, Max: 2 * time.Second, Lock: time.Millisecond},
		{Schema: "shop", ID: "a"}:               {Text: "SELECT `a`", Calls: 3, Total: 4 * time.Second, RowsSent: 7, Min: time.Second, Max: 2 * time.Second},
		{Schema: "performance_schema", ID: "c"}: {Text: "SELECT ?", Calls: 9, Total: time.Hour},
	}}
	f := func(want string) {
		t.Helper()
		var b bytes.Buffer
		if err := slowquery2tsv.Write(&b, d); err != nil || b.String() != want {
			t.Errorf("%v\n%s\nwant\n%s", err, b.String(), want)
		}
	}
	head := "cnt\tsum\tmin\tavg\tmax\tsumLock\tsumRows\tavgRows\tdb\t"
	rest := "4\t3\t0.000001\t0.75\t2\t0.001\t0\t0.0000\t\tCOMMIT\n"
	f(head + "digest\n3\t4\t1\t1.333333333\t2\t0\t7\t2.3333\tshop\tSELECT `a`\n" + rest)
	c := d.Classes[mysql.DigestKey{Schema: "shop", ID: "a"}]
	c.Sample = "SELECT a\n\tFROM t"
	d.Classes[mysql.DigestKey{Schema: "shop", ID: "a"}] = c
	f(head + "query\n3\t4\t1\t1.333333333\t2\t0\t7\t2.3333\tshop\tSELECT a  FROM t\n" + rest)
}

func TestRun_Usage(t *testing.T) {
	f := func(code int, says string, args ...string) {
		t.Helper()
		var out, err bytes.Buffer
		if got := slowquery2tsv.Run(t.Context(), args, nil, &out, &err); got != code || !strings.Contains(err.String(), says) || out.Len() > 0 {
			t.Errorf("%v: exit %d, want %d: %s%s", args, got, code, out.String(), err.String())
		}
	}
	f(2, "only mysql", "-D", "postgres")
	f(2, "not supported", "-e", "SELECT 1")
	f(2, "flag provided but not defined", "-x")
	f(3, "refused", "-P", "1")
}
