package kernel

import (
	"maps"
	"slices"

	"github.com/cilium/ebpf/asm"

	"github.com/kasoku/kasoku/trace"
)

// Registers that both programs use throughout.
const (
	regRegisters = asm.R6 // address of the thread's registers
	regScratch   = asm.R7 // the event under construction; before, what the call does
	regConn      = asm.R8
	regMember    = asm.R9 // the address of its copy on the stack
)

// noWakeup leaves the reader asleep: it looks by itself, some times a second.
const noWakeup = 1

// A field is one of a value in a map or of an event, and its place on the stack.
type field struct{ offset, at int16 }

// load reads a place on the stack into a register.
func (a *assembler) load(r asm.Register, at int16) {
	a.add(asm.LoadMem(r, asm.R10, at, asm.DWord))
}

// store writes a register to a place on the stack.
func (a *assembler) store(at int16, r asm.Register) {
	a.add(asm.StoreMem(asm.R10, at, r, asm.DWord))
}

// set writes a number to a place on the stack.
func (a *assembler) set(at int16, value int32) {
	a.add(asm.Mov.Imm(asm.R1, value))
	a.store(at, asm.R1)
}

// leave ends the program.
func (a *assembler) leave() { a.add(asm.Mov.Imm(asm.R0, 0), asm.Return()) }

// who stores which thread runs, and sets regMember; without a member it goes to none. The member is
// copied: five places where it may be would be five ways through all that follows, each of which the
// kernel checks.
func (a *assembler) who(none string) {
	a.add(asm.FnGetCurrentPidTgid.Call())
	a.store(atThread, asm.R0)
	a.add(asm.RSh.Imm(asm.R0, 32), asm.LoadMapValue(regMember, a.maps.first.FD(), 0))
	for i := range int16(firstMembers) {
		is := a.fresh("first")
		a.add(asm.LoadMem(asm.R1, regMember, i*firstSize, asm.Word), asm.JNE.Reg(asm.R1, asm.R0, is),
			asm.Add.Imm(regMember, int32(i*firstSize+firstMember)))
		a.goTo("member")
		a.label(is)
	}
	a.add(asm.LoadMem(asm.R1, regMember, firstMembers*firstSize, asm.Word), asm.JEq.Imm(asm.R1, 0, none),
		asm.StoreMem(asm.R10, atKey, asm.R0, asm.Word))
	a.lookup(a.maps.members, atKey)
	a.add(asm.JEq.Imm(asm.R0, 0, none), asm.Mov.Reg(regMember, asm.R0))
	a.label("member")
	for at := int16(0); at < memberSize; at += 4 {
		a.add(asm.LoadMem(asm.R1, regMember, at, asm.Word), asm.StoreMem(asm.R10, atMember+at, asm.R1, asm.Word))
	}
	a.stack(regMember, atMember)
}

// distinguish sets R7, the number of a call, to what the call does, and ends where that is none of
// some.
func (a *assembler) distinguish(on *arch, some []op) {
	for _, nr := range slices.Sorted(maps.Keys(on.nr)) {
		if !slices.Contains(some, on.nr[nr]) {
			continue
		}
		next := a.fresh("not")
		a.add(asm.JNE.Imm(asm.R7, nr, next), asm.Mov.Imm(asm.R7, int32(on.nr[nr])))
		a.goTo("known")
		a.label(next)
	}
	a.goTo("out")
	a.label("known")
}

// register reads a register of the thread, n bytes at an offset, to a place on the stack.
func (a *assembler) register(at, n, offset int32) {
	if a.direct {
		for i := int32(0); i < n; i += 8 {
			a.add(asm.LoadMem(asm.R1, regRegisters, int16(offset+i), asm.DWord))
			a.store(int16(at+i), asm.R1)
		}
		return
	}
	a.stack(asm.R1, at)
	a.add(asm.Mov.Imm(asm.R2, n), asm.Mov.Reg(asm.R3, regRegisters), asm.Add.Imm(asm.R3, offset), asm.FnProbeReadKernel.Call())
}

// arguments reads the first three arguments of the call.
func (a *assembler) arguments(on *arch) { a.register(atArgs, 24, on.args) }

// conn sets atConn, the connection whose descriptor is at a place on the stack, and clears what an
// event holds.
func (a *assembler) conn(descriptor int16) {
	a.load(asm.R1, atThread)
	a.add(asm.RSh.Imm(asm.R1, 32), asm.LSh.Imm(asm.R1, 32))
	a.add(asm.LoadMem(asm.R2, asm.R10, descriptor, asm.Word), asm.Or.Reg(asm.R1, asm.R2))
	a.store(atConn, asm.R1)
	a.set(atTook, 0)
	a.set(atCopied, 0)
}

// now sets atTime.
func (a *assembler) now() {
	a.add(asm.FnKtimeGetNs.Call())
	a.store(atTime, asm.R0)
}

// user copies memory of the process: n bytes at the address in R3 to a place on the stack.
// R0 is 0 when that went well.
func (a *assembler) user(at, n int32) {
	a.stack(asm.R1, at)
	a.add(asm.Mov.Imm(asm.R2, n), asm.FnProbeReadUser.Call())
}

// event reports what is on the stack with that kind and at most so many bytes.
func (a *assembler) event(kind trace.Kind, most int32) {
	a.add(asm.StoreImm(asm.R10, atKind, int64(kind), asm.Word))
	a.set(atCap, most)
	a.goTo("report")
}

// report is where all events go to: it puts the event into the ring, and ends the program.
func (a *assembler) report(on *arch) { reporting{a}.all(on) }

func (a reporting) all(on *arch) {
	a.label("report")
	a.findScratch("out")
	a.head(on)
	a.copyBytes()
	a.add(asm.Mov.Reg(asm.R3, asm.R6), asm.Add.Imm(asm.R3, eventHead))
	a.output("out")
	a.label("out")
	a.leave()
}

// reporting assembles what puts an event into the ring.
type reporting struct{ *assembler }

// head fills in what an event has before its bytes, but for their number.
func (a reporting) head(on *arch) {
	for _, f := range []field{{eventTime, atTime}, {eventThread, atThread}, {eventTook, atTook}, {eventTotal,
		atTotal}} {
		a.load(asm.R1, f.at)
		a.add(asm.StoreMem(regScratch, f.offset, asm.R1, asm.DWord))
	}
	a.load(asm.R1, atConn)
	a.add(asm.StoreMem(regScratch, eventFD, asm.R1, asm.Word))
	a.add(asm.LoadMem(asm.R1, asm.R10, atKind, asm.Word), asm.StoreMem(regScratch, eventKind, asm.R1, asm.Word))
	a.goroutine(on)
}

// output puts R3 bytes of the scratch into the ring, and goes on at done where there was room.
func (a reporting) output(done string) {
	a.add(asm.LoadMapPtr(asm.R1, a.maps.ring.FD()), asm.Mov.Reg(asm.R2, regScratch),
		asm.Mov.Imm(asm.R4, noWakeup), asm.FnRingbufOutput.Call(), asm.JEq.Imm(asm.R0, 0, done))
	a.count(statLost)
}

// findScratch sets regScratch.
func (a *assembler) findScratch(none string) {
	a.add(asm.StoreImm(asm.R10, atKey, 0, asm.Word))
	a.lookup(a.maps.scratch, atKey)
	a.add(asm.JEq.Imm(asm.R0, 0, none), asm.Mov.Reg(regScratch, asm.R0))
}

// goroutine fills in the numbers of the goroutine and of its parent, and where it began.
func (a reporting) goroutine(on *arch) {
	numbered := a.fresh("numbered")
	a.add(asm.Mov.Imm(asm.R1, 0), asm.StoreMem(regScratch, eventGoid, asm.R1, asm.DWord),
		asm.StoreMem(regScratch, eventParent, asm.R1, asm.DWord),
		asm.StoreMem(regScratch, eventStart, asm.R1, asm.Word))
	a.add(asm.LoadMem(asm.R1, regMember, memberGoid, asm.Word), asm.JEq.Imm(asm.R1, 0, numbered))
	a.set(atWord, 0)
	a.register(atWord, 8, on.g)
	// All three lie near to one another: a second copy would cost as much as this one.
	a.load(asm.R1, atWord)
	a.add(asm.LoadMem(asm.R3, regMember, memberGoid, asm.Word), asm.Add.Reg(asm.R3, asm.R1),
		asm.Mov.Reg(asm.R1, regScratch), asm.Add.Imm(asm.R1, scratchG), asm.Mov.Imm(asm.R2, scratchGSize),
		asm.FnProbeReadUser.Call(), asm.JNE.Imm(asm.R0, 0, numbered))
	a.add(asm.LoadMem(asm.R1, regScratch, scratchG, asm.DWord),
		asm.StoreMem(regScratch, eventGoid, asm.R1, asm.DWord))
	a.add(asm.LoadMem(asm.R2, regMember, memberParent, asm.Word), asm.LoadMem(asm.R1, regMember, memberGoid, asm.Word),
		asm.Sub.Reg(asm.R2, asm.R1), asm.JGT.Imm(asm.R2, mostParentAfter, numbered), asm.Add.Reg(asm.R2, regScratch))
	a.add(asm.LoadMem(asm.R1, asm.R2, scratchG, asm.DWord), asm.StoreMem(regScratch, eventParent, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R2, scratchG+startAfter, asm.Word),
		asm.StoreMem(regScratch, eventStart, asm.R1, asm.Word))
	a.label(numbered)
}

// copyBytes copies the call's bytes after the head, and leaves their number in R6.
func (a reporting) copyBytes() {
	a.forget(atCap, atTotal, atCopied) // else the kernel follows each of the kinds of events through what comes
	a.load(asm.R6, atTotal)
	a.load(asm.R1, atCap)
	a.load(asm.R2, atCopied)
	a.add(asm.JEq.Imm(asm.R2, 0, "whole"), asm.Mov.Reg(asm.R6, asm.R2)) // no more than was gathered
	a.label("whole")
	a.add(asm.JLE.Reg(asm.R6, asm.R1, "capped"), asm.Mov.Reg(asm.R6, asm.R1))
	a.label("capped")
	a.add(asm.JLE.Imm(asm.R6, mostText, "bounded"), asm.Mov.Imm(asm.R6, mostText))
	a.label("bounded")
	a.add(asm.JNE.Imm(asm.R2, 0, "copied"), asm.JEq.Imm(asm.R6, 0, "copied"))
	a.add(asm.Mov.Reg(asm.R1, regScratch), asm.Add.Imm(asm.R1, eventHead), asm.Mov.Reg(asm.R2, asm.R6))
	a.load(asm.R3, atBuffer)
	a.add(asm.FnProbeReadUser.Call(), asm.JEq.Imm(asm.R0, 0, "copied"), asm.Mov.Imm(asm.R6, 0))
	a.count(statUnread)
	a.label("copied")
	a.add(asm.StoreMem(regScratch, eventSize, asm.R6, asm.Word))
}

// forget takes places on the stack through the scratch: what is read there may be any number to the
// kernel, which follows several ways to here as one then.
func (a *assembler) forget(places ...int16) {
	for _, at := range places {
		a.load(asm.R1, at)
		a.add(asm.StoreMem(regScratch, scratchAny, asm.R1, asm.DWord), asm.LoadMem(asm.R1, regScratch, scratchAny, asm.DWord))
		a.store(at, asm.R1)
	}
}

// gather copies the parts of a scattered buffer one after another: their list is at atBuffer,
// their number at atCount. Of a read no more than atTotal are taken; of a write atTotal is
// set to what the first parts hold. It leaves the first bytes at atPeek and their number at
// atCopied.
func (a *assembler) gather(read bool, none string) {
	done := a.fresh("gathered")
	a.findScratch(none)
	a.set(atCopied, 0)
	if !read {
		a.set(atTotal, 0)
	}
	for i := range int32(mostParts) {
		fits, next := a.fresh("fits"), a.fresh("next")
		a.load(asm.R1, atCount)
		a.add(asm.JLE.Imm(asm.R1, i, done))
		a.load(asm.R3, atBuffer)
		a.add(asm.Add.Imm(asm.R3, 16*i))
		a.user(atPart, 16)
		a.add(asm.JNE.Imm(asm.R0, 0, done))
		a.load(asm.R2, atPart+8)
		a.load(asm.R1, atCopied)
		a.load(asm.R4, atTotal)
		if read {
			short := a.fresh("short")
			a.add(asm.Sub.Reg(asm.R4, asm.R1), asm.JLE.Reg(asm.R2, asm.R4, short), asm.Mov.Reg(asm.R2, asm.R4))
			a.label(short)
		} else {
			a.add(asm.Add.Reg(asm.R4, asm.R2))
			a.store(atTotal, asm.R4)
		}
		a.add(asm.JEq.Imm(asm.R2, 0, next), asm.JGE.Imm(asm.R1, mostText, done))
		a.add(asm.JLE.Imm(asm.R2, mostPart, fits), asm.Mov.Imm(asm.R2, mostPart))
		a.label(fits)
		a.store(atWord, asm.R2)
		a.add(asm.Add.Reg(asm.R1, regScratch), asm.Add.Imm(asm.R1, eventHead))
		a.load(asm.R3, atPart)
		a.add(asm.FnProbeReadUser.Call(), asm.JNE.Imm(asm.R0, 0, done))
		a.load(asm.R2, atWord)
		a.load(asm.R1, atCopied)
		a.add(asm.Add.Reg(asm.R1, asm.R2))
		a.store(atCopied, asm.R1)
		a.load(asm.R1, atPart+8)
		a.add(asm.JGT.Imm(asm.R1, mostPart, done)) // the rest of this part is missing
		a.label(next)
		a.forget(atCopied, atTotal)
	}
	a.label(done)
	a.forget(atCopied, atTotal)
	a.load(asm.R1, atCopied)
	a.add(asm.JEq.Imm(asm.R1, 0, none), asm.LoadMem(asm.R1, regScratch, eventHead, asm.DWord))
	a.store(atPeek, asm.R1)
}
