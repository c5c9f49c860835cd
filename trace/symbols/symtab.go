package symbols

import (
	"encoding/binary"
	"slices"
)

// The bounds of reading a symbol table.
const (
	mostSymbols = 8 << 20
	mostSteps   = 64 << 20 // of addresses held against symbols, for all tables of a file
	mostMangled = 4096     // bytes of a name as it stands in a file
)

// A wanted address of a file, and the best that was found for it.
type wanted struct {
	addr   uint64
	frames []Frame
	// The symbol that fits best: one that holds the address, else the nearest before it of
	// those whose size is not known.
	begins uint64
	name   uint64 // where its text is, plus one; 0: no symbol
	holds  bool
}

// Types of symbols: elf(5).
const (
	symbolNone     = 0
	symbolFunction = 2
	symbolIndirect = 10 // a function that chooses one
)

// findSymbols looks in the symbol tables for the addresses that have no frames yet. all is
// sorted by address.
func (m *image) findSymbols(all []wanted) {
	steps := 0
	m.eachSymbol(func(s symbol) bool {
		if s.addr != 0 && (s.kind == symbolFunction || s.kind == symbolIndirect || s.kind == symbolNone && s.size > 0) {
			steps += hold(all, s)
		}
		return steps <= mostSteps
	})
	m.nearest(all)
	for i := range all {
		if w := &all[i]; len(w.frames) == 0 && w.name > 0 {
			if name, whole := m.text(w.name-1, mostMangled); name != "" {
				w.frames = []Frame{{Name: demangled(name, whole)}}
			}
		}
	}
}

// A symbol is one of a table of an ELF file.
type symbol struct {
	kind       byte
	addr, size uint64
	name       uint64 // offset of its text in the file
}

// eachSymbol calls each for the symbols that the file defines, until it returns false.
func (m *image) eachSymbol(each func(symbol) bool) {
	count := uint64(0)
	for _, table := range m.sections {
		if table.kind != sectionTable && table.kind != sectionDyn || int(table.link) >= len(m.sections) ||
			table.offset >= m.size {
			continue
		}
		texts := m.sections[table.link].offset
		for i := range min(table.size, m.size-table.offset) / 24 {
			var b [24]byte
			if count++; count > mostSymbols || m.fill(b[:], table.offset+24*i) != nil {
				break
			}
			le := binary.LittleEndian
			if le.Uint16(b[6:]) == 0 { // of another file
				continue
			}
			if !each(symbol{b[4] & 0xf, le.Uint64(b[8:]), le.Uint64(b[16:]), texts + uint64(le.Uint32(b[0:]))}) {
				return
			}
		}
	}
}

// hold holds one symbol against the addresses. It returns how many it looked at.
func hold(all []wanted, s symbol) (steps int) {
	addr, size, name := s.addr, s.size, s.name
	first, _ := slices.BinarySearchFunc(all, addr, func(w wanted, a uint64) int {
		switch {
		case w.addr < a:
			return -1
		case w.addr > a:
			return 1
		}
		return 0
	})
	steps = 1
	for i := first; i < len(all); i++ {
		w := &all[i]
		holds := w.addr-addr < size
		if !holds && i > first {
			break
		}
		steps++
		if holds && !w.holds || holds == w.holds && addr >= w.begins && (holds || size == 0) {
			w.holds, w.begins, w.name = holds, addr, name+1
		}
		if !holds {
			break
		}
	}
	return steps
}

// mostWithout is how far after the beginning of a symbol without a size an address may be to be
// taken for it: the code of hand-written assembly.
const mostWithout = 4 << 10

// nearest gives addresses that no symbol holds the nearest symbol before them, where that is
// in the same section and near.
func (m *image) nearest(all []wanted) {
	for i := range all {
		w := &all[i]
		if w.holds {
			continue
		}
		if i > 0 && all[i-1].name > 0 && !all[i-1].holds && all[i-1].begins > w.begins {
			w.begins, w.name = all[i-1].begins, all[i-1].name
		}
		if w.name > 0 && (w.addr-w.begins > mostWithout || m.sectionAt(w.addr) != m.sectionAt(w.begins)) {
			w.name = 0
		}
	}
}

// sectionAt returns the number of the section that an address lies in, -1 when in none.
func (m *image) sectionAt(addr uint64) int {
	return slices.IndexFunc(m.sections, func(s section) bool { return s.addr != 0 && addr >= s.addr && addr-s.addr < s.size })
}
