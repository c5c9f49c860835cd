package app

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// chatty is the defect APP-01: what a framework does in its debug mode. Each
// request is a line of JSON in the log, written by itself, and JSON is answered
// with two spaces of indent.
func chatty(h http.Handler, out io.Writer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		rec := &recorder{header: w.Header(), status: http.StatusOK}
		h.ServeHTTP(rec, r)
		body := rec.body.Bytes()
		if strings.HasPrefix(rec.header.Get("Content-Type"), "application/json") &&
			rec.header.Get("Content-Encoding") == "" {
			var pretty bytes.Buffer
			if json.Indent(&pretty, body, "", "  ") == nil {
				pretty.WriteByte('\n')
				body = pretty.Bytes()
			}
		}
		rec.header.Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(rec.status)
		_, _ = w.Write(body) // when it fails, the client is gone
		logRequest(out, r, start, rec.status, len(body))
	})
}

// A recorder keeps an answer until it is whole.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

// logRequest writes one line; its keys are those that such loggers write.
func logRequest(out io.Writer, r *http.Request, start time.Time, status, size int) {
	took := time.Since(start)
	line, err := json.Marshal(struct {
		Time         string `json:"time"`
		ID           string `json:"id"`
		RemoteIP     string `json:"remote_ip"`
		Host         string `json:"host"`
		Method       string `json:"method"`
		URI          string `json:"uri"`
		UserAgent    string `json:"user_agent"`
		Status       int    `json:"status"`
		Error        string `json:"error"`
		Latency      int64  `json:"latency"` // ns
		LatencyHuman string `json:"latency_human"`
		BytesIn      int64  `json:"bytes_in"`
		BytesOut     int    `json:"bytes_out"`
	}{
		Time: start.Format(time.RFC3339Nano), RemoteIP: r.RemoteAddr, Host: r.Host, Method: r.Method, URI: r.RequestURI,
		UserAgent: r.UserAgent(), Status: status, Latency: int64(took), LatencyHuman: took.String(),
		BytesIn: max(r.ContentLength, 0), BytesOut: size,
	})
	if err == nil {
		_, _ = out.Write(append(line, '\n')) // a log that cannot be written has nowhere to say so
	}
}
