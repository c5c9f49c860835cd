package logscmd

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/fleet"
	"github.com/kasoku/kasoku/fleet/relay"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/routes"
	"github.com/kasoku/kasoku/logs/slowlog"
)

const (
	tableExtension = ".table"
	// keptTables and keptFor bound the tables of whole logs that stay on a host.
	keptTables = 512 << 20
	keptFor    = 7 * 24 * time.Hour
)

// tableName names the file with the table of a log, by all that the table depends on: the log as
// it is now, and how it is read. What was changed since then has another name.
func tableName(r *relay.Reader, word json.RawMessage, path string, st *unix.Stat_t) string {
	h := sha256.New()
	for _, part := range []string{cli.VersionString(), r.Kind, string(r.Options), string(word), path} {
		fmt.Fprintf(h, "%d %s ", len(part), part)
	}
	fmt.Fprint(h, st.Dev, st.Ino, st.Size, st.Mtim, st.Ctim)
	return hex.EncodeToString(h.Sum(nil)) + tableExtension
}

// tidyTables removes what readings left that were cut off, what was handed over, and tables that
// are old or too many.
func tidyTables(dir string, now time.Time) {
	all, _ := os.ReadDir(dir)
	var tables []fs.FileInfo
	for _, e := range all {
		st, err := e.Info()
		switch {
		case e.Name() == relay.Lock:
		case err == nil && filepath.Ext(e.Name()) == tableExtension && now.Sub(st.ModTime()) < keptFor:
			tables = append(tables, st)
		default:
			_ = os.RemoveAll(filepath.Join(dir, e.Name())) // it is tried again
		}
	}
	slices.SortFunc(tables, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var size int64
	for _, st := range tables {
		if size += st.Size(); size > keptTables {
			_ = os.Remove(filepath.Join(dir, st.Name()))
		}
	}
}

// An accessOrder is how access logs are read for another host: flags of accesslog, with what they
// name as data, since a host reads no file for another but the logs.
type accessOrder struct {
	Format  string         `json:",omitempty"`
	Where   string         `json:",omitempty"`
	Bots    string         `json:",omitempty"`
	Zone    string         `json:",omitempty"`
	By      []string       `json:",omitempty"`
	Slowest int            `json:",omitempty"`
	Workers int            `json:",omitempty"`
	Routes  routes.Options `json:",omitzero"`
}

// mostSlowest is how many of the slowest requests another host may ask for.
const mostSlowest = 100_000

// accessBegin is what is known once the zone of the first log is.
type accessBegin struct{ Since, Until time.Time }

// An accessTabler makes tables of access logs.
type accessTabler struct {
	options accesslog.Options
}

// strictly decodes JSON of another host; what is not known here would be left out without a word.
func strictly(b json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("how the logs are to be read is not understood here: %w", err)
	}
	return nil
}

// hostWorkers are as many as who asks wants, and no more than this host has threads for: each has memory of its own.
func hostWorkers(asked int) int { return min(max(asked, 0), runtime.GOMAXPROCS(0)) }

func newAccessTabler(e *cli.Env, options json.RawMessage) (*accessTabler, error) {
	var o accessOrder
	if err := strictly(options, &o); err != nil {
		return nil, err
	}
	if o.Slowest < 0 || o.Slowest > mostSlowest {
		return nil, fmt.Errorf("%d of the slowest requests: at most %d", o.Slowest, mostSlowest)
	}
	f := accessRead{format: o.Format, where: o.Where, bots: o.Bots, zone: o.Zone, by: o.By, slowest: o.Slowest,
		workers: hostWorkers(o.Workers), mapped: &o.Routes}
	if err := f.check(e); err != nil {
		return nil, err
	}
	return &accessTabler{f.options}, nil
}

func (t *accessTabler) zone(in *lines.Input) *fleet.LogZone {
	at, ahead, ok := stampOf(in, t.options.Format)
	if !ok {
		return nil
	}
	return &fleet.LogZone{At: at.Unix(), Ahead: ahead}
}

func (t *accessTabler) begin(word json.RawMessage) error {
	var b accessBegin
	if err := strictly(word, &b); err != nil {
		return err
	}
	t.options.Since, t.options.Until = b.Since, b.Until
	return nil
}

func (t *accessTabler) table(
	ctx context.Context, in *lines.Input, progress func(done, total int64),
) (*logs.Part, error) {
	table, windows, err := accesslog.CollectAll(ctx, []lines.Input{*in}, t.options, progress)
	if table == nil {
		return nil, err
	}
	if unknown := new(accessformat.UnknownFormatError); err != nil && ctx.Err() == nil && !errors.As(err, &unknown) {
		return nil, err // who asks is able to say that nothing was understood
	}
	p := &logs.Part{Window: windows[0]}
	p.Table, err = accesslog.AppendBinary(nil, table)
	return p, err
}

func (t *accessTabler) check(b []byte) error {
	_, err := accesslog.Read(t.options, b, 0)
	return err
}

// A slowOrder is how slow logs are read for another host: flags of slowlog.
type slowOrder struct {
	Kind    string     `json:",omitempty"`
	By      string     `json:",omitempty"`
	Match   string     `json:",omitempty"`
	User    string     `json:",omitempty"`
	Schema  string     `json:",omitempty"`
	Host    string     `json:",omitempty"`
	Slower  string     `json:",omitempty"`
	Zone    string     `json:",omitempty"`
	Workers int        `json:",omitempty"`
	Since   *time.Time `json:",omitempty"`
	Until   *time.Time `json:",omitempty"`
}

// A slowTabler makes tables of slow logs.
type slowTabler struct{ options slowlog.Options }

func newSlowTabler(e *cli.Env, options json.RawMessage) (*slowTabler, error) {
	var o slowOrder
	if err := strictly(options, &o); err != nil {
		return nil, err
	}
	f := slowRead{kind: o.Kind, by: o.By, match: o.Match, user: o.User, db: o.Schema, host: o.Host, slower: o.Slower,
		zone: o.Zone, workers: hostWorkers(o.Workers)}
	if err := f.check(e); err != nil {
		return nil, err
	}
	if o.Since != nil {
		f.options.Since = *o.Since
	}
	if o.Until != nil {
		f.options.Until = *o.Until
	}
	return &slowTabler{f.options}, nil
}

func (t *slowTabler) zone(*lines.Input) *fleet.LogZone { return nil }
func (t *slowTabler) begin(json.RawMessage) error      { return nil } // all is known before

func (t *slowTabler) table(
	ctx context.Context, in *lines.Input, progress func(done, total int64),
) (*logs.Part, error) {
	table, windows, err := slowlog.CollectOne(ctx, *in, 0, t.options, progress)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	p := &logs.Part{Window: windows[0]}
	p.Table, err = slowlog.AppendBinary(nil, table)
	return p, err
}

func (t *slowTabler) check(b []byte) error {
	_, err := slowlog.Read(t.options, b, 0)
	return err
}
