package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/wire/graphite"
)

// maxAnswer bounds what is read: 15 minutes of 10,000 series at 10 s.
const maxAnswer = 64 << 20

// span is how far back is asked for.
const span = 15 * time.Minute

// A source is the question to the render API.
type source struct {
	kind kind
	host string // as in carbon's metrics
	url  string
}

// A usageError is a mistake on the command line.
type usageError struct{ text, hint string }

func (e *usageError) Error() string { return e.text }
func (e *usageError) Hint() string  { return e.hint }

// source makes the question of the flags.
func (o options) source() (source, error) {
	k, ok := kindOf(o.Type)
	if !ok {
		return source{}, &usageError{fmt.Sprintf("no such type: %q", o.Type),
			"--type is cache, relay, aggregator or go-carbon"}
	}
	host := o.Host
	if host == "" {
		var err error
		if host, err = os.Hostname(); err != nil {
			return source{}, err
		}
	}
	host = strings.ReplaceAll(host, ".", "_")
	node := host
	if k.instances {
		instance := o.Instance
		switch {
		case k.perNode && instance == "":
			instance = "*"
		case !k.perNode && (instance == "" || instance == "*"):
			return source{}, &usageError{"a " + o.Type + " needs the name of one instance",
				"--instance a is carbon's default"}
		}
		node += "-" + instance
	}
	base := "carbon." + k.tree + "." + node
	// In seconds, since go-carbon's own server takes no other times.
	until := time.Now()
	query := url.Values{
		"from": {strconv.FormatInt(until.Add(-span).Unix(), 10)}, "until": {strconv.FormatInt(until.Unix(), 10)},
		"format": {"json"}, "target": {base + ".*"},
	}
	if k.subMetrics {
		query.Add("target", base+".*.*")
	}
	if k.sendsOn {
		query.Add("target", base+".destinations.*.*")
	}
	return source{k, host, o.web() + "/render/?" + query.Encode()}, nil
}

// web is the address of graphite-web.
func (o options) web() string {
	scheme, host, ok := strings.Cut(o.WebHost, "://")
	if !ok {
		scheme, host = "http", o.WebHost
	}
	host = strings.TrimRight(host, "/")
	if o.WebPort != "" {
		host = net.JoinHostPort(strings.Trim(host, "[]"), o.WebPort)
	}
	return scheme + "://" + host
}

// sameHost follows a redirect within the host that was named, as from http to https.
func sameHost(to *http.Request, via []*http.Request) error {
	if len(via) >= 10 || to.URL.Hostname() != via[0].URL.Hostname() {
		return http.ErrUseLastResponse
	}
	return nil
}

// fetch asks the render API.
func (s source) fetch(ctx context.Context) ([]series, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", name)
	client := &http.Client{CheckRedirect: sameHost}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask graphite: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask graphite: %w", err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("ask graphite: the answer is above %d MB", maxAnswer>>20)
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("ask graphite: %s", res.Status)
	}
	all, err := s.kind.parse(body, s.host)
	if err != nil {
		return nil, fmt.Errorf("ask graphite: %w", err)
	}
	if len(all) == 0 {
		return nil, &usageError{fmt.Sprintf("graphite knows no metrics of %s on %q", s.kind.key, s.host),
			"carbon's own name of the host is in its metrics, carbon." + s.kind.tree + ".*: give it with --host"}
	}
	return all, nil
}

// parse reads the answer of the render API.
func (k kind) parse(body []byte, host string) ([]series, error) {
	answer, err := graphite.ParseRender(body)
	if err != nil {
		return nil, err
	}
	var out []series
	seen := map[string]bool{} // two targets may fit one metric
	for _, a := range answer {
		s, ok := k.place(a.Target, host)
		if !ok || seen[a.Target] {
			continue
		}
		seen[a.Target] = true
		s.points = a.Points
		out = append(out, s)
	}
	return out, nil
}
