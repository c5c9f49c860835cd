package vegeta

import (
	"encoding/binary"
	"math/bits"
	"time"
)

// gobPreamble defines the type Result, as Vegeta's files begin: its messages
// are those of encoding/gob for the struct, for time.Time, for http.Header and
// for its lists.
const gobPreamble = "\xff\x96\x7f\x03\x01\x01\x06Result\x01\xff\x80\x00\x01\x0c" +
	"\x01\x06Attack\x01\x0c\x00" + "\x01\x03Seq\x01\x06\x00" + "\x01\x04Code\x01\x06\x00" +
	"\x01\x09Timestamp\x01\xff\x82\x00" + "\x01\x07Latency\x01\x04\x00" +
	"\x01\x08BytesOut\x01\x06\x00" + "\x01\x07BytesIn\x01\x06\x00" +
	"\x01\x05Error\x01\x0c\x00" + "\x01\x04Body\x01\x0a\x00" +
	"\x01\x06Method\x01\x0c\x00" + "\x01\x03URL\x01\x0c\x00" + "\x01\x07Headers\x01\xff\x86\x00" + "\x00\x00" +
	"\x10\xff\x81\x05\x01\x01\x04Time\x01\xff\x82\x00\x00\x00" +
	"\x17\xff\x85\x04\x01\x01\x06Header\x01\xff\x86\x00\x01\x0c\x01\xff\x84\x00\x00" +
	"\x0c\xff\x83\x02\x01\x02\xff\x84\x00\x01\x0c\x00\x00"

// gobResult is the id that the preamble gives the type, as a value begins.
const gobResult = "\xff\x80"

type gobEncoder struct{ begun bool }

// append implements coder. Names of headers come sorted, where encoding/gob
// leaves their order to chance.
func (e *gobEncoder) append(dst []byte, r *Result, h *headers) ([]byte, error) {
	from := len(dst)
	if !e.begun {
		dst = append(dst, gobPreamble...)
	}
	// The length comes first. Most results need three bytes for it.
	const room = 3
	at := len(dst)
	dst = append(dst, 0, 0, 0)
	dst = append(dst, gobResult...)
	w := gobWriter{dst: dst}
	w.text(gobAttack, r.Attack)
	w.uint(gobSeq, r.Seq)
	w.uint(gobCode, uint64(r.Code))
	if err := w.time(gobTimestamp, r.Timestamp); err != nil {
		return dst[:from], err
	}
	w.int(gobLatency, int64(r.Latency))
	w.uint(gobBytesOut, r.BytesOut)
	w.uint(gobBytesIn, r.BytesIn)
	w.text(gobError, r.Error)
	if len(r.Body) > 0 {
		w.field(gobBody)
		w.dst = append(appendGobUint(w.dst, uint64(len(r.Body))), r.Body...)
	}
	w.text(gobMethod, r.Method)
	w.text(gobURL, r.URL)
	if h.present {
		w.field(gobHeaders)
		w.headers(h)
	}
	dst = append(w.dst, 0)
	e.begun = true

	var length [9]byte
	n := appendGobUint(length[:0], uint64(len(dst)-at-room))
	if len(n) != room {
		dst = append(dst, 0, 0, 0, 0, 0, 0) // so that there is room for a longer one
		end := at + len(n) + copy(dst[at+len(n):], dst[at+room:len(dst)-6])
		dst = dst[:end]
	}
	copy(dst[at:], n)
	return dst, nil
}

// A gobWriter writes the fields of a struct that are not zero.
type gobWriter struct {
	dst  []byte
	next gobField // the field after the last one, from which the next one's distance counts
}

func (w *gobWriter) field(f gobField) {
	w.dst = append(w.dst, byte(f-w.next+1))
	w.next = f + 1
}

func (w *gobWriter) uint(f gobField, n uint64) {
	if n != 0 {
		w.field(f)
		w.dst = appendGobUint(w.dst, n)
	}
}

func (w *gobWriter) int(f gobField, n int64) {
	if n != 0 {
		w.field(f)
		w.dst = appendGobUint(w.dst, uint64(n<<1)^uint64(n>>63))
	}
}

func (w *gobWriter) text(f gobField, s string) {
	if s != "" {
		w.field(f)
		w.dst = append(appendGobUint(w.dst, uint64(len(s))), s...)
	}
}

func (w *gobWriter) time(f gobField, t time.Time) (err error) {
	if t == (time.Time{}) {
		return nil
	}
	w.field(f)
	at := len(w.dst)
	w.dst, err = t.AppendBinary(append(w.dst, 0))
	w.dst[at] = byte(len(w.dst) - at - 1)
	return err
}

func (w *gobWriter) headers(h *headers) {
	w.dst = appendGobUint(w.dst, uint64(len(h.fields)))
	for _, f := range h.fields {
		w.dst = append(appendGobUint(w.dst, uint64(len(f.name))), f.name...)
		w.dst = appendGobUint(w.dst, uint64(f.to-f.from))
		for _, v := range h.values[f.from:f.to] {
			w.dst = append(appendGobUint(w.dst, uint64(len(v))), v...)
		}
	}
}

// appendGobUint appends a number: one byte below 128, or the negated count of
// its bytes and those.
func appendGobUint(dst []byte, n uint64) []byte {
	if n <= 0x7f {
		return append(dst, byte(n))
	}
	size := (bits.Len64(n) + 7) / 8
	dst = append(dst, byte(-size))
	dst = binary.BigEndian.AppendUint64(dst, n<<(64-8*size))
	return dst[:len(dst)-8+size]
}
