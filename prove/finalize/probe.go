package finalize

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/kasoku/kasoku/diagnose"
)

const (
	// rowsWithin bounds the counting of all tables.
	rowsWithin = 30 * time.Second
	// answerWithin bounds one answer, maxAnswer how much of it is read.
	answerWithin = 10 * time.Second
	maxAnswer    = 8 << 20
)

// listDifferences says which facts that begin with one of the words are gone or different
// in the later of two probes.
func listDifferences(before, after diagnose.Probe, words ...string) []string {
	var out []string
	for _, l := range before.Lost(after, words...) {
		out = append(out, l.String())
	}
	return out
}

// probe looks at the data and remembers it.
func (w *walker) probe(ctx context.Context, at string) (diagnose.Probe, error) {
	w.progress("probe %s", at)
	p := diagnose.Probe{At: at, Facts: map[string]string{}}
	var errs []error
	if w.db != nil {
		errs = append(errs, w.probeRows(ctx, p), w.probeIndexes(ctx, p))
	}
	for _, request := range w.Answers {
		answer, err := w.answer(ctx, request)
		if err != nil {
			answer = "no answer"
			errs = append(errs, err)
		}
		p.Facts[diagnose.FactAnswer+request] = answer
	}
	w.result.Probes = append(w.result.Probes, p)
	return p, errors.Join(errs...)
}

func (w *walker) probeRows(ctx context.Context, p diagnose.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, rowsWithin)
	defer cancel()
	tables, err := w.db.Tables(ctx)
	if err != nil {
		return err
	}
	for _, t := range tables {
		n, err := w.db.CountRows(ctx, t.Schema+"."+t.Name)
		if err != nil {
			return err
		}
		p.Facts[diagnose.FactRows+t.Schema+"."+t.Name] = fmt.Sprint(n)
	}
	return nil
}

func (w *walker) probeIndexes(ctx context.Context, p diagnose.Probe) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	indexes, err := w.db.Indexes(ctx)
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

// answer asks for a request and returns what distinguishes its answer from another one.
func (w *walker) answer(ctx context.Context, request string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	resp, err := w.do(ctx, request)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("%s: %w", request, err)
	}
	return fmt.Sprintf("%d, %d bytes, %.8x", resp.StatusCode, n, h.Sum(nil)), nil
}

// do sends METHOD URL. Redirects are answers.
func (w *walker) do(ctx context.Context, request string) (*http.Response, error) {
	method, url, _ := strings.Cut(request, " ")
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", request, err)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", request, err)
	}
	return resp, nil
}
