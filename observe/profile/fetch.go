package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/onehost"
)

// answerLimit is how long a program may take to answer, beyond the time for which it
// was asked to sample.
const answerLimit = 10 * time.Second

// Check reports why an address is none to take profiles from, nil when it is one.
func Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("no URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("want a URL such as http://127.0.0.1:6060/debug/pprof/")
	}
	return nil
}

// A server is one program that serves net/http/pprof.
type server struct {
	client *http.Client
	base   *url.URL
}

func newServer(address string) (*server, error) {
	if err := Check(address); err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	return &server{base: u, client: onehost.NewClient(&http.Transport{MaxIdleConnsPerHost: 1}, 0)}, nil
}

// shown is the address without what may be secret in it.
func (s *server) shown() string {
	u := *s.base
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

func (s *server) close() { s.client.CloseIdleConnections() }

// A badAnswer is one that is no profile: the program is there.
type badAnswer struct{ err error }

func (b *badAnswer) Error() string { return b.err.Error() }
func (b *badAnswer) Unwrap() error { return b.err }

// A refusal is an answer that is no profile.
type refusal struct {
	code int
	text string // of the answer, in one line
}

func (r *refusal) Error() string {
	s := "answered " + strconv.Itoa(r.code) + " " + http.StatusText(r.code)
	if r.text != "" {
		s += ": " + r.text
	}
	return strings.TrimSpace(s)
}

// get asks for one profile. With seconds the program samples for so long.
func (s *server) get(ctx context.Context, name string, seconds int) (_ *pprof.Profile, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerLimit+time.Duration(seconds)*time.Second)
	defer cancel()
	u := s.base.JoinPath(name)
	if seconds > 0 {
		q := u.Query()
		q.Set("seconds", strconv.Itoa(seconds))
		u.RawQuery = q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	res, err := s.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the address is reported already
		}
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK {
		return nil, &badAnswer{refused(res)}
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, mostBytes+1))
	if err != nil {
		return nil, err
	}
	p, err := Decode(body)
	if err != nil {
		return nil, &badAnswer{err}
	}
	return p, nil
}

// refused keeps the first line of an answer that is no profile.
func refused(res *http.Response) error {
	const most = 200
	body, _ := io.ReadAll(io.LimitReader(res.Body, most)) // what it says matters less than that it refused
	line, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	if strings.HasPrefix(line, "<") {
		line = "" // a page
	}
	return &refusal{res.StatusCode, text(line)}
}

// cpu samples CPU time in slices, one after the other, and adds them up. The slices
// that were complete when the context ends are kept; one that fails before is an
// error, and nothing is kept.
func (s *server) cpu(ctx context.Context, slices []int) (sum *pprof.Profile, err error) {
	var got []*pprof.Profile
	for i, seconds := range slices {
		p, err := s.get(ctx, "profile", seconds)
		if err != nil {
			if i == 0 || ctx.Err() == nil {
				return nil, err
			}
			break
		}
		got = append(got, p)
	}
	if len(got) == 1 {
		return got[0], nil
	}
	sum, err = pprof.Merge(got)
	if err != nil {
		return nil, fmt.Errorf("add up slices: %w", err)
	}
	return sum, nil
}

// errRestarted means that a program's sums have fallen.
var errRestarted = errors.New("its sums have fallen: the program was restarted meanwhile")

// grown returns what was added between two readings of sums. Their first value
// counts; the others are estimates that may fall by a little, such as nanoseconds
// that the runtime makes of ticks by a rate that it measures anew.
func grown(before, after *pprof.Profile) (*pprof.Profile, error) {
	minus := before.Copy()
	minus.Scale(-1)
	d, err := pprof.Merge([]*pprof.Profile{after, minus})
	if err != nil {
		return nil, fmt.Errorf("take the difference: %w", err)
	}
	for _, s := range d.Sample {
		if s.Value[0] < 0 {
			return nil, errRestarted
		}
		for i, v := range s.Value {
			s.Value[i] = max(v, 0)
		}
	}
	return d, nil
}

// only drops all sample types of a profile but those that start with a prefix.
func only(p *pprof.Profile, prefix string) *pprof.Profile {
	out := p.Copy()
	var keep []int
	out.SampleType = nil
	for i, t := range p.SampleType {
		if strings.HasPrefix(t.Type, prefix) {
			keep = append(keep, i)
			out.SampleType = append(out.SampleType, t)
		}
	}
	if len(keep) == 0 {
		return p
	}
	out.DefaultSampleType = ""
	samples := out.Sample[:0]
	for _, s := range out.Sample {
		var vs []int64
		some := false
		for _, i := range keep {
			vs, some = append(vs, s.Value[i]), some || s.Value[i] != 0
		}
		if s.Value = vs; some {
			samples = append(samples, s)
		}
	}
	out.Sample = samples
	return out.Compact()
}

// hint describes what to do about an error.
func hint(err error, kind kasoku.ProfileKind) string {
	var r *refusal
	switch {
	case errors.As(err, &r) && r.code == http.StatusNotFound:
		return "let the program import net/http/pprof, or register its handlers where [watch] pprof points"
	case errors.As(err, &r) && strings.Contains(r.text, "WriteTimeout"):
		return "serve profiles from an http.Server of their own, without WriteTimeout"
	case errors.As(err, &r) && kind == kasoku.ProfileCPU && r.code == http.StatusInternalServerError:
		return "only one CPU profile of a program can be taken at a time: end the other"
	}
	return "look whether `go tool pprof` can read it; [watch] pprof says where it is looked for"
}
