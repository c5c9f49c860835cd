package prometheus

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"
)

// TestWriteRequest: the bytes are those of the protocol: labels by name, values with their
// times in ms.
func TestWriteRequest(t *testing.T) {
	var w WriteRequest
	w.Series("up", []Label{{"host", "a"}, {"entity", ""}, {"Z", "b"}}, []Point{{time.UnixMilli(300), 1}})
	want := "\x0a\x36" + // a series
		"\x0a\x06\x0a\x01Z\x12\x01b" + "\x0a\x0e\x0a\x08__name__\x12\x02up" + "\x0a\x09\x0a\x04host\x12\x01a" +
		"\x12\x0c\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\xac\x02"
	want = "\x0a" + string(rune(len(want)-2)) + want[2:]
	if got := string(w.b); got != want || w.Points() != 1 {
		t.Errorf("%d points\n%q want\n%q", w.Points(), got, want)
	}
}

// TestWriteRequest_Body: what is decoded as snappy's blocks of literals is what was encoded.
func TestWriteRequest_Body(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 3000} {
		var w WriteRequest
		for range n {
			w.Series("m", []Label{{"host", strings.Repeat("x", 50)}}, []Point{{time.UnixMilli(1), 1}})
		}
		body := w.Body()
		size, at := binary.Uvarint(body)
		var got []byte
		for body = body[at:]; len(body) > 0; {
			if body[0] != 61<<2 {
				t.Fatalf("tag %x", body[0])
			}
			length := int(binary.LittleEndian.Uint16(body[1:])) + 1
			got, body = append(got, body[3:3+length]...), body[3+length:]
		}
		if uint64(len(got)) != size || !bytes.Equal(got, w.b) {
			t.Errorf("%d series: %d bytes of %d", n, len(got), len(w.b))
		}
	}
}
