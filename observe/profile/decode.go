package profile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"

	pprof "github.com/google/pprof/profile"
)

// The bounds of what is read. A profile of a large service is some 200 kB, 2 MB
// unpacked, of 20,000 parts.
const (
	mostBytes = 8 << 20  // of an answer
	mostRaw   = 16 << 20 // of it unpacked
	mostParts = 2_000_000
	mostText  = 400     // characters of a name
	mostValue = 1 << 52 // 52 days in nanoseconds, 4 PB
	deepest   = 512     // functions in a stack; Go's runtime gives 128
)

// Decode reads a profile in the format profile.proto, compressed or not. What is
// returned holds no labels, neither texts nor numbers, and no text that a terminal
// could stumble over.
func Decode(data []byte) (*pprof.Profile, error) {
	raw, err := unpack(data)
	if err != nil {
		return nil, err
	}
	if err := count(raw); err != nil {
		return nil, err
	}
	p, err := pprof.ParseUncompressed(raw)
	if err != nil {
		return nil, fmt.Errorf("no profile: %w", err)
	}
	if err := p.CheckValid(); err != nil {
		return nil, fmt.Errorf("no profile: %w", err)
	}
	if len(p.SampleType) == 0 {
		return nil, errors.New("no profile: it counts nothing")
	}
	if err := clean(p); err != nil {
		return nil, err
	}
	return p, nil
}

func unpack(data []byte) ([]byte, error) {
	if len(data) > mostBytes {
		return nil, fmt.Errorf("more than %d bytes", mostBytes)
	}
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(z, mostRaw+1))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if len(raw) > mostRaw {
		return nil, fmt.Errorf("more than %d bytes unpacked", mostRaw)
	}
	return raw, nil
}

// errProto means that bytes are no protocol buffer.
var errProto = errors.New("no profile: malformed protocol buffer")

// The fields of the message Profile that hold messages with many parts.
const (
	fieldSample   = 2
	fieldLocation = 4
)

// count refuses what would become far larger in memory than it is here: a part of
// two bytes takes a hundred when it is read.
func count(raw []byte) error {
	parts := 0
	err := fields(raw, func(field uint64, body []byte) error {
		if parts++; field == fieldSample || field == fieldLocation {
			err := fields(body, func(uint64, []byte) error { parts++; return nil })
			if err != nil {
				return err
			}
		}
		if parts > mostParts {
			return fmt.Errorf("more than %d parts", mostParts)
		}
		return nil
	})
	return err
}

// fields calls each for the fields of a message; body is nil of what has no length.
//
// Source: Protocol Buffers, Encoding: a tag is field<<3 | wire type.
func fields(b []byte, each func(field uint64, body []byte) error) error {
	for len(b) > 0 {
		tag, n := uvarint(b)
		if n <= 0 {
			return errProto
		}
		b = b[n:]
		var body []byte
		skip := uint64(0)
		switch tag & 7 {
		case 0:
			_, n := uvarint(b)
			if n <= 0 {
				return errProto
			}
			skip = uint64(n)
		case 1:
			skip = 8
		case 2:
			size, n := uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return errProto
			}
			body, skip = b[n:n+int(size)], uint64(n)+size
		case 5:
			skip = 4
		default:
			return errProto
		}
		if skip > uint64(len(b)) {
			return errProto
		}
		b = b[skip:]
		if err := each(tag>>3, body); err != nil {
			return err
		}
	}
	return nil
}

func uvarint(b []byte) (v uint64, n int) {
	for i, c := range b {
		if i == 10 {
			return 0, -1
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}

// clean drops what may be secret and makes the rest safe to add up and to print.
func clean(p *pprof.Profile) error {
	p.Comments, p.DropFrames, p.KeepFrames, p.DocURL = nil, "", "", ""
	for _, t := range append(p.SampleType, p.PeriodType) {
		if t != nil {
			t.Type, t.Unit = text(t.Type), text(t.Unit)
		}
	}
	p.DefaultSampleType = text(p.DefaultSampleType)
	for _, m := range p.Mapping {
		m.File, m.BuildID = text(m.File), text(m.BuildID)
	}
	for _, f := range p.Function {
		f.Name, f.SystemName, f.Filename = text(f.Name), text(f.SystemName), text(f.Filename)
		if f.StartLine < 0 || f.StartLine > math.MaxInt32 {
			f.StartLine = 0
		}
	}
	sums := make([]int64, len(p.SampleType))
	for _, s := range p.Sample {
		s.Label, s.NumLabel, s.NumUnit = nil, nil, nil
		if len(s.Location) > deepest {
			s.Location = s.Location[:deepest]
		}
		for i, v := range s.Value {
			if sums[i] += v; v < 0 || v > mostValue || sums[i] > mostValue {
				return fmt.Errorf("no profile: a value of %d %s", v, p.SampleType[i].Unit)
			}
		}
	}
	return nil
}

// text keeps what a terminal and a file bear of a text.
func text(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\uFFFD' {
			return -1
		}
		return r
	}, s)
	if len(s) > mostText {
		if r := []rune(s); len(r) > mostText {
			s = string(r[:mostText])
		}
	}
	return s
}
