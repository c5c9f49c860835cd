package graphite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
	api "github.com/kasoku/kasoku/wire/graphite"
	"github.com/kasoku/kasoku/wire/whisper"
)

// renderEvery is how often the render API is asked: it reads the files anew each
// time, for values that come once a minute.
const renderEvery = 10 * time.Second

// mostRendered bounds an answer: five minutes of mostSeries by the second.
const mostRendered = 4 << 20

func checkURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q: want a URL such as http://127.0.0.1:8080/render", address)
	}
	return nil
}

// render asks the render API for the last minutes.
func (s *Source) render(ctx context.Context, f *kasoku.Frame) error {
	now := s.now()
	if now.Before(s.nextAsk) {
		return nil
	}
	u, err := url.Parse(s.o.Render)
	if err != nil {
		return err
	}
	q := u.Query()
	agents := s.o.Agents
	if len(agents) == 0 {
		agents = []string{"agents.*", "relays.*", "aggregator.*"}
	}
	for _, a := range agents {
		for _, below := range []string{".*", ".*.*", ".*.*.*"} {
			q.Add("target", prefix+a+below)
		}
	}
	q.Set("format", "json")
	q.Set("from", strconv.FormatInt(now.Add(-5*time.Minute).Unix(), 10))
	q.Set("until", strconv.FormatInt(now.Unix(), 10))
	u.RawQuery = q.Encode()
	body, err := s.fetch(ctx, u.String())
	if err != nil {
		return fmt.Errorf("graphite's render API: %w", err)
	}
	found, err := api.ParseRender(body)
	if err != nil {
		return fmt.Errorf("graphite's render API: %w", err)
	}
	s.nextAsk = now.Add(renderEvery)
	for _, x := range found {
		if n := len(x.Points); n > 0 && s.wanted(x.Target) {
			last := x.Points[n-1]
			s.keep(f, inRender, x.Target, whisper.Point{Time: last.Time, Value: last.Value})
		}
	}
	return nil
}

func (s *Source) fetch(ctx context.Context, address string) (body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "kasoku")
	res, err := s.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL, which the reader knows
		}
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered %s", res.Status)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, mostRendered+1))
	if err == nil && len(body) > mostRendered {
		err = fmt.Errorf("answered more than %d bytes", mostRendered)
	}
	return body, err
}
