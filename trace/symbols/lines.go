package symbols

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a table of names in lines.
const (
	mostLine  = 4096
	mostLines = 8 << 20
)

// readPerfMap looks for addresses in a perf map, in which a JIT compiler writes the code that
// it made: beginning and size in hexadecimal, and a name. Code moves and is made anew, so the
// last line that holds an address counts. addrs are sorted.
//
//	3f1a52c0a040 1a0 LazyCompile:*render /srv/app/view.js:12
//
// Source: the kernel's tools/perf/Documentation/jit-interface.txt.
func readPerfMap(r io.Reader, addrs []uint64) map[uint64]string {
	out := map[uint64]string{}
	steps := 0
	eachLine(r, func(text []byte) bool {
		from, rest, _ := strings.Cut(string(text), " ")
		length, name, _ := strings.Cut(rest, " ")
		begin, err := strconv.ParseUint(strings.TrimPrefix(from, "0x"), 16, 64)
		size, sizeErr := strconv.ParseUint(strings.TrimPrefix(length, "0x"), 16, 64)
		if err != nil || sizeErr != nil || name == "" {
			return true
		}
		i, _ := slices.BinarySearch(addrs, begin)
		kept := ""
		for ; i < len(addrs) && addrs[i]-begin < size; i++ {
			if kept == "" {
				kept = clean(name)
			}
			out[addrs[i]] = kept
			steps++
		}
		return steps <= mostSteps
	})
	return out
}

// readKernel looks for addresses in a table of the kernel's symbols: /proc/kallsyms.
// An address belongs to the nearest symbol before it. hidden reports that all addresses in
// the table are 0: it is for the privileged.
//
//	ffffffff81000000 T _stext
//	ffffffffc0a01000 t nf_hook	[nf_tables]
func readKernel(r io.Reader, addrs []uint64) (out map[uint64]string, hidden bool) {
	type found struct {
		begins uint64
		name   []byte
	}
	best := make([]found, len(addrs))
	hidden = true
	eachLine(r, func(line []byte) bool {
		if len(line) < 20 || line[16] != ' ' || line[18] != ' ' {
			return true
		}
		addr, err := strconv.ParseUint(string(line[:16]), 16, 64)
		if err != nil || addr == 0 {
			return true
		}
		hidden = false
		if k := line[17] | 0x20; k != 't' && k != 'w' {
			return true
		}
		i, _ := slices.BinarySearch(addrs, addr)
		if i < len(addrs) && addr >= best[i].begins {
			best[i] = found{addr, append(best[i].name[:0], line[19:]...)}
		}
		return true
	})
	out = map[uint64]string{}
	last := found{}
	for i, a := range addrs {
		if best[i].begins >= last.begins {
			last = best[i]
		}
		if last.begins > 0 {
			name, _, _ := strings.Cut(string(last.name), "\t") // the module
			out[a] = clean(name)
		}
	}
	return out, hidden
}

// eachLine calls each for the lines of a text, until it returns false. Lines that are too
// long are left out. What could not be read counts as the end.
func eachLine(r io.Reader, each func(line []byte) bool) {
	b := bufio.NewReaderSize(r, mostLine)
	for range mostLines {
		line, err := b.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			line = nil
			_, err = b.ReadSlice('\n')
		}
		if len(line) > 0 && !each(bytes.TrimRight(line, "\r\n")) || err != nil {
			return
		}
	}
}

// sortedKeys returns the addresses of a set in their order.
func sortedKeys[V any](set map[uint64]V) []uint64 {
	out := make([]uint64, 0, len(set))
	for a := range set {
		out = append(out, a)
	}
	slices.SortFunc(out, cmp.Compare)
	return out
}
