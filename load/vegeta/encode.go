package vegeta

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// An Encoding is how results are written.
type Encoding string

// The encodings.
const (
	Gob  Encoding = "gob"
	JSON Encoding = "json"
	CSV  Encoding = "csv"
)

// An Encoder writes results one after the other.
type Encoder interface {
	Encode(*Result) error
}

// NewEncoder returns an encoder; an empty encoding means [Gob], which is what
// Vegeta's attack writes.
func NewEncoder(w io.Writer, e Encoding) (Encoder, error) {
	switch e {
	case Gob, "":
		return gobEncoder{gob.NewEncoder(w)}, nil
	case JSON:
		return jsonEncoder{json.NewEncoder(w)}, nil
	case CSV:
		return &csvEncoder{w: csv.NewWriter(w)}, nil
	}
	return nil, fmt.Errorf("bad encoding %q: want %s, %s or %s", string(e), Gob, JSON, CSV)
}

type gobEncoder struct{ *gob.Encoder }

func (e gobEncoder) Encode(r *Result) error { return e.Encoder.Encode(r) }

type jsonEncoder struct{ *json.Encoder }

func (e jsonEncoder) Encode(r *Result) error { return e.Encoder.Encode(r) }

// csvColumns are: Unix time in ns, code, latency in ns, bytes out, bytes in,
// error, body in base64, attack, sequence, method, URL, headers in base64.
const csvColumns = 12

type csvEncoder struct {
	w   *csv.Writer
	rec [csvColumns]string
	buf bytes.Buffer
}

func (e *csvEncoder) Encode(r *Result) error {
	e.rec = [csvColumns]string{
		strconv.FormatInt(r.Timestamp.UnixNano(), 10),
		strconv.FormatUint(uint64(r.Code), 10),
		strconv.FormatInt(r.Latency.Nanoseconds(), 10),
		strconv.FormatUint(r.BytesOut, 10),
		strconv.FormatUint(r.BytesIn, 10),
		r.Error,
		base64.StdEncoding.EncodeToString(r.Body),
		r.Attack,
		strconv.FormatUint(r.Seq, 10),
		r.Method,
		r.URL,
		e.headers(r.Headers),
	}
	if err := e.w.Write(e.rec[:]); err != nil {
		return err
	}
	e.w.Flush()
	return e.w.Error()
}

// headers returns the headers as they stand on the wire, names sorted, in base64.
func (e *csvEncoder) headers(h http.Header) string {
	if len(h) == 0 {
		return ""
	}
	e.buf.Reset()
	_ = h.Write(&e.buf) // a bytes.Buffer takes all
	e.buf.WriteString("\r\n")
	return base64.StdEncoding.EncodeToString(e.buf.Bytes())
}
