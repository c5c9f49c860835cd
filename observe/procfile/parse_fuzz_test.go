package procfile

import (
	"bytes"
	"math"
	"strconv"
	"testing"
)

// FuzzWords checks that lines and words lose nothing: put together again they
// are the text without its white space.
func FuzzWords(f *testing.F) {
	for _, seed := range []string{"", "cpu 1 2\ncpu0 1 2\n", " \t\n\n", "a:b  1.5", "99999999999999999999"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got []byte
		rest := text
		for {
			line, r, ok := Line(rest)
			if !ok {
				break
			}
			rest = r
			for {
				var word []byte
				word, line = Word(line)
				if len(word) == 0 {
					break
				}
				got = append(got, word...)
				checkNumbers(t, word)
			}
		}
		var want []byte
		for _, c := range text {
			if c != ' ' && c != '\t' && c != '\n' {
				want = append(want, c)
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// checkNumbers compares with strconv, which takes more forms but none of ours
// differently.
func checkNumbers(t *testing.T, word []byte) {
	if n, ok := Uint(word); ok {
		want, err := strconv.ParseUint(string(word), 10, 64)
		if err != nil || n != want {
			t.Fatalf("Uint(%q) = %d, strconv %d, %v", word, n, want, err)
		}
	}
	if v, ok := Decimal(word); ok {
		want, err := strconv.ParseFloat(string(word), 64)
		if err != nil || math.Abs(v-want) > 1e-9*max(1, want) {
			t.Fatalf("Decimal(%q) = %v, strconv %v, %v", word, v, want, err)
		}
	}
}

func FuzzDirents(f *testing.F) {
	f.Add(dirent("1204"))
	f.Add(append(dirent("1"), dirent("self")...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, block []byte) {
		if got := appendNumbers(nil, block); len(got) > len(block)/(direntName+1) {
			t.Fatalf("%d numbers of %d bytes", len(got), len(block))
		}
	})
}

// dirent builds one entry as the kernel does, padded to 8 bytes.
func dirent(name string) []byte {
	e := make([]byte, (direntName+len(name)+1+7)/8*8)
	e[direntLength] = byte(len(e))
	copy(e[direntName:], name)
	return e
}

func TestDirents(t *testing.T) {
	block := append(append(dirent("1204"), dirent("self")...), dirent("7")...)
	got := appendNumbers(nil, block)
	if len(got) != 2 || got[0] != 1204 || got[1] != 7 {
		t.Fatal(got)
	}
}
