package protocol

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"github.com/kasoku/kasoku/logs/sqlshape"
)

// Types of parameters, as they are sent with the execution of a prepared statement.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_com_stmt_execute.html
const (
	typeTiny     = 0x01
	typeShort    = 0x02
	typeLong     = 0x03
	typeFloat    = 0x04
	typeDouble   = 0x05
	typeNull     = 0x06
	typeLongLong = 0x08
	typeInt24    = 0x09
	typeDate     = 0x0a
	typeTime     = 0x0b
	typeDatetime = 0x0c
	typeStamp    = 0x07
	typeYear     = 0x0d
	typeDecimal  = 0xf6
	unsigned     = 0x80
)

// executeHead is what comes before the parameters of an execution: flags, how often.
const executeHead = 1 + 4

// ParameterBytes returns of an execution which of so many parameters are NULL, and the bytes of the others, which
// come with their types or without. It returns false where they are not all there.
func ParameterBytes(body []byte, parameters int) (nulls, values []byte, ok bool) {
	if parameters == 0 {
		return nil, nil, true
	}
	n := (parameters + 7) / 8
	if len(body) < executeHead+n+1 {
		return nil, nil, false
	}
	nulls, values = body[executeHead:executeHead+n], body[executeHead+n+1:]
	if body[executeHead+n] != 1 {
		return nulls, values, true
	}
	if len(values) < 2*parameters {
		return nil, nil, false
	}
	return nulls, values[2*parameters:], true
}

// Filled returns a prepared statement with the values of an execution in the places of its parameters. body is
// what follows the command's code and number. It returns false where the values are not all there, as when
// their types were sent with an execution before.
func Filled(text, body []byte) (out []byte, ok bool) {
	marks := sqlshape.Parameters(text)
	if len(marks) == 0 {
		return text, true
	}
	nulls := (len(marks) + 7) / 8
	if len(body) < executeHead+nulls+1+2*len(marks) || body[executeHead+nulls] != 1 {
		return nil, false
	}
	isNull, types, values := body[executeHead:executeHead+nulls], body[executeHead+nulls+1:],
		body[executeHead+nulls+1+2*len(marks):]
	from := 0
	for i, at := range marks {
		out = append(out, text[from:at]...)
		from = at + 1
		if isNull[i/8]&(1<<(i%8)) != 0 {
			out = append(out, "NULL"...)
			continue
		}
		var n int
		if out, n, ok = appendParameter(out, types[2*i], types[2*i+1]&unsigned != 0, values); !ok {
			return nil, false
		}
		values = values[n:]
	}
	return append(out, text[from:]...), true
}

// appendParameter writes a value as SQL, and returns how many bytes it took.
func appendParameter(dst []byte, kind byte, positive bool, b []byte) (out []byte, n int, ok bool) {
	widths := map[byte]int{typeTiny: 1, typeShort: 2, typeYear: 2, typeLong: 4, typeInt24: 4, typeLongLong: 8, typeFloat: 4,
		typeDouble: 8}
	if n = widths[kind]; n > 0 {
		if len(b) < n {
			return nil, 0, false
		}
		return appendNumber(dst, kind, positive, b[:n]), n, true
	}
	switch kind {
	case typeNull:
		return append(dst, "NULL"...), 0, true
	case typeDate, typeDatetime, typeStamp:
		return appendMoment(dst, b)
	case typeTime:
		return nil, 0, false
	}
	size, head, ok := lengthAt(b)
	if !ok || size > len(b)-head {
		return nil, 0, false
	}
	return appendText(dst, kind, b[head:head+size]), head + size, true
}

func appendNumber(dst []byte, kind byte, positive bool, b []byte) []byte {
	var wide [8]byte
	copy(wide[:], b)
	v := binary.LittleEndian.Uint64(wide[:])
	switch kind {
	case typeFloat:
		return strconv.AppendFloat(dst, float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	case typeDouble:
		return strconv.AppendFloat(dst, math.Float64frombits(v), 'g', -1, 64)
	}
	if positive {
		return strconv.AppendUint(dst, v, 10)
	}
	shift := 64 - 8*len(b)
	return strconv.AppendInt(dst, int64(v<<shift)>>shift, 10)
}

// appendMoment writes a date, or one with its time.
func appendMoment(dst, b []byte) (out []byte, n int, ok bool) {
	if len(b) == 0 || b[0] != 4 && b[0] != 7 && b[0] != 11 || len(b) < 1+int(b[0]) {
		return nil, 0, false
	}
	n = 1 + int(b[0])
	dst = fmt.Appendf(dst, "'%04d-%02d-%02d", binary.LittleEndian.Uint16(b[1:]), b[3], b[4])
	if n > 5 {
		dst = fmt.Appendf(dst, " %02d:%02d:%02d", b[5], b[6], b[7])
	}
	if n > 8 {
		dst = fmt.Appendf(dst, ".%06d", binary.LittleEndian.Uint32(b[8:]))
	}
	return append(dst, '\''), n, true
}

// appendText writes a string so that every mode of a server reads it the same; digits as a decimal number.
func appendText(dst []byte, kind byte, v []byte) []byte {
	plain, digits := true, len(v) > 0
	for _, c := range v {
		plain = plain && c >= ' ' && c < 0x7f && c != '\'' && c != '\\'
		digits = digits && (c >= '0' && c <= '9' || c == '.' || c == '-')
	}
	switch {
	case kind == typeDecimal && digits:
		return append(dst, v...)
	case plain:
		return append(append(append(dst, '\''), v...), '\'')
	}
	return hex.AppendEncode(append(dst, "0x"...), v)
}

// lengthAt reads a number of variable length, and returns how long it is.
func lengthAt(b []byte) (v, n int, ok bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	if n = lengthOf(b[0]); n == 1 {
		return int(b[0]), 1, b[0] < 0xfb
	}
	if len(b) < n || n > 4 { // longer than what is copied of a call
		return 0, 0, false
	}
	var wide [4]byte
	copy(wide[:], b[1:n])
	return int(binary.LittleEndian.Uint32(wide[:])), n, true
}
