package symbols

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
)

// A Variable is where a program has one.
type Variable struct {
	addr  uint64 // as the linker has placed it
	image *image
}

var errNoVariable = errors.New("it has no such symbol")

// FindVariable looks for a variable in the symbols of a program.
func FindVariable(r io.ReaderAt, size int64, name string) (Variable, error) {
	m, err := readImage(r, size)
	if err != nil {
		return Variable{}, err
	}
	v := Variable{image: &image{segments: m.segments}}
	m.eachSymbol(func(s symbol) bool {
		if text, _ := m.text(s.name, len(name)+1); text == name {
			v.addr = s.addr
		}
		return v.addr == 0
	})
	if v.addr == 0 {
		return Variable{}, errNoVariable
	}
	return v, nil
}

// mostCode is how much of a function is looked through.
const mostCode = 4096

// FindSlice looks for a slice of a program of Go, also of a stripped one: in its symbols, else
// by the code of a function that appends to it, which loads its three words one after the
// other. That is known of x86-64 alone.
func FindSlice(r io.ReaderAt, size int64, name, appends string) (Variable, error) {
	v, err := FindVariable(r, size, name)
	if !errors.Is(err, errNoVariable) {
		return v, err
	}
	m, err := readImage(r, size)
	if err != nil {
		return Variable{}, err
	}
	t, err := m.readGo()
	if err != nil {
		return Variable{}, err
	}
	code, at := t.codeOf(appends)
	if m.machine != machineAMD64 || len(code) == 0 {
		return Variable{}, errNoVariable
	}
	used := map[uint64]bool{}
	for i := 0; i+7 <= len(code); i++ {
		// REX.W, an opcode that moves or compares, an operand relative to the next instruction.
		if code[i]&^4 == 0x48 && slices.Contains([]byte{0x8b, 0x89, 0x3b, 0x39}, code[i+1]) && code[i+2]&0xc7 == 0x05 {
			to := int64(at) + int64(i) + 7 + int64(int32(binary.LittleEndian.Uint32(code[i+3:])))
			used[uint64(to)] = true
		}
	}
	for _, addr := range sortedKeys(used) {
		if used[addr+8] && used[addr+16] {
			return Variable{addr: addr, image: &image{segments: m.segments}}, nil
		}
	}
	return Variable{}, errNoVariable
}

// codeOf returns the code of a function by its name, and its address.
func (t *goTable) codeOf(name string) (code []byte, at uint64) {
	for i := 0; i+2 < len(t.functions); i += 2 {
		offset, err := t.m.u32(t.code + uint64(t.functions[i+1]) + 4)
		if err != nil {
			return nil, 0
		}
		if s, _ := t.m.text(t.names+uint64(offset), len(name)+1); s != name {
			continue
		}
		at = t.text + uint64(t.functions[i])
		code = make([]byte, min(t.functions[i+2]-t.functions[i], mostCode))
		offsetInFile, ok := t.m.offsetOf(at)
		if !ok || t.m.fill(code, offsetInFile) != nil {
			return nil, 0
		}
		return code, at
	}
	return nil, 0
}

// In returns the address of the variable in a process that runs the program.
func (v Variable) In(pid int) (addr uint64, ok bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	exe, err := os.Readlink(dir + "/exe")
	if err != nil {
		return 0, false
	}
	f, err := os.Open(dir + "/maps")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostMaps))
	if err != nil || bytes.IndexByte(text, '\n') < 0 {
		return 0, false
	}
	for _, m := range parseMaps(text) {
		if m.path != exe {
			continue
		}
		if at, ok := v.image.addrOf(m.offset); ok {
			return v.addr + (m.start - at), true
		}
	}
	return 0, false
}
