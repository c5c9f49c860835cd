package kernel

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// An assembler collects the instructions of one program.
type assembler struct {
	out    asm.Instructions
	next   string // label of the next instruction
	labels int
	maps   *sharedMaps
	direct bool // the registers of the thread have a type: they can be read as what they are
}

// sharedMaps are what the programs share with one another and with who reads them.
type sharedMaps struct {
	members *ebpf.Map // process → member
	first   *ebpf.Map // the first of them; see firstMembers
	conns   *ebpf.Map // process and descriptor → conn
	syncs   *ebpf.Map // thread → when it began to write to a disk
	starts  *ebpf.Map // process that a member made, or one of these → which thread made it
	scratch *ebpf.Map // one event under construction for each processor
	ring    *ebpf.Map
	stats   *ebpf.Map
}

// add appends instructions.
func (a *assembler) add(ins ...asm.Instruction) {
	for _, in := range ins {
		if a.next != "" {
			in, a.next = in.WithSymbol(a.next), ""
		}
		a.out = append(a.out, in)
	}
}

// label names the next instruction.
func (a *assembler) label(name string) {
	if a.next != "" { // two names of one place
		a.add(asm.Mov.Reg(asm.R0, asm.R0))
	}
	a.next = name
}

// fresh returns a label that no other instruction has.
func (a *assembler) fresh(word string) string {
	a.labels++
	return fmt.Sprintf("%s_%d", word, a.labels)
}

// goTo jumps always.
func (a *assembler) goTo(label string) { a.add(asm.Ja.Label(label)) }

// stack sets a register to the address of a place on the stack.
func (a *assembler) stack(r asm.Register, at int32) {
	a.add(asm.Mov.Reg(r, asm.R10), asm.Add.Imm(r, at))
}

// lookup looks for the key at a place on the stack; R0 is the value's address, or 0.
func (a *assembler) lookup(m *ebpf.Map, key int32) {
	a.add(asm.LoadMapPtr(asm.R1, m.FD()))
	a.stack(asm.R2, key)
	a.add(asm.FnMapLookupElem.Call())
}

// update stores the value at a place on the stack under the key at another.
func (a *assembler) update(m *ebpf.Map, key, value int32) {
	a.add(asm.LoadMapPtr(asm.R1, m.FD()))
	a.stack(asm.R2, key)
	a.stack(asm.R3, value)
	a.add(asm.Mov.Imm(asm.R4, 0), asm.FnMapUpdateElem.Call())
}

// remove deletes the key at a place on the stack.
func (a *assembler) remove(m *ebpf.Map, key int32) {
	a.add(asm.LoadMapPtr(asm.R1, m.FD()))
	a.stack(asm.R2, key)
	a.add(asm.FnMapDeleteElem.Call())
}

// count adds one to a number of the statistics. It needs R8 and R9 for nothing.
func (a *assembler) count(which int32) {
	done := a.fresh("counted")
	a.add(asm.StoreImm(asm.R10, atKey, int64(which), asm.Word))
	a.lookup(a.maps.stats, atKey)
	a.add(asm.JEq.Imm(asm.R0, 0, done), asm.Mov.Imm(asm.R1, 1), asm.StoreXAdd(asm.R0, asm.R1, asm.DWord))
	a.label(done)
}
