package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"time"
)

// A Request is what a user asks for. It may be used again, also by many
// goroutines, as long as it is not changed.
type Request struct {
	Step   string // its name in records and errors; empty: method and path without query
	Method string // empty: GET

	// Path is path and query as they stand in a URL, relative to the base URL, or a
	// whole URL. What begins with one slash, and is ASCII without blanks, is sent as
	// it is, also when it is escaped wrongly.
	Path string

	ContentType string // of Body; empty: none is sent
	Body        []byte

	Header  http.Header   // sent instead of the agent's fields of the same name
	Timeout time.Duration // instead of Options.Timeout; below 0 none
}

// method returns the method.
func (r *Request) method() string {
	if r.Method == "" {
		return http.MethodGet
	}
	return r.Method
}

// step returns the name of the request in records and errors.
func (r *Request) step() string {
	if r.Step != "" {
		return r.Step
	}
	path, _, _ := strings.Cut(r.Path, "?")
	return r.method() + " " + path
}

// Get asks for a path.
func (a *Agent) Get(ctx context.Context, step, path string) (*Response, error) {
	return a.Do(ctx, &Request{Step: step, Path: path})
}

// Post sends a body to a path.
func (a *Agent) Post(ctx context.Context, step, path, contentType string, body []byte) (*Response, error) {
	return a.Do(ctx, &Request{Step: step, Method: http.MethodPost, Path: path, ContentType: contentType, Body: body})
}

// PostJSON sends a value as JSON.
func (a *Agent) PostJSON(ctx context.Context, step, path string, v any) (*Response, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("POST %s: %w", path, err)
	}
	return a.Post(ctx, step, path, "application/json", body)
}

// A File is a part of a form.
type File struct {
	Field       string // name of the part
	Name        string // of the file; empty: the part is a plain value
	ContentType string // empty: application/octet-stream for a file
	Data        []byte
}

// Upload sends files as multipart/form-data (RFC 7578).
func (a *Agent) Upload(ctx context.Context, step, path string, files ...File) (*Response, error) {
	contentType, body, err := Form(files...)
	if err != nil {
		return nil, fmt.Errorf("POST %s: %w", path, err)
	}
	return a.Post(ctx, step, path, contentType, body)
}

// Form returns files as the body of a multipart/form-data request, and its
// content type.
func Form(files ...File) (contentType string, body []byte, err error) {
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for _, f := range files {
		disposition := `form-data; name="` + quoteEscaper.Replace(f.Field) + `"`
		h := textproto.MIMEHeader{}
		if f.Name != "" {
			disposition += `; filename="` + quoteEscaper.Replace(f.Name) + `"`
			h.Set("Content-Type", "application/octet-stream")
		}
		h.Set("Content-Disposition", disposition)
		if f.ContentType != "" {
			h.Set("Content-Type", f.ContentType)
		}
		part, err := w.CreatePart(h)
		if err != nil {
			return "", nil, fmt.Errorf("form part %q: %w", f.Field, err)
		}
		if _, err := part.Write(f.Data); err != nil {
			return "", nil, fmt.Errorf("form part %q: %w", f.Field, err)
		}
	}
	if err := w.Close(); err != nil {
		return "", nil, fmt.Errorf("end of form: %w", err)
	}
	return w.FormDataContentType(), buf.Bytes(), nil
}

// quoteEscaper writes a name as browsers do (HTML, multipart/form-data encoding
// algorithm).
var quoteEscaper = strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22")
