package parquet

import "encoding/binary"

// The kinds of values of the compact protocol.
const (
	isTrue   = 1
	isInt32  = 5
	isInt64  = 6
	isBinary = 8
	isList   = 9
	isStruct = 12
)

// Numbers of parquet.thrift.
const (
	typeInt64, typeDouble, typeBytes = 2, 5, 6
	optional                         = 1
	plain, levelRuns                 = 0, 3 // encodings
	codecZstd                        = 6
	asUTF8, asMicros                 = 0, 10 // converted types
)

// A fields writes the fields of a structure of the compact protocol, in the order of their numbers.
type fields struct {
	b    []byte
	last int
}

func (f *fields) head(number, kind int) {
	f.b = append(f.b, byte((number-f.last)<<4|kind)) // no structure here leaves out 15 numbers
	f.last = number
}

func (f *fields) int32(number, v int)         { f.head(number, isInt32); f.b = appendInt(f.b, int64(v)) }
func (f *fields) int64(number int, v int64)   { f.head(number, isInt64); f.b = appendInt(f.b, v) }
func (f *fields) text(number int, v string)   { f.head(number, isBinary); f.b = appendText(f.b, v) }
func (f *fields) within(number int, v []byte) { f.head(number, isStruct); f.b = append(f.b, v...) }

func (f *fields) list(number, kind int, items ...[]byte) {
	f.head(number, isList)
	if n := len(items); n < 15 {
		f.b = append(f.b, byte(n<<4|kind))
	} else {
		f.b = binary.AppendUvarint(append(f.b, byte(0xf0|kind)), uint64(n))
	}
	for _, item := range items {
		f.b = append(f.b, item...)
	}
}

// end returns the structure.
func (f *fields) end() []byte { return append(f.b, 0) }

func appendInt(b []byte, v int64) []byte { return binary.AppendVarint(b, v) } // zigzag, as there

func appendText(b []byte, v string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(v))), v...)
}

func pageHeader(rows, size, packed int) []byte {
	var data, f fields
	data.int32(1, rows)
	data.int32(2, plain)
	data.int32(3, levelRuns)
	data.int32(4, levelRuns)
	f.int32(1, 0) // a page of data
	f.int32(2, size)
	f.int32(3, packed)
	f.within(5, data.end())
	return f.end()
}

// schema describes a column.
func (c *Column) schema() []byte {
	var f, logical, kind fields
	f.int32(1, c.Type.stored())
	f.int32(3, optional)
	f.text(4, c.Name)
	switch c.Type {
	case Text:
		f.int32(6, asUTF8)
		logical.within(1, kind.end())
	case Time:
		f.int32(6, asMicros)
		var unit, micros fields
		unit.within(2, micros.end())
		kind.head(1, isTrue) // in UTC
		kind.within(2, unit.end())
		logical.within(8, kind.end())
	default:
		return f.end()
	}
	f.within(10, logical.end())
	return f.end()
}

func (t Type) stored() int {
	switch t {
	case Float:
		return typeDouble
	case Text:
		return typeBytes
	}
	return typeInt64
}

// footer describes the file.
func (p *Writer) footer() []byte {
	var f, root fields
	root.text(4, "schema")
	root.int32(5, len(p.columns))
	schema := [][]byte{root.end()}
	for i := range p.columns {
		schema = append(schema, p.columns[i].schema())
	}
	var groups [][]byte
	for i := range p.groups {
		groups = append(groups, p.group(&p.groups[i]))
	}
	f.int32(1, 1)
	f.list(2, isStruct, schema...)
	f.int64(3, p.total)
	f.list(4, isStruct, groups...)
	f.text(6, "kasoku")
	return f.end()
}

func (p *Writer) group(g *group) []byte {
	var f fields
	var chunks [][]byte
	size := int64(0)
	for i := range g.chunks {
		c := &g.chunks[i]
		var meta, one fields
		meta.int32(1, p.columns[i].Type.stored())
		meta.list(2, isInt32, appendInt(nil, plain), appendInt(nil, levelRuns))
		meta.list(3, isBinary, appendText(nil, p.columns[i].Name))
		meta.int32(4, codecZstd)
		meta.int64(5, int64(g.rows))
		meta.int64(6, c.plain)
		meta.int64(7, c.packed)
		meta.int64(9, c.offset)
		one.int64(2, c.offset)
		one.within(3, meta.end())
		chunks = append(chunks, one.end())
		size += c.plain
	}
	f.list(1, isStruct, chunks...)
	f.int64(2, size)
	f.int64(3, int64(g.rows))
	return f.end()
}
