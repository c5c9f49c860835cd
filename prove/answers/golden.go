package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/kasoku/kasoku/internal/secret"
)

const (
	schema     = 1
	kindOfFile = "answers"
	// MaxFile bounds a golden file, maxAnswers how many requests it has.
	MaxFile     = 64 << 20
	maxAnswers  = 10_000
	maxVolatile = 10_000 // paths of one answer
	mostHeld    = MaxFile / 2
)

// A Golden holds answers that later ones are compared with.
type Golden struct {
	Schema   int       `json:"schema"`
	Kind     string    `json:"kind"`
	Recorded time.Time `json:"recorded"`
	Answers  []Answer  `json:"answers"`
}

// A Request is what is asked: GET or HEAD of a URL.
type Request struct {
	Endpoint string      `json:"endpoint"` // that it is reported by: GET /items/:id
	Method   string      `json:"method"`
	URL      string      `json:"url"`
	Header   http.Header `json:"header,omitempty"`
	Withheld []string    `json:"withheld,omitempty"` // headers that were sent and hold secrets; they are not kept
}

// String returns METHOD URL as it may be shown: without secrets.
func (r *Request) String() string {
	return string(secret.Append(nil, []byte(r.Method+" "+r.URL)))
}

// host returns the host and port that are asked.
func (r *Request) host() string {
	u, err := url.Parse(r.URL)
	if err != nil {
		return ""
	}
	return u.Host
}

// An Answer is a request with what came, less what is volatile.
type Answer struct {
	Request
	Status   int               `json:"status"`
	Type     string            `json:"type"`
	Headers  map[string]string `json:"headers,omitempty"` // of keptHeaders
	Cookies  []string          `json:"cookies,omitempty"` // names that are set
	Form     string            `json:"form"`
	Body     json.RawMessage   `json:"body,omitempty"`
	Volatile []Volatile        `json:"volatile,omitempty"`

	raw  []byte        // body as it came; nil of one that is kept by its hash, and of one of a file
	hash any           // what is kept of the body in its place
	age  time.Duration // that a cache says it has
	bare bool          // 200, without a header by which a client may keep it or ask on condition
}

// A Volatile is a place that differed between asks, and in what.
type Volatile struct {
	Path       string `json:"path"`
	What       string `json:"what"`
	Concurrent bool   `json:"concurrent,omitempty"` // only while several requests were under way
}

// keptHeaders are those that say how an answer is used. Secrets are in none of them.
var keptHeaders = []string{"Location", "Cache-Control"}

// isSecretHeader reports whether a header of a request may hold what others must not see.
func isSecretHeader(name string) bool {
	low := strings.ToLower(name)
	return slices.ContainsFunc([]string{"authorization", "cookie", "token", "secret", "key", "password", "auth", "session", "signature"},
		func(word string) bool { return strings.Contains(low, word) })
}

// tree returns everything of an answer that is compared. It is built each time, since it
// takes some fifty times as much as the body, and few of them are needed at once.
func (a *Answer) tree() map[string]any {
	var body any
	switch {
	case a.raw != nil:
		_, body = shapeBody(a.Type, a.raw)
	case a.hash != nil:
		body = a.hash
	case len(a.Body) > 0:
		body, _ = decodeJSON(a.Body) // check has seen to it
	}
	headers := map[string]any{}
	for name, value := range a.Headers {
		headers[name] = value
	}
	tree := map[string]any{"status": json.Number(fmt.Sprint(a.Status)), "content type": a.Type, "header": headers, "cookies": texts(a.Cookies)}
	if a.Form != formNone {
		tree[bodyOf(a.Form)] = body
	}
	return tree
}

// bodyOf is the member of the tree that holds a body; another form is another member.
func bodyOf(form string) string { return "body " + form }

// Parse reads a golden file. It refuses what [Golden.Write] does not write: unknown keys,
// other methods, URLs of no web server, paths that are none, bodies that are too deep.
func Parse(text []byte) (*Golden, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("longer than %d MiB", MaxFile>>20)
	}
	if tooDeep(text, 4) {
		return nil, errDeep
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var g Golden
	if err := d.Decode(&g); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the answers")
	}
	switch {
	case g.Kind != kindOfFile:
		return nil, fmt.Errorf("kind %.40q: want %q", g.Kind, kindOfFile)
	case g.Schema != schema:
		return nil, fmt.Errorf("schema %d: this kasoku reads %d", g.Schema, schema)
	case len(g.Answers) > maxAnswers:
		return nil, fmt.Errorf("%d answers, at most %d", len(g.Answers), maxAnswers)
	}
	for i := range g.Answers {
		if err := g.Answers[i].check(); err != nil {
			return nil, fmt.Errorf("answer %d: %w", i+1, err)
		}
	}
	return &g, nil
}

// check refuses what is not as it was written.
func (a *Answer) check() error {
	if err := a.Request.Validate(); err != nil {
		return err
	}
	if a.Status < 100 || a.Status > 599 {
		return fmt.Errorf("status %d", a.Status)
	}
	for name := range a.Headers {
		if !slices.Contains(keptHeaders, name) {
			return fmt.Errorf("header %.40q is none that is kept", name)
		}
	}
	if len(a.Volatile) > maxVolatile {
		return fmt.Errorf("%d volatile paths, at most %d", len(a.Volatile), maxVolatile)
	}
	root := &place{}
	for _, v := range a.Volatile {
		if _, err := root.at(v.Path); err != nil {
			return err
		}
		if !slices.Contains([]string{ofValue, ofKind, ofOrder, ofElements, ofPresence}, v.What) {
			return fmt.Errorf("%.40q can not be volatile", v.What)
		}
	}
	switch a.Form {
	case formNone:
		if len(a.Body) > 0 {
			return errors.New("a body, and the form says there is none")
		}
	case formJSON, formHTML, formLines, formHash:
		if err := checkJSON(a.Body); err != nil {
			return fmt.Errorf("body: %w", err)
		}
	default:
		return fmt.Errorf("form %.40q is none", a.Form)
	}
	return nil
}

// Validate refuses what is no GET or HEAD of a web server.
func (r *Request) Validate() error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return fmt.Errorf("method %.20q: want GET or HEAD, others may change data", r.Method)
	}
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(r.URL) > 16<<10 {
		return fmt.Errorf("%.100q: want a URL that begins with http://", r.URL)
	}
	for name, values := range r.Header {
		if !httpguts.ValidHeaderFieldName(name) || !slices.ContainsFunc(values, httpguts.ValidHeaderFieldValue) {
			return fmt.Errorf("header %.40q is none", name)
		}
	}
	return nil
}

// ErrTooLarge says that the answers are more than a golden file may hold.
var ErrTooLarge = fmt.Errorf("the answers are more than %d MiB", MaxFile>>20)

// Write writes a golden file.
func (g *Golden) Write(w io.Writer) error {
	text, err := json.MarshalIndent(g, "", " ")
	if err != nil {
		return err
	}
	if len(text) > MaxFile {
		return ErrTooLarge
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
