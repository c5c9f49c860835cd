package find

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program is an ELF file with a section .comment and nothing to run.
func program(t *testing.T, comment string) []byte {
	t.Helper()
	const head, section = 64, 64
	names := "\x00.shstrtab\x00.comment\x00"
	sections := []elf.Section64{
		{},
		{Name: 1, Type: uint32(elf.SHT_STRTAB), Off: head, Size: uint64(len(names)), Addralign: 1},
		{Name: 11, Type: uint32(elf.SHT_PROGBITS), Off: head + uint64(len(names)), Size: uint64(len(comment)), Addralign: 1},
	}
	h := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: head + uint64(len(names)+len(comment)),
		Ehsize: head, Shentsize: section, Shnum: uint16(len(sections)), Shstrndx: 1,
	}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	var out bytes.Buffer
	for _, part := range []any{h, []byte(names), []byte(comment), sections} {
		if err := binary.Write(&out, binary.LittleEndian, part); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestRustVersion: what rustc left in a program is its version, and nothing else is.
func TestRustVersion(t *testing.T) {
	f := func(comment, want string) {
		t.Helper()
		got, err := rustVersion(bytes.NewReader(program(t, comment)))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", comment, got, err, want)
		}
	}
	f("GCC: (Debian 12.2.0-14) 12.2.0\x00rustc version 1.95.0 (59807616e 2026-04-14)\x00", "1.95.0")
	f("rustc version 1.97.0-nightly (x)\x00", "1.97.0-nightly")
	f("GCC: (Debian 12.2.0-14) 12.2.0\x00", "")
	f("rustc version \x00", "")
	f("", "")
	for _, text := range []string{"", "#!/bin/sh\n", "\x7fELF", string(program(t, "x")[:70])} {
		if got, err := rustVersion(strings.NewReader(text)); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestRustVersion_Real: rustc itself, where it is installed, leaves what is looked for, also in
// a program whose symbols are stripped.
func TestRustVersion_Real(t *testing.T) {
	rustc, err := exec.LookPath("rustc")
	if err != nil {
		t.Log("rustc is not installed here")
		return
	}
	said, err := exec.CommandContext(t.Context(), rustc, "--version").Output() // rustc 1.95.0 (…)
	if err != nil {
		t.Log("rustc does not run here: ", err)
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/a.rs", []byte("fn main() { println!(\"ok\") }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), rustc, "-O", "-C", "strip=symbols", "-o", "a", "a.rs")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r, err := os.Open(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := rustVersion(r); err != nil || got != strings.Fields(string(said))[1] {
		t.Errorf("%q, %v, want %s", got, err, said)
	}
}
