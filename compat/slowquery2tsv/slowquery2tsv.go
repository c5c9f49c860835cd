// Package slowquery2tsv prints what slowquery2tsv prints: the statement digests of
// a MySQL or MariaDB server as tab-separated values, seconds and rows, the class
// that took the most time first.
//
// The one idea: the same columns, and nothing left out in silence. Statements
// without a default database have a row, a server without performance_schema is
// reported with what to do, and a text of NULL is an empty one.
//
// Source: MySQL 9.7 manual, "Statement Summary Tables"; slowquery2tsv's columns as
// people paste them.
package slowquery2tsv

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// options are slowquery2tsv's flags.
type options struct {
	user, password, host, socket, database, query string
	port                                          int
	ssl, verbose                                  bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	fl := flag.NewFlagSet("slowquery2tsv", flag.ContinueOnError)
	fl.SetOutput(stderr)
	fl.StringVar(&o.user, "u", "root", "`USER`")
	fl.StringVar(&o.password, "p", "", "`PASSWORD`")
	fl.StringVar(&o.host, "h", "127.0.0.1", "`HOST`")
	fl.IntVar(&o.port, "P", 3306, "`PORT`")
	fl.StringVar(&o.socket, "S", "", "`SOCKET`")
	fl.StringVar(&o.database, "D", "mysql", "kind of `SERVER`: mysql; postgres is not supported")
	fl.BoolVar(&o.ssl, "s", false, "encrypt the connection")
	fl.StringVar(&o.query, "e", "", "not supported: a `QUERY` of one's own")
	fl.BoolVar(&o.verbose, "v", false, "say what is read")
	return o, fl.Parse(args)
}

// Run takes slowquery2tsv's arguments and returns its exit code: 0, 2 for usage, 3
// when there is nothing to print.
func Run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case o.database != "mysql":
		return printComplaint(stderr, 2, fmt.Errorf("-D %q: only mysql is supported", o.database))
	case o.query != "":
		return printComplaint(stderr, 2, errors.New("-e is not supported: the columns are those of the digests"))
	}
	d, err := o.read(ctx, stderr)
	if err == nil {
		err = Write(stdout, d)
	}
	if err != nil {
		return printComplaint(stderr, 3, err)
	}
	return 0
}

func printComplaint(w io.Writer, code int, err error) int {
	fmt.Fprintf(w, "slowquery2tsv: error: %v\n", err)
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		fmt.Fprintf(w, "slowquery2tsv: hint: %s\n", h.Hint())
	}
	return code
}

// read reads the digests.
func (o *options) read(ctx context.Context, stderr io.Writer) (*mysql.Digests, error) {
	address, params := o.host+":"+strconv.Itoa(o.port), map[string]string{}
	if o.socket != "" {
		address = o.socket
	}
	if o.ssl {
		params["tls"] = "skip-verify"
	}
	dsn, err := mysqlflags.FormatDSN(o.user, o.password, address, "", params)
	if err != nil {
		return nil, err
	}
	db, err := mysqlflags.OpenBounded(dsn)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	r, err := mysql.New(ctx, db)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if o.verbose {
		fmt.Fprintf(stderr, "slowquery2tsv: %s %s, performance_schema.events_statements_summary_by_digest\n",
			r.Flavor(), r.Version().Text)
	}
	return mysql.NewSummaries(r).Digests(ctx)
}

// Write writes the classes: cnt sum min avg max sumLock sumRows avgRows db, and a
// statement as it was sent, or where the server keeps none the digest's text. Times
// are seconds, rows are those that were sent.
func Write(w io.Writer, d *mysql.Digests) error {
	type row struct {
		mysql.DigestKey
		mysql.Digest
	}
	var rows []row
	last := "digest"
	for k, c := range d.Classes {
		if k.Schema == "performance_schema" {
			continue
		}
		if c.Sample != "" {
			last = "query"
		}
		rows = append(rows, row{k, c})
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.Schema, b.Schema), strings.Compare(a.ID, b.ID))
	})
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "cnt\tsum\tmin\tavg\tmax\tsumLock\tsumRows\tavgRows\tdb\t%s\n", last)
	for _, r := range rows {
		calls := max(r.Calls, 1)
		fmt.Fprintf(b, "%d\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", r.Calls, formatSeconds(r.Total), formatSeconds(r.Min),
			formatSeconds(r.Total/time.Duration(calls)), formatSeconds(r.Max),
			formatSeconds(r.Lock), r.RowsSent, strconv.FormatFloat(float64(r.RowsSent)/float64(calls), 'f', 4, 64),
			formatCell(r.Schema), formatCell(cmp.Or(r.Sample, r.Text)))
	}
	return b.Flush()
}

// formatSeconds prints a time to the nanosecond.
func formatSeconds(d time.Duration) string {
	text := fmt.Sprintf("%d.%09d", d/time.Second, d%time.Second)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// formatCell keeps a text on its line and in its column.
func formatCell(s string) string {
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(s)
}
