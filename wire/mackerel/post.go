package mackerel

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Limits of an annotation, in characters.
const (
	maxTitle       = 250
	maxDescription = 1024
)

// A Value is a value of a metric. Its name holds letters, digits, '.', '_' and '-'; see
// [Name]. Those of hosts that are not built in begin with "custom.".
type Value struct {
	Name  string  `json:"name"`
	Time  int64   `json:"time"` // s since 1970
	Value float64 `json:"value"`
}

// A HostValue is a value of a metric of a host.
type HostValue struct {
	HostID string `json:"hostId"`
	Value
}

// An Annotation marks a stretch of time on the graphs of a service or of its roles.
type Annotation struct {
	ID          string   `json:"id,omitempty"` // given by the service
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	From        int64    `json:"from"` // s since 1970
	To          int64    `json:"to"`
	Service     string   `json:"service"`
	Roles       []string `json:"roles,omitempty"` // none: of the whole service
}

// A Host is a host that the service knows.
type Host struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"` // working, standby, maintenance, poweroff
}

// PostHost posts values of hosts, in as many requests as that takes. posted is how many
// were taken; values that are no numbers are left out and not counted.
func (c *Client) PostHost(ctx context.Context, values []HostValue) (posted int, err error) {
	return postInParts(values, func(v HostValue) float64 { return v.Value.Value }, func(part []HostValue) error {
		return c.do(ctx, http.MethodPost, "/api/v0/tsdb", part, nil)
	})
}

// PostService is PostHost for values of a service.
func (c *Client) PostService(ctx context.Context, service string, values []Value) (posted int, err error) {
	path := "/api/v0/services/" + url.PathEscape(service) + "/tsdb"
	return postInParts(values, func(v Value) float64 { return v.Value }, func(part []Value) error {
		return c.do(ctx, http.MethodPost, path, part, nil)
	})
}

// postInParts sends the values that are numbers in parts.
func postInParts[V any](values []V, number func(V) float64, send func([]V) error) (posted int, err error) {
	part := make([]V, 0, min(len(values), perPost))
	for i, v := range values {
		if n := number(v); !math.IsNaN(n) && !math.IsInf(n, 0) {
			part = append(part, v)
		}
		if len(part) == perPost || i == len(values)-1 && len(part) > 0 {
			if err := send(part); err != nil {
				return posted, err
			}
			posted += len(part)
			part = part[:0]
		}
	}
	return posted, nil
}

// Annotate marks a stretch of time and returns the annotation's id. Title and
// description are cut to what the service takes.
func (c *Client) Annotate(ctx context.Context, a Annotation) (id string, err error) {
	a.ID = ""
	a.Title, a.Description = cutText(a.Title, maxTitle, "…"), cutText(a.Description, maxDescription, "…")
	a.To = max(a.To, a.From)
	var made Annotation
	err = c.do(ctx, http.MethodPost, "/api/v0/graph-annotations", a, &made)
	return made.ID, err
}

// statuses are those of hosts that are not retired. A list that asks for none has the
// first two.
var statuses = []string{"working", "standby", "maintenance", "poweroff"}

// HostsNamed returns the hosts with that name that are not retired, whatever their
// status.
func (c *Client) HostsNamed(ctx context.Context, name string) ([]Host, error) {
	var answer struct {
		Hosts []Host `json:"hosts"`
	}
	query := url.Values{"name": {name}, "status": statuses}
	err := c.do(ctx, http.MethodGet, "/api/v0/hosts?"+query.Encode(), nil, &answer)
	return answer.Hosts, err
}

// Services returns the names of the organization's services.
func (c *Client) Services(ctx context.Context) ([]string, error) {
	var answer struct {
		Services []struct{ Name string } `json:"services"`
	}
	err := c.do(ctx, http.MethodGet, "/api/v0/services", nil, &answer)
	var names []string
	for _, s := range answer.Services {
		names = append(names, s.Name)
	}
	return names, err
}

// Name makes a text a part of a metric's name: what the service does not take, and
// the dot, which separates parts, becomes '_'. It is never empty.
func Name(s string) string {
	if s == "" {
		return "_"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, s)
}

// cutText shortens a text to so many characters, the last of them more where some are
// left out. What is no UTF-8 becomes U+FFFD.
func cutText(s string, most int, more string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	n := most - utf8.RuneCountInString(more)
	for i := range s {
		if n == 0 {
			return s[:i] + more
		}
		n--
	}
	return s
}

var _ fmt.GoStringer = (*Client)(nil)
