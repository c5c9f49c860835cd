package symbols

import (
	"encoding/binary"
	"errors"
	"sort"
	"strings"
)

// The magic numbers of the tables that are read, of Go 1.18 and 1.20: go/src/internal/abi,
// symtab.go. Older programs have their symbol tables only.
const (
	magic118 = 0xfffffff0
	magic120 = 0xfffffff1
)

// The bounds of a table. Kubernetes' largest program has 200,000 functions.
const (
	mostFunctions = 2 << 20
	mostTableStep = 8 << 20 // steps in the tables of all addresses of a file
	mostInlined   = 64      // functions that are inlined into one another
)

// Numbers of tables of a function: go/src/internal/abi, symtab.go.
const (
	tableInlined = 2 // PCDATA_InlTreeIndex
	dataInlined  = 3 // FUNCDATA_InlTree
)

var errNoGo = errors.New("no table of a Go program that is known")

// A goTable is what Go's linker leaves in a program for its runtime: pclntab.
type goTable struct {
	m                              *image
	names, units, files, pcs, code uint64 // offsets in the file
	quantum                        uint64
	text                           uint64   // address that functions count from
	functions                      []uint32 // pairs: where one begins, from text; where it is described, from code
	data                           uint64   // offset of go:func.* in the file; 0 when unknown
	has120                         bool
	steps                          int
}

// readGo finds the table of a program that Go built.
func (m *image) readGo() (*goTable, error) {
	s, ok := m.section(".gopclntab", ".data.rel.ro.gopclntab")
	if !ok {
		return nil, errNoGo
	}
	var h [72]byte
	if err := m.fill(h[:], s.offset); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	magic := le.Uint32(h[:])
	if magic != magic118 && magic != magic120 || h[7] != 8 || h[6] == 0 {
		return nil, errNoGo
	}
	count := le.Uint64(h[8:])
	if count > mostFunctions || count*8 > s.size {
		return nil, errNoGo
	}
	at := func(i int) uint64 { return s.offset + le.Uint64(h[i:]) }
	t := &goTable{
		m: m, quantum: uint64(h[6]), text: le.Uint64(h[24:]), names: at(32), units: at(40), files: at(48), pcs: at(56),
		code: at(64), has120: magic == magic120,
	}
	t.place(s)
	raw := make([]byte, count*8+4)
	if err := m.fill(raw, t.code); err != nil {
		return nil, err
	}
	t.functions = make([]uint32, len(raw)/4)
	for i := range t.functions {
		t.functions[i] = le.Uint32(raw[4*i:])
	}
	return t, nil
}

// place finds what the table of newer programs lacks, the address of their code and that of the
// symbol go:func.*. Both stand in the description that the runtime has of the program, which
// begins with the address of the table, else in the symbols.
func (t *goTable) place(table section) {
	var text, data uint64
	if fields, ok := t.m.moduleData(table); ok {
		text, data = fields[moduleText], fields[moduleFuncs]
		if !t.has120 { // no counters of coverage
			data = fields[moduleFuncs-2]
		}
	} else { // position-independent: the loader fills it in
		text, data = t.m.goSymbols()
	}
	if text == 0 && t.text == 0 {
		if s, ok := t.m.section(".text"); ok {
			text = s.addr
		}
	}
	if text != 0 {
		t.text = text
	}
	if offset, ok := t.m.offsetOf(data); ok && data != 0 {
		t.data = offset
	}
}

// Fields of runtime.moduledata, in words: go/src/runtime, symtab.go of Go 1.20 to 1.26.
const (
	moduleText  = 22
	moduleFuncs = 40
	moduleWords = 41
	mostModule  = 16 << 20 // bytes of a section that are looked through
)

// moduleData looks for the runtime's description of the program.
func (m *image) moduleData(table section) (fields [moduleWords]uint64, ok bool) {
	for _, name := range []string{".go.module", ".noptrdata", ".data"} {
		s, found := m.section(name)
		if !found {
			continue
		}
		for at := uint64(0); at+8*moduleWords <= min(s.size, mostModule); at += 8 {
			v, err := m.u64(s.offset + at)
			if err != nil {
				break
			}
			if v != table.addr {
				continue
			}
			for i := range fields {
				if fields[i], err = m.u64(s.offset + at + uint64(8*i)); err != nil {
					return fields, false
				}
			}
			if from, to := fields[moduleText-2], fields[moduleText-1]; from >= fields[moduleText] && from < to && to <= fields[moduleText+1] {
				return fields, true
			}
		}
	}
	return fields, false
}

// goSymbols returns the values of runtime.text and go:func.*, where there are symbols.
func (m *image) goSymbols() (text, data uint64) {
	m.eachSymbol(func(s symbol) bool {
		switch name, _ := m.text(s.name, len("runtime.text")+1); name {
		case "runtime.text":
			text = s.addr
		case "go:func.*", "go.func.*":
			data = s.addr
		}
		return text == 0 || data == 0
	})
	return text, data
}

// find returns the function that an address is in: where it begins, where it is described.
func (t *goTable) find(addr uint64) (entry, at uint64, ok bool) {
	if addr < t.text || addr-t.text > 1<<32-1 {
		return 0, 0, false
	}
	pc := uint32(addr - t.text)
	n := len(t.functions) / 2
	i := sort.Search(n, func(i int) bool { return t.functions[2*i] > pc }) - 1
	if i < 0 || pc >= t.functions[2*i+2] {
		return 0, 0, false
	}
	return t.text + uint64(t.functions[2*i]), t.code + uint64(t.functions[2*i+1]), true
}

// frames returns the functions that an address is in, inlined ones first.
func (t *goTable) frames(addr uint64) (out []Frame) {
	entry, at, ok := t.find(addr)
	if !ok {
		return nil
	}
	var d [44]byte
	if t.m.fill(d[:], at) != nil {
		return nil
	}
	le := binary.LittleEndian
	f := &goFunction{t: t, entry: entry, at: at, files: le.Uint32(d[20:]), unit: le.Uint32(d[32:]), tables: le.Uint32(d[28:])}
	size, pairs := uint64(40), uint64(d[39])
	if t.has120 {
		f.begins = int(int32(le.Uint32(d[36:])))
		size, pairs = 44, uint64(d[43])
	}
	f.extra = at + size
	tree, index := f.inlineTree(pairs)
	for pc := addr; index != 0 && len(out) < mostInlined; {
		i, known := t.value(index, entry, pc)
		if !known || i < 0 {
			break
		}
		name, begins, parent, ok := t.inlined(tree, i)
		if !ok || parent == pc {
			break
		}
		out = append(out, Frame{Name: t.name(name), File: f.file(pc), Line: begins})
		addr, pc = entry+parent, entry+parent
	}
	file := f.file(addr)
	if file == "<autogenerated>" && len(out) > 0 {
		return out // a wrapper of the one that is inlined into it
	}
	return append(out, Frame{Name: t.name(le.Uint32(d[4:])), File: file, Line: f.begins})
}

// isBare reports whether the stack pointer is at the return address.
func (t *goTable) isBare(addr uint64) bool {
	entry, at, ok := t.find(addr)
	if !ok {
		return false
	}
	table, err := t.m.u32(at + 16)
	if err != nil {
		return false
	}
	depth, ok := t.value(table, entry, addr)
	return ok && depth == 0
}

// A goFunction is what a table says of one.
type goFunction struct {
	t                   *goTable
	entry, at, extra    uint64
	files, unit, tables uint32
	begins              int // line
}

// inlineTree returns where the tree of what is inlined into a function is, and the table that
// leads into it; 0 without.
func (f *goFunction) inlineTree(pairs uint64) (tree uint64, index uint32) {
	if f.t.data == 0 || f.tables <= tableInlined || f.tables > 64 || pairs <= dataInlined {
		return 0, 0
	}
	index, err := f.t.m.u32(f.extra + 4*tableInlined)
	if err != nil || index == 0 {
		return 0, 0
	}
	offset, err := f.t.m.u32(f.extra + 4*uint64(f.tables) + 4*dataInlined)
	if err != nil || offset == ^uint32(0) {
		return 0, 0
	}
	return f.t.data + uint64(offset), index
}

// inlined returns one call of a tree. The parent is where it was called, from the beginning of
// the function.
func (t *goTable) inlined(tree uint64, i int32) (name uint32, begins int, parent uint64, ok bool) {
	le := binary.LittleEndian
	if t.has120 {
		var c [16]byte
		if t.m.fill(c[:], tree+16*uint64(i)) != nil {
			return 0, 0, 0, false
		}
		return le.Uint32(c[4:]), int(int32(le.Uint32(c[12:]))), uint64(le.Uint32(c[8:])), true
	}
	var c [20]byte // Go 1.18 and 1.19: parent, kind, file, line, name, parentPc
	if t.m.fill(c[:], tree+20*uint64(i)) != nil {
		return 0, 0, 0, false
	}
	return le.Uint32(c[12:]), 0, uint64(le.Uint32(c[16:])), true
}

// name returns the name of a function as Go's runtime prints it: type parameters are left out.
func (t *goTable) name(offset uint32) string {
	s, _ := t.m.text(t.names+uint64(offset), mostMangled)
	if from, to := strings.IndexByte(s, '['), strings.LastIndexByte(s, ']'); from >= 0 && to > from {
		s = s[:from] + "[...]" + s[to+1:]
	}
	return clean(s)
}

// file returns the source file of an address.
func (f *goFunction) file(addr uint64) string {
	number, ok := f.t.value(f.files, f.entry, addr)
	if !ok || number < 0 {
		return ""
	}
	offset, err := f.t.m.u32(f.t.units + 4*(uint64(f.unit)+uint64(number)))
	if err != nil || offset == ^uint32(0) {
		return ""
	}
	s, _ := f.t.m.text(f.t.files+uint64(offset), mostName)
	return clean(s)
}

// value returns what a table of a function has for an address. Such a table is a row of
// differences, of the value and of the address up to which it holds.
func (t *goTable) value(table uint32, entry, addr uint64) (value int32, ok bool) {
	if table == 0 {
		return 0, false
	}
	at, pc := t.pcs+uint64(table), entry
	value = -1
	for first := true; ; first = false {
		if t.steps++; t.steps > mostTableStep {
			return 0, false
		}
		var change, length uint64
		if change, at, ok = t.number(at); !ok || change == 0 && !first {
			return 0, false
		}
		if length, at, ok = t.number(at); !ok {
			return 0, false
		}
		delta := int32(change >> 1)
		if change&1 != 0 {
			delta = ^delta
		}
		value += delta
		pc += length * t.quantum
		if addr < pc {
			return value, true
		}
	}
}

// number reads one of a variable length; of 32 bits.
func (t *goTable) number(at uint64) (v, next uint64, ok bool) {
	for shift := 0; shift < 35; shift += 7 {
		b, err := t.m.block(at)
		if err != nil {
			return 0, at, false
		}
		at++
		v |= uint64(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return v, at, true
		}
	}
	return 0, at, false
}
