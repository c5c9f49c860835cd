package vegeta

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"math"
	"time"
)

// The gob decoder reads the one type Result. It takes the type definitions at
// the head of the stream for what they are, so fields may come in any order and
// some may be missing. Whatever else the format allows (fields of other names
// and kinds, values of other types, damaged messages) it leaves to package
// encoding/gob, which then reads on from the result in question and has the last
// word on what is an error.
//
// Source: the documentation of encoding/gob, "Encoding Details".

// Ids of the types that every stream knows.
const (
	gobInt       = 2
	gobUint      = 3
	gobBytes     = 5
	gobString    = 6
	gobFirstUser = 64 // defined in the stream from here on
)

const (
	maxGob      = 64 << 20 // longer messages are left to encoding/gob
	maxGobTypes = 64 << 10 // as are streams that define types without end
)

// A gobField is what becomes of a field of the stream's struct.
type gobField uint8

const (
	gobAttack gobField = iota
	gobSeq
	gobCode
	gobTimestamp
	gobLatency
	gobBytesOut
	gobBytesIn
	gobError
	gobBody
	gobMethod
	gobURL
	gobHeaders
)

// A gobType is a type that the stream defined.
type gobType struct {
	kind   gobKind
	key    int64 // of a map
	elem   int64 // of a map or slice
	names  []string
	fields []int64 // types of the fields of a struct
}

type gobKind uint8

const (
	gobOther gobKind = iota
	gobSlice
	gobStruct
	gobMap
	gobSelf // encodes itself, such as time.Time
)

type gobDecoder struct {
	src   *source
	brief bool
	slow  *slowGob // reads the rest, once something unusual came

	types map[int64]gobType
	raw   []byte // the definitions as they were read, for slow

	id    int64 // of the type that plan is for
	plan  []gobField
	zone  zone
	texts lastTexts
}

func newGobDecoder(src *source) *gobDecoder {
	return &gobDecoder{src: src, types: map[int64]gobType{}}
}

func (d *gobDecoder) leaveOut() { d.brief = true }

// next implements codec.
func (d *gobDecoder) next(r *Result, h *headers) error {
	if d.slow != nil {
		return d.decodeSlow(r, h)
	}
	defined := false
	for {
		msg, size, err := d.message()
		switch {
		case errors.Is(err, io.EOF) && defined:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		c := gobCursor{b: msg}
		id := c.int()
		if id >= 0 {
			if !c.bad && d.value(id, &c, r, h) {
				d.src.take(size)
				return nil
			}
			if c.err != nil {
				return c.err
			}
			break
		}
		if c.bad || !d.define(-id, &c) || len(d.raw)+size > maxGobTypes {
			break
		}
		d.raw = append(d.raw, d.src.peek(size)...)
		d.src.take(size)
		defined = true
	}
	d.slow = newSlowGob(io.MultiReader(bytes.NewReader(d.raw), d.src))
	return d.decodeSlow(r, h)
}

func (d *gobDecoder) decodeSlow(r *Result, h *headers) error {
	*r = Result{}
	err := d.slow.next(r)
	h.set(r.Headers)
	r.Headers = nil
	return err
}

// A slowGob reads results with package encoding/gob, each twice: at first without its
// headers. encoding/gob makes room for as many headers as a message claims to hold,
// which may be more than there is memory; what it leaves out it only walks over, and a
// claim that the message does not hold is an error.
type slowGob struct {
	plain *gob.Decoder
	ahead bytes.Buffer // what plain has read and whole has not
	whole *gob.Decoder
}

func newSlowGob(src io.Reader) *slowGob {
	s := &slowGob{}
	s.plain = gob.NewDecoder(io.TeeReader(src, &s.ahead))
	s.whole = gob.NewDecoder(&s.ahead)
	return s
}

// next reads the next result.
func (s *slowGob) next(r *Result) error {
	if err := decodeWithoutHeaders(s.plain); err != nil {
		return err
	}
	return s.whole.Decode(r)
}

// decodeWithoutHeaders reads the next result and keeps nothing of it.
func decodeWithoutHeaders(d *gob.Decoder) error {
	type Result struct { // the name stands in errors
		Attack    string
		Seq       uint64
		Code      uint16
		Timestamp time.Time
		Latency   time.Duration
		BytesOut  uint64
		BytesIn   uint64
		Error     string
		Body      []byte
		Method    string
		URL       string
	}
	var r Result
	return d.Decode(&r)
}

// message returns the next message, which is the part after its length, and the
// size of both. It does not take them from the source. An empty message stands
// for one that is left to encoding/gob.
func (d *gobDecoder) message() (msg []byte, size int, err error) {
	b := d.src.peek(1)
	if len(b) == 0 {
		return nil, 0, d.src.err
	}
	width := 1
	if b[0] > 0x7f {
		if width += -int(int8(b[0])); width > 9 {
			return nil, 0, nil
		}
		if b = d.src.peek(width); len(b) < width {
			return nil, 0, unexpectedEOF(d.src.err)
		}
	}
	c := gobCursor{b: b}
	n := c.uint()
	if n > maxGob {
		return nil, 0, nil
	}
	size = width + int(n)
	if b = d.src.peek(size); len(b) < size {
		return nil, 0, unexpectedEOF(d.src.err)
	}
	return b[width:], size, nil
}

func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// value decodes a value of type id. It returns false when that is not for this
// decoder.
func (d *gobDecoder) value(id int64, c *gobCursor, r *Result, h *headers) bool {
	if d.plan == nil || d.id != id {
		var ok bool
		if d.plan, ok = d.compile(id); !ok {
			return false
		}
		d.id = id
	}
	for i := -1; ; {
		delta := c.uint()
		if delta == 0 {
			return c.atEnd()
		}
		if delta > uint64(len(d.plan)-1-i) {
			return false
		}
		i += int(delta)
		switch d.plan[i] {
		case gobAttack:
			r.Attack = d.texts.attack.text(c.bytes())
		case gobSeq:
			r.Seq = c.uint()
		case gobCode:
			n := c.uint()
			if n > math.MaxUint16 {
				return false
			}
			r.Code = uint16(n)
		case gobTimestamp:
			var ok bool
			if r.Timestamp, ok = d.zone.decode(c.bytes()); !ok {
				return false
			}
		case gobLatency:
			r.Latency = time.Duration(c.int())
		case gobBytesOut:
			r.BytesOut = c.uint()
		case gobBytesIn:
			r.BytesIn = c.uint()
		case gobError:
			r.Error = d.texts.error.text(c.bytes())
		case gobBody:
			r.Body = c.bytes()
		case gobMethod:
			r.Method = d.texts.method.text(c.bytes())
		case gobURL:
			r.URL = d.texts.url.text(c.bytes())
		case gobHeaders:
			if d.brief && i == len(d.plan)-1 {
				return !c.bad // nothing comes after them but the end
			}
			if !c.headers(h) {
				return false
			}
		}
	}
}

// A zone makes times in the zone of the last one.
type zone struct {
	minutes int16
	loc     *time.Location // nil: none yet
}

// decode reads what time.Time.GobEncode writes: a version, seconds since the
// year 1, nanoseconds, and minutes east of UTC, where -1 is UTC itself.
func (z *zone) decode(b []byte) (time.Time, bool) {
	const version1, fromYear1To1970, utc = 1, 62_135_596_800, -1
	if len(b) != 15 || b[0] != version1 {
		return time.Time{}, false
	}
	sec, nsec := int64(bigEndian(b[1:9])), int64(bigEndian(b[9:13]))
	minutes := int16(bigEndian(b[13:15]))
	if nsec >= 1e9 || sec < math.MinInt64+fromYear1To1970 {
		return time.Time{}, false
	}
	t := time.Unix(sec-fromYear1To1970, nsec)
	if minutes == utc {
		return t.UTC(), true
	}
	if _, local := t.Zone(); local == int(minutes)*60 {
		return t, true
	}
	if z.loc == nil || z.minutes != minutes {
		z.minutes, z.loc = minutes, time.FixedZone("", int(minutes)*60)
	}
	return t.In(z.loc), true
}

// bigEndian reads a big-endian number.
func bigEndian(b []byte) (n uint64) {
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	return n
}
