package kernel

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// typesFile has the kernel's types as BTF: Documentation/bpf/btf.rst, include/uapi/linux/btf.h.
const typesFile = "/sys/kernel/btf/vmlinux"

// A structField is a member of a structure.
type structField struct{ structure, member string }

// The types that the programs need.
var (
	neededPoints = []string{"sock_recv_length", "sock_send_length", "inet_sock_set_state", "sched_process_exec",
		"sched_process_fork"}
	neededFields = []structField{{"task_struct", "pid"}, {"task_struct", "tgid"}, {"linux_binprm", "filename"}}
)

// kernelTypes are those of the kernel's types that the programs need. They are found in one pass over the
// file: to make a value of each of its types, of which there are some 100,000, takes many times as long.
type kernelTypes struct {
	points map[string]uint32      // tracepoint → number of the type of what runs at it; 0 where there are two
	fields map[structField]uint32 // → how many bits after the beginning of the structure
}

// readKernelTypes reads the file.
func readKernelTypes() (*kernelTypes, error) {
	f, err := os.Open(typesFile)
	if err != nil {
		return nil, fmt.Errorf("types of the kernel: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("types of the kernel: %w", err)
	}
	// Since Linux 6.16 it can be mapped; a read gives a page at a time.
	raw, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err == nil {
		defer func() { _ = unix.Munmap(raw) }()
	} else if raw, err = os.ReadFile(typesFile); err != nil {
		return nil, fmt.Errorf("types of the kernel: %w", err)
	}
	t, err := findTypes(raw)
	if err != nil {
		return nil, fmt.Errorf("types of the kernel: %w", err)
	}
	return t, nil
}

// Kinds of types, by their numbers in BTF.
const (
	kindStruct  = 4
	kindTypedef = 8
)

// follows are how many bytes follow the head of a type of each kind: some, and some for each of its parts.
var follows = [...]struct{ once, each int }{
	1: {once: 4}, 2: {}, 3: {once: 12}, kindStruct: {each: 12}, 5: {each: 12}, 6: {each: 8}, 7: {}, kindTypedef: {},
	9: {}, 10: {}, 11: {}, 12: {}, 13: {each: 8}, 14: {once: 4}, 15: {each: 12}, 16: {}, 17: {once: 4}, 18: {},
	19: {each: 12},
}

const (
	typeHead     = 12
	structMember = 12
)

// errTypes is the error for types that are not as they have to be.
var errTypes = errors.New("they are laid out otherwise than is known")

// findTypes looks for what is needed. It keeps nothing of raw.
func findTypes(raw []byte) (*kernelTypes, error) {
	const magic, header = 0xeb9f, 24
	ne := binary.NativeEndian
	if len(raw) < header || ne.Uint16(raw) != magic {
		return nil, errTypes
	}
	section := func(at int) []byte { // its place and its length stand at, counted from the end of the header
		begin, length := uint64(ne.Uint32(raw[4:]))+uint64(ne.Uint32(raw[at:])), uint64(ne.Uint32(raw[at+4:]))
		if begin+length > uint64(len(raw)) {
			return nil
		}
		return raw[begin : begin+length]
	}
	types, names := section(8), section(16)
	if types == nil || names == nil {
		return nil, errTypes
	}
	t := &kernelTypes{points: map[string]uint32{}, fields: map[structField]uint32{}}
	for number := uint32(1); len(types) > 0; number++ {
		if len(types) < typeHead {
			return nil, errTypes
		}
		info := ne.Uint32(types[4:])
		kind, parts := int(info>>24&0x1f), int(info&0xffff)
		if kind == 0 || kind >= len(follows) {
			return nil, fmt.Errorf("%w: kind %d", errTypes, kind)
		}
		size := typeHead + follows[kind].once + parts*follows[kind].each
		if size > len(types) {
			return nil, errTypes
		}
		switch kind {
		case kindTypedef:
			t.takePoint(names, ne.Uint32(types), number)
		case kindStruct:
			t.takeStruct(names, types[:size], info>>31 != 0)
		}
		types = types[size:]
	}
	return t, nil
}

// isNamed reports whether a name is the one at a place.
func isNamed(names []byte, at uint32, name string) bool {
	if uint64(at)+uint64(len(name)) >= uint64(len(names)) {
		return false
	}
	return string(names[at:at+uint32(len(name))]) == name && names[at+uint32(len(name))] == 0
}

// takePoint keeps the number of a type where that is the one of a tracepoint.
func (t *kernelTypes) takePoint(names []byte, at, number uint32) {
	const prefix = "btf_trace_"
	if uint64(at) > uint64(len(names)) || !bytes.HasPrefix(names[at:], []byte(prefix)) {
		return
	}
	for _, p := range neededPoints {
		if !isNamed(names, at+uint32(len(prefix)), p) {
			continue
		}
		if _, two := t.points[p]; two {
			number = 0
		}
		t.points[p] = number
	}
}

// takeStruct keeps the places of members.
func (t *kernelTypes) takeStruct(names, raw []byte, fields bool) {
	ne := binary.NativeEndian
	for _, f := range neededFields {
		if !isNamed(names, ne.Uint32(raw), f.structure) {
			continue
		}
		for m := raw[typeHead:]; len(m) > 0; m = m[structMember:] {
			at := ne.Uint32(m[8:])
			if !isNamed(names, ne.Uint32(m), f.member) || fields && at>>24 != 0 { // a bit field
				continue
			}
			if was, two := t.fields[f]; two && was != at {
				at = 1 // no place in bytes
			}
			t.fields[f] = at
		}
	}
}

// place returns how many bytes after the beginning of a structure a member is.
func (t *kernelTypes) place(f structField) (int16, error) {
	const bits = 8
	at, known := t.fields[f]
	if !known || at%bits != 0 || at/bits != uint32(int16(at/bits)) {
		return 0, fmt.Errorf("struct %s of the kernel has no %s that can be read", f.structure, f.member)
	}
	return int16(at / bits), nil
}
