package symbols

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"slices"
)

// The bounds of an ELF file's tables. Those of browsers and kernels have some hundred.
const (
	mostSections = 4096
	mostSegments = 512
	mostNotes    = 4096 // bytes
	mostBuildID  = 64   // bytes
)

// What the fields of ELF mean here: elf(5).
const (
	segmentLoad  = 1
	segmentNote  = 4
	sectionTable = 2  // SHT_SYMTAB
	sectionDyn   = 11 // SHT_DYNSYM
	noteBuildID  = 3  // NT_GNU_BUILD_ID
	machineAMD64 = 62
)

var errNoELF = errors.New("no ELF file of 64 bits, little-endian")

type section struct {
	name               string
	kind, link         uint32
	addr, offset, size uint64
}

type segment struct {
	kind                      uint32
	offset, addr, size, inMem uint64
}

// An image is an ELF file, as its headers describe it.
type image struct {
	*view
	machine  uint16
	sections []section
	segments []segment
}

// readImage reads the headers of an ELF file.
func readImage(r io.ReaderAt, size int64) (*image, error) {
	m := &image{view: newView(r, size)}
	var head [64]byte
	if err := m.fill(head[:], 0); err != nil || string(head[:6]) != "\x7fELF\x02\x01" {
		return nil, errNoELF
	}
	le := binary.LittleEndian
	m.machine = le.Uint16(head[18:])
	if err := m.readSegments(le.Uint64(head[32:]), int(le.Uint16(head[54:])), int(le.Uint16(head[56:]))); err != nil {
		return nil, err
	}
	// Of a file without sections, or with damaged ones, the segments are still known.
	_ = m.readSections(le.Uint64(head[40:]), int(le.Uint16(head[58:])), int(le.Uint16(head[60:])), int(le.Uint16(head[62:])))
	return m, nil
}

func (m *image) readSegments(at uint64, size, count int) error {
	if count > mostSegments || count > 0 && size < 56 {
		return errNoELF
	}
	for i := range count {
		var b [56]byte
		if err := m.fill(b[:], at+uint64(i*size)); err != nil {
			return err
		}
		le := binary.LittleEndian
		m.segments = append(m.segments, segment{le.Uint32(b[0:]), le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[32:]),
			le.Uint64(b[40:])})
	}
	return nil
}

func (m *image) readSections(at uint64, size, count, names int) error {
	if at == 0 || count > mostSections || size < 64 {
		return errNoELF
	}
	var nameAt []uint32
	for i := range count {
		var b [64]byte
		if err := m.fill(b[:], at+uint64(i*size)); err != nil {
			m.sections = nil
			return err
		}
		le := binary.LittleEndian
		nameAt = append(nameAt, le.Uint32(b[0:]))
		m.sections = append(m.sections, section{"", le.Uint32(b[4:]), le.Uint32(b[40:]), le.Uint64(b[16:]), le.Uint64(b[24:]),
			le.Uint64(b[32:])})
	}
	if names >= len(m.sections) {
		return nil
	}
	for i := range m.sections {
		m.sections[i].name, _ = m.text(m.sections[names].offset+uint64(nameAt[i]), 64)
	}
	return nil
}

// section returns the first section of one of the names that has bytes in the file.
func (m *image) section(names ...string) (section, bool) {
	i := slices.IndexFunc(m.sections, func(s section) bool {
		return slices.Contains(names, s.name) && s.offset < m.size && s.size <= m.size-s.offset
	})
	if i < 0 {
		return section{}, false
	}
	return m.sections[i], true
}

// addrOf returns the address at which a byte of the file is meant to be loaded.
func (m *image) addrOf(offset uint64) (uint64, bool) {
	for _, s := range m.segments {
		if s.kind == segmentLoad && offset >= s.offset && offset-s.offset < s.size {
			return s.addr + (offset - s.offset), true
		}
	}
	return 0, false
}

// offsetOf returns where in the file the byte of an address is.
func (m *image) offsetOf(addr uint64) (uint64, bool) {
	for _, s := range m.segments {
		if s.kind == segmentLoad && addr >= s.addr && addr-s.addr < s.size {
			return s.offset + (addr - s.addr), true
		}
	}
	return 0, false
}

// buildID returns what the linker named the file's contents, in hexadecimal; empty without.
func (m *image) buildID() string {
	for _, s := range m.segments {
		if s.kind != segmentNote || s.size > mostNotes {
			continue
		}
		b := make([]byte, s.size)
		if m.fill(b, s.offset) != nil {
			continue
		}
		for len(b) >= 12 {
			le := binary.LittleEndian
			name, desc, kind := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint32(b[8:])
			end := 12 + (name+3)&^3 + (desc+3)&^3
			if end > uint64(len(b)) {
				break
			}
			if kind == noteBuildID && name == 4 && string(b[12:15]) == "GNU" && desc <= mostBuildID {
				return hex.EncodeToString(b[16 : 16+desc])
			}
			b = b[end:]
		}
	}
	return ""
}
