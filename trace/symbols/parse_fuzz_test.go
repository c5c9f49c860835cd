package symbols

import (
	"bytes"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzNames: no program, whatever it claims, is more than an error or some names.
func FuzzNames(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01"), uint64(0))
	f.Add(goProgram(magic120), uint64(0x40))
	f.Add(goProgram(magic118), uint64(0x40))
	f.Fuzz(func(t *testing.T, raw []byte, at uint64) {
		begin := time.Now()
		places, _, _, err := readNames(bytes.NewReader(raw), int64(len(raw)), []uint64{at, at + 16})
		if err != nil && places != nil {
			t.Error("names beside an error")
		}
		for _, frames := range places {
			for _, fr := range frames {
				if len(fr.Name) > mostName || !utf8.ValidString(fr.Name) {
					t.Errorf("name %q", fr.Name)
				}
			}
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// goProgram is a program of one section, Go's table of functions, which points into itself.
func goProgram(magic uint32) []byte {
	b := make([]byte, 4096)
	put := func(at int, size int, v uint64) {
		for i := range size {
			b[at+i] = byte(v >> (8 * i))
		}
	}
	copy(b, "\x7fELF\x02\x01")
	put(32, 8, 64)  // segments
	put(40, 8, 128) // sections
	put(54, 2, 56)  // size of a segment
	put(56, 2, 1)   // one
	put(58, 2, 64)  // size of a section
	put(60, 2, 3)   // three
	put(62, 2, 2)   // names
	put(64, 4, 1)   // load
	put(64+32, 8, 4096)
	put(64+40, 8, 4096)
	section := func(i int, name, kind, addr, offset, size uint64) {
		at := 128 + 64*i
		put(at, 4, name)
		put(at+4, 4, kind)
		put(at+16, 8, addr)
		put(at+24, 8, offset)
		put(at+32, 8, size)
	}
	section(1, 1, 1, 1024, 1024, 2048)
	section(2, 0, 3, 0, 512, 64)
	copy(b[513:], ".gopclntab")
	put(1024, 4, uint64(magic))
	b[1030], b[1031] = 1, 8
	put(1024+8, 8, 1)
	for i, at := range []int{32, 40, 48, 56, 64} {
		put(1024+at, 8, uint64(128*(i+1)))
	}
	table := 1024 + 640
	put(table, 4, 0)
	put(table+4, 4, 64)
	put(table+8, 4, 4096)
	put(table+64+4, 4, 1)
	put(table+64+20, 4, 2)
	copy(b[1024+128:], "\x00main.main\x00")
	copy(b[1024+512:], "\x00\x00\x02\x7f\x00")
	return b
}

// TestFrames_Made: the made program that seeds the fuzzing is read.
func TestFrames_Made(t *testing.T) {
	raw := goProgram(magic120)
	places, _, _, err := readNames(bytes.NewReader(raw), int64(len(raw)), []uint64{0x40})
	if err != nil || len(places[0x40]) != 1 || places[0x40][0].Name != "main.main" {
		t.Errorf("%v: %+v", err, places)
	}
}

// FuzzLines: tables in lines, which a process may write as it likes.
func FuzzLines(f *testing.F) {
	f.Add([]byte("1000 10 f\n0x2000 0x10 g h\n"), []byte("55d4c8e21000-55d4c8e93000 r-xp 00021000 fd:01 1835 /usr/sbin/nginx\n"))
	f.Add([]byte("ffffffff81000000 T _stext\n"), []byte("\n\n"))
	f.Fuzz(func(t *testing.T, table, maps []byte) {
		addrs := []uint64{0, 0x1004, 0x2000, 1 << 63, 1<<64 - 1}
		for _, name := range readPerfMap(bytes.NewReader(table), addrs) {
			if len(name) > mostName || !utf8.ValidString(name) {
				t.Errorf("name %q", name)
			}
		}
		names, _ := readKernel(bytes.NewReader(table), addrs)
		if len(names) > len(addrs) {
			t.Error("names of addresses that were not asked for")
		}
		for _, m := range parseMaps(maps) {
			if m.start >= m.end {
				t.Errorf("%+v", m)
			}
		}
		innermostPID(string(maps))
	})
}
