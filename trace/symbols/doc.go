// Package symbols gives addresses in the code of processes and of the kernel their names.
//
// The one idea: a stripped binary of 100 MB has a million symbols, a profile some thousand
// addresses. So the addresses are collected first, and each table of names is then read once,
// as a stream, in which the addresses look for their names: memory and results are bounded
// by what is asked, not by what a file claims.
//
// Names come, in this order, from the table that Go's linker puts into each of its programs,
// stripped ones too (inlined functions are frames of their own); from the symbol tables of
// ELF files; of code that a JIT compiler made, from the perf map that its process has
// written; of the kernel from /proc/kallsyms. An address that has no name is given that of
// its file, in brackets.
//
// Files of processes are opened by package foreign and never trusted: all sizes, counts and
// steps are bounded, and all texts are cleaned.
//
// Start at [NewTable]. Addresses of callers are return addresses less one, so that they lie in
// the call.
//
// Sources: elf(5), proc_pid_maps(5), Go's runtime/symtab.go, runtime/symtabinl.go and
// debug/gosym, the kernel's tools/perf/Documentation/jit-interface.txt.
package symbols
