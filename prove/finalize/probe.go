package finalize

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/onehost"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/prove/answers"
)

const (
	// rowsWithin bounds the counting of all tables.
	rowsWithin = 30 * time.Second
	// answerWithin bounds one answer, maxAnswer how much is read of that of initialize.
	answerWithin = 10 * time.Second
	maxAnswer    = 8 << 20
)

// listDifferences describes which facts that begin with one of the words are gone or different
// in the later of two probes.
func listDifferences(before, after diagnose.Probe, words ...string) []string {
	var out []string
	for _, l := range before.Lost(after, words...) {
		out = append(out, l.String())
	}
	return out
}

// A prober looks at the data of the service, and remembers what it saw.
type prober struct {
	db       *mysql.Reader // nil without a database
	asker    answers.Asker
	requests []answers.Request // each its own endpoint, METHOD URL
	golden   *answers.Golden   // of the last probe that others are held against
	left     []answers.LeftOut // that prove nothing
	progress func(format string, args ...any)
	taken    []diagnose.Probe
}

// probe looks at the data and remembers it.
func (d *prober) probe(ctx context.Context, at string) (diagnose.Probe, error) {
	d.progress("probe %s", at)
	p := diagnose.Probe{At: at, Facts: map[string]string{}}
	var errs []error
	if d.db != nil {
		errs = append(errs, d.probeRows(ctx, p), d.probeIndexes(ctx, p))
	}
	errs = append(errs, d.probeAnswers(ctx, p))
	d.taken = append(d.taken, p)
	return p, errors.Join(errs...)
}

func (d *prober) probeRows(ctx context.Context, p diagnose.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, rowsWithin)
	defer cancel()
	tables, err := mysql.NewSchema(d.db).Tables(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		n, err := mysql.NewSchema(d.db).CountRows(ctx, t.Schema+"."+t.Name)
		if err != nil {
			return err
		}
		p.Facts[diagnose.FactRows+t.Schema+"."+t.Name] = fmt.Sprint(n)
	}
	return nil
}

func (d *prober) probeIndexes(ctx context.Context, p diagnose.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	indexes, err := mysql.NewSchema(d.db).Indexes(ctx)
	if err != nil {
		return err
	}
	for _, i := range indexes {
		text := "(" + strings.Join(i.Parts, ", ") + ")"
		if i.Unique {
			text = "unique " + text
		}
		p.Facts[diagnose.FactIndex+i.Table+"."+i.Name] = text
	}
	return nil
}

// probeAnswers asks for the answers: anew at the start and after initialize, each several
// times, so that what is volatile is known; at other moments what differs from those.
func (d *prober) probeAnswers(ctx context.Context, p diagnose.Probe) error {
	if len(d.requests) == 0 {
		return nil
	}
	d.asker.Timeout = answerWithin
	if p.At == diagnose.AtStart || p.At == diagnose.AfterInitialize || d.golden == nil {
		return d.keepAnswers(ctx, p)
	}
	for i := range d.golden.Answers {
		p.Facts[factOf(&d.golden.Answers[i])] = statusOf(&d.golden.Answers[i])
	}
	checked, err := d.asker.Check(ctx, d.golden)
	if err != nil {
		for i := range d.golden.Answers {
			p.Facts[factOf(&d.golden.Answers[i])] = "no answer"
		}
		return err
	}
	differs := map[string][]string{}
	for i := range checked.Differences {
		x := &checked.Differences[i]
		differs[x.Endpoint] = append(differs[x.Endpoint], x.Text())
	}
	for request, texts := range differs {
		p.Facts[diagnose.FactAnswer+request] = strings.Join(texts, "; ")
	}
	return nil
}

// keepAnswers makes the answers those that others are held against. What cannot be kept is
// left out from then on.
func (d *prober) keepAnswers(ctx context.Context, p diagnose.Probe) error {
	kept, err := d.asker.Record(ctx, d.requests)
	if err != nil {
		for i := range d.requests {
			p.Facts[diagnose.FactAnswer+d.requests[i].Endpoint] = "no answer"
		}
		return err
	}
	d.golden, d.requests = kept.Golden, kept.Golden.Requests()
	d.left = append(d.left, kept.Left...)
	for i := range d.golden.Answers {
		p.Facts[factOf(&d.golden.Answers[i])] = statusOf(&d.golden.Answers[i])
	}
	return nil
}

func factOf(a *answers.Answer) string   { return diagnose.FactAnswer + a.Endpoint }
func statusOf(a *answers.Answer) string { return fmt.Sprintf("%d, %s", a.Status, a.Form) }

// requestsOf reads METHOD URL of each; what may not be asked is left out, with the reason.
func requestsOf(list []string) (out []answers.Request, left []answers.LeftOut) {
	for _, text := range list {
		r, err := answers.ParseRequest(text)
		r.Endpoint = text
		if err != nil {
			left = append(left, answers.LeftOut{Request: r, Why: err.Error()})
			continue
		}
		out = append(out, r)
	}
	return out, left
}

// at returns the probe of a moment.
func (d *prober) at(moment string) (diagnose.Probe, bool) {
	for _, p := range d.taken {
		if p.At == moment {
			return p, true
		}
	}
	return diagnose.Probe{}, false
}

// send sends METHOD URL. Redirects are answers.
func send(ctx context.Context, request string) (*http.Response, error) {
	method, url, _ := strings.Cut(request, " ")
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", request, err)
	}
	resp, err := onehost.NewClient(&http.Transport{DisableKeepAlives: true}, 0).Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", request, err)
	}
	return resp, nil
}
