package stacks

import (
	"github.com/cilium/ebpf/asm"
)

// Registers and places on the stack of the programs. R6 to R9 survive calls of helpers.
const (
	stackPID   = -4   // u32: key of a process
	stackZero  = -8   // u32: key 0
	stackTask  = -16  // u64: key of a thread
	stackWord  = -24  // u64: a word that is read
	stackKey   = -40  // waitKey
	stackSum   = -72  // waitSum
	stackState = -112 // waiting
)

// Flags of helpers: the kernel's include/uapi/linux/bpf.h.
const (
	userStack = 1 << 8
	noWakeup  = 1
	noExist   = 1
)

// fetchTarget returns instructions that leave a program when the process that runs is none of
// those that are watched. R7 then holds its numbers.
func (m *maps) fetchTarget(leave string) asm.Instructions {
	return asm.Instructions{
		asm.FnGetCurrentPidTgid.Call(),
		asm.Mov.Reg(asm.R7, asm.R0),
		asm.RSh.Imm(asm.R0, 32),
		asm.StoreMem(asm.RFP, stackPID, asm.R0, asm.Word),
		asm.LoadMapPtr(asm.R1, m.targets.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackPID),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, leave),
	}
}

// fetchRoom returns instructions that put the address of a processor's own room for a record
// into R8, and fill in whose it is.
func (m *maps) fetchRoom(room int, kind int32, leave string) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.RFP, stackZero, asm.R1, asm.Word),
		asm.LoadMapPtr(asm.R1, room),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackZero),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, leave),
		asm.Mov.Reg(asm.R8, asm.R0),
		asm.Mov.Imm(asm.R1, kind),
		asm.StoreMem(asm.R8, recordKind, asm.R1, asm.Word),
		asm.LoadMem(asm.R1, asm.RFP, stackPID, asm.Word),
		asm.StoreMem(asm.R8, recordPID, asm.R1, asm.Word),
		asm.StoreMem(asm.R8, recordThread, asm.R7, asm.Word),
		asm.Mov.Imm(asm.R1, -1),
		asm.StoreMem(asm.R8, recordFD, asm.R1, asm.Word),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.R8, recordHash, asm.R1, asm.DWord),
		asm.StoreMem(asm.R8, recordReturn, asm.R1, asm.DWord),
		asm.StoreMem(asm.R8, recordCall, asm.R1, asm.DWord),
	}
}

// fetchStacks returns instructions that take both stacks of what runs into the room at R8;
// R6 is the context of the program. R9 holds how many bytes the user's stack has.
func fetchStacks(name string) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Reg(asm.R2, asm.R8),
		asm.Add.Imm(asm.R2, kernelAt),
		asm.Mov.Imm(asm.R3, kernelRoom),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnGetStack.Call(),
		asm.JSGE.Imm(asm.R0, 0, name+"kernel"),
		asm.Mov.Imm(asm.R0, 0),
		asm.StoreMem(asm.R8, recordKernel, asm.R0, asm.Word).WithSymbol(name + "kernel"),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Reg(asm.R2, asm.R8),
		asm.Add.Imm(asm.R2, userAt),
		asm.Mov.Imm(asm.R3, userRoom),
		asm.Mov.Imm(asm.R4, userStack),
		asm.FnGetStack.Call(),
		asm.JSGE.Imm(asm.R0, 0, name+"user"),
		asm.Mov.Imm(asm.R0, 0),
		asm.Mov.Reg(asm.R9, asm.R0).WithSymbol(name + "user"),
		asm.And.Imm(asm.R9, 1023),
		asm.StoreMem(asm.R8, recordUser, asm.R9, asm.Word),
	}
}

// fetchReturn returns instructions that read the registers with which user space was left
// into R7, and the return address of a function that has no frame.
func fetchReturn() asm.Instructions {
	out := asm.Instructions{
		asm.FnGetCurrentTaskBtf.Call(),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.FnTaskPtRegs.Call(),
		asm.Mov.Reg(asm.R7, asm.R0),
	}
	if linkReg {
		return append(out,
			asm.LoadMem(asm.R1, asm.R7, regLink, asm.DWord),
			asm.StoreMem(asm.R8, recordReturn, asm.R1, asm.DWord))
	}
	return append(out,
		asm.LoadMem(asm.R3, asm.R7, regStack, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R8),
		asm.Add.Imm(asm.R1, recordReturn),
		asm.Mov.Imm(asm.R2, 8),
		asm.FnProbeReadUser.Call())
}

// count returns instructions that add one to a counter.
func (m *maps) count(counter int) asm.Instructions {
	name := "counted" + string(rune('a'+counter)) + string(rune('a'+m.labels))
	m.labels++
	return asm.Instructions{
		asm.Mov.Imm(asm.R1, int32(counter)),
		asm.StoreMem(asm.RFP, stackZero, asm.R1, asm.Word),
		asm.LoadMapPtr(asm.R1, m.counters.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackZero),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, name),
		asm.Mov.Imm(asm.R1, 1),
		asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol(name),
	}
}

// emit returns instructions that give the record at R8 to the reader; its user's stack has R9
// bytes. R0 is 0 when there was room.
func (m *maps) emit() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R3, asm.R9),
		asm.Add.Imm(asm.R3, userAt),
		asm.LoadMapPtr(asm.R1, m.ring.FD()),
		asm.Mov.Reg(asm.R2, asm.R8),
		asm.Mov.Imm(asm.R4, noWakeup),
		asm.FnRingbufOutput.Call(),
	}
}

// sampleCPU is the program of the clock: what runs on this processor now?
func (m *maps) sampleCPU() asm.Instructions {
	var p asm.Instructions
	p = append(p, asm.Mov.Reg(asm.R6, asm.R1))
	p = append(p, m.fetchTarget("end")...)
	p = append(p, m.fetchRoom(m.sampleRoom.FD(), kindCPU, "end")...)
	p = append(p, fetchStacks("")...)
	p = append(p, fetchReturn()...)
	p = append(p, m.emit()...)
	p = append(p, asm.JEq.Imm(asm.R0, 0, "end"))
	p = append(p, m.count(lostRecords)...)
	return append(p, asm.Mov.Imm(asm.R0, 0).WithSymbol("end"), asm.Return())
}

// switchThreads is the program of the scheduler: one thread leaves this processor, which is
// still the current one, and another enters it. Arguments: preempted, from, to.
func (m *maps) switchThreads() asm.Instructions {
	var p asm.Instructions
	p = append(p, asm.Mov.Reg(asm.R6, asm.R1))
	p = append(p, m.fetchTarget("enter")...)
	p = append(p, m.fetchRoom(m.switchRoom.FD(), kindWait, "enter")...)
	p = append(p, fetchStacks("")...)
	p = append(p, fetchReturn()...)
	p = append(p, fetchDescriptor()...)
	p = append(p, hashStacks()...)
	p = append(p, m.findPlace()...)
	p = append(p, m.beginWait()...)
	p = append(p, m.endWait()...)
	return append(p, asm.Mov.Imm(asm.R0, 0).WithSymbol("end"), asm.Return())
}

// fetchDescriptor returns instructions that note the system call and its descriptor. Poll of
// one descriptor is one for it. R7 has the registers.
func fetchDescriptor() asm.Instructions {
	size := asm.DWord
	if linkReg {
		size = asm.Word
	}
	p := asm.Instructions{
		asm.LoadMem(asm.R1, asm.R7, regCall, size),
		asm.StoreMem(asm.R8, recordCall, asm.R1, asm.DWord),
	}
	for _, n := range descriptorCalls {
		p = append(p, asm.JEq.Imm(asm.R1, n, "descriptor"))
	}
	p = append(p, asm.JEq.Imm(asm.R1, callPpoll, "poll"))
	if callPoll >= 0 {
		p = append(p, asm.JEq.Imm(asm.R1, callPoll, "poll"))
	}
	return append(p,
		asm.Ja.Label("described"),
		asm.LoadMem(asm.R1, asm.R7, regArg1, asm.DWord).WithSymbol("poll"),
		asm.JNE.Imm(asm.R1, 1, "described"),
		asm.LoadMem(asm.R3, asm.R7, regArg0, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.R8),
		asm.Add.Imm(asm.R1, recordFD),
		asm.Mov.Imm(asm.R2, 4),
		asm.FnProbeReadUser.Call(),
		asm.Ja.Label("described"),
		asm.LoadMem(asm.R1, asm.R7, regArg0, asm.DWord).WithSymbol("descriptor"),
		asm.StoreMem(asm.R8, recordFD, asm.R1, asm.Word),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("described"),
	)
}

// hashStacks returns instructions that make a number of both stacks: FNV-1a by words, with
// the high bits folded in. R9 has the length of the user's.
func hashStacks() asm.Instructions {
	p := asm.Instructions{
		asm.LoadImm(asm.R1, -0x340d631b7bdddcdb, asm.DWord), // 14695981039346656037
		asm.LoadImm(asm.R2, 0x100000001b3, asm.DWord),
		asm.LoadMem(asm.R3, asm.R8, recordCall, asm.DWord),
		asm.Xor.Reg(asm.R1, asm.R3),
		asm.Mul.Reg(asm.R1, asm.R2),
		asm.LoadMem(asm.R5, asm.R8, recordKernel, asm.Word),
	}
	for _, part := range []struct {
		name     string
		at, room int32
	}{{"hashKernel", kernelAt, kernelRoom}, {"hashUser", userAt, userRoom}} {
		p = append(p,
			asm.Mov.Imm(asm.R4, 0),
			asm.JGE.Reg(asm.R4, asm.R5, part.name+"Done").WithSymbol(part.name),
			asm.JGE.Imm(asm.R4, part.room, part.name+"Done"),
			asm.Mov.Reg(asm.R3, asm.R8),
			asm.Add.Reg(asm.R3, asm.R4),
			asm.LoadMem(asm.R3, asm.R3, int16(part.at), asm.DWord),
			asm.Xor.Reg(asm.R1, asm.R3),
			asm.Mul.Reg(asm.R1, asm.R2),
			asm.Mov.Reg(asm.R3, asm.R1),
			asm.RSh.Imm(asm.R3, 29),
			asm.Xor.Reg(asm.R1, asm.R3),
			asm.Add.Imm(asm.R4, 8),
			asm.Ja.Label(part.name),
			asm.Mov.Reg(asm.R5, asm.R9).WithSymbol(part.name+"Done"),
		)
	}
	return append(p,
		asm.Or.Imm(asm.R1, 1), // never 0
		asm.StoreMem(asm.R8, recordHash, asm.R1, asm.DWord),
	)
}

// findPlace returns instructions that put the key of the place that waits on the stack. A new
// place is reported with its stack; when there is no room for it, the key is that of the
// process.
func (m *maps) findPlace() asm.Instructions {
	p := asm.Instructions{
		asm.LoadMem(asm.R1, asm.R8, recordHash, asm.DWord),
		asm.StoreMem(asm.RFP, stackKey, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.RFP, stackPID, asm.Word),
		asm.StoreMem(asm.RFP, stackKey+8, asm.R1, asm.Word),
		asm.LoadMem(asm.R1, asm.R8, recordFD, asm.Word),
		asm.StoreMem(asm.RFP, stackKey+12, asm.R1, asm.Word),
		asm.LoadMapPtr(asm.R1, m.places.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackKey),
		asm.FnMapLookupElem.Call(),
		asm.JNE.Imm(asm.R0, 0, "placed"),
		asm.Mov.Imm(asm.R1, 0),
	}
	for i := int16(0); i < 32; i += 8 {
		p = append(p, asm.StoreMem(asm.RFP, stackSum+i, asm.R1, asm.DWord))
	}
	p = append(p,
		asm.LoadMapPtr(asm.R1, m.places.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackKey),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, stackSum),
		asm.Mov.Imm(asm.R4, noExist),
		asm.FnMapUpdateElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "report"),
		asm.JEq.Imm(asm.R0, -17, "placed"), // EEXIST: another processor was first
	)
	p = append(p, m.count(lostPlaces)...)
	p = append(p, asm.Ja.Label("unplaced"))
	emit := m.emit()
	emit[0] = emit[0].WithSymbol("report")
	p = append(p, emit...)
	p = append(p,
		asm.JEq.Imm(asm.R0, 0, "placed"),
		// Without its stack a place says nothing.
		asm.LoadMapPtr(asm.R1, m.places.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackKey),
		asm.FnMapDeleteElem.Call(),
	)
	p = append(p, m.count(lostRecords)...)
	return append(p,
		asm.Mov.Imm(asm.R1, 0).WithSymbol("unplaced"),
		asm.StoreMem(asm.RFP, stackKey, asm.R1, asm.DWord),
		asm.StoreMem(asm.RFP, stackKey+12, asm.R1, asm.Word),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("placed"),
	)
}

// beginWait returns instructions that note that the current thread waits from now on, at the
// key on the stack.
func (m *maps) beginWait() asm.Instructions {
	p := asm.Instructions{
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(asm.RFP, stackState, asm.R0, asm.DWord),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.RFP, stackState+8, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.RFP, stackKey, asm.DWord),
		asm.StoreMem(asm.RFP, stackState+16, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.RFP, stackKey+8, asm.DWord),
		asm.StoreMem(asm.RFP, stackState+24, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R8, recordThread, asm.Word),
		asm.StoreMem(asm.RFP, stackState+32, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord), // from
		asm.StoreMem(asm.RFP, stackTask, asm.R1, asm.DWord),
		asm.LoadMapPtr(asm.R1, m.threads.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackTask),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, stackState),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "begun"),
	}
	p = append(p, m.count(lostThreads)...)
	begun := m.count(switches)
	begun[0] = begun[0].WithSymbol("begun")
	return append(p, begun...)
}

// endWait returns instructions that add up what the thread that enters has waited.
func (m *maps) endWait() asm.Instructions {
	p := asm.Instructions{
		asm.LoadMem(asm.R1, asm.R6, 16, asm.DWord).WithSymbol("enter"), // to
	}
	p = append(p, m.fetchThread()...)
	p = append(p,
		asm.JEq.Imm(asm.R0, 0, "end"),
		asm.Mov.Reg(asm.R7, asm.R0),
		asm.FnKtimeGetNs.Call(),
		asm.Mov.Reg(asm.R8, asm.R0),
		asm.LoadMem(asm.R1, asm.R7, 16, asm.DWord),
		asm.StoreMem(asm.RFP, stackKey, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R7, 24, asm.DWord),
		asm.StoreMem(asm.RFP, stackKey+8, asm.R1, asm.DWord),
		asm.LoadMapPtr(asm.R1, m.places.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackKey),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "forget"),
		asm.Mov.Reg(asm.R9, asm.R0),
		asm.LoadMem(asm.R1, asm.R7, 0, asm.DWord), // since
		asm.LoadMem(asm.R2, asm.R7, 8, asm.DWord), // woken
		asm.JEq.Imm(asm.R2, 0, "forced"),
		asm.Mov.Reg(asm.R3, asm.R2),
		asm.Sub.Reg(asm.R3, asm.R1),
		asm.StoreXAdd(asm.R9, asm.R3, asm.DWord), // waited
		asm.Mov.Reg(asm.R1, asm.R2),
		asm.Ja.Label("queued"),
		asm.Mov.Imm(asm.R3, 1).WithSymbol("forced"),
		asm.Mov.Reg(asm.R4, asm.R9),
		asm.Add.Imm(asm.R4, 24),
		asm.StoreXAdd(asm.R4, asm.R3, asm.DWord),
		asm.Sub.Reg(asm.R8, asm.R1).WithSymbol("queued"),
		asm.Mov.Reg(asm.R4, asm.R9),
		asm.Add.Imm(asm.R4, 8),
		asm.StoreXAdd(asm.R4, asm.R8, asm.DWord),
		asm.Mov.Imm(asm.R3, 1),
		asm.Mov.Reg(asm.R4, asm.R9),
		asm.Add.Imm(asm.R4, 16),
		asm.StoreXAdd(asm.R4, asm.R3, asm.DWord),
		asm.LoadMapPtr(asm.R1, m.threads.FD()).WithSymbol("forget"),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackTask),
		asm.FnMapDeleteElem.Call(),
	)
	return p
}

// fetchThread returns instructions that look for the thread of R1, its address in the kernel.
func (m *maps) fetchThread() asm.Instructions {
	return asm.Instructions{
		asm.StoreMem(asm.RFP, stackTask, asm.R1, asm.DWord),
		asm.LoadMapPtr(asm.R1, m.threads.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackTask),
		asm.FnMapLookupElem.Call(),
	}
}

// wakeThread is the program of a thread that may go on. Argument: the thread.
func (m *maps) wakeThread() asm.Instructions {
	p := asm.Instructions{asm.LoadMem(asm.R1, asm.R1, 0, asm.DWord)}
	p = append(p, m.fetchThread()...)
	return append(p,
		asm.JEq.Imm(asm.R0, 0, "end"),
		asm.Mov.Reg(asm.R7, asm.R0),
		asm.LoadMem(asm.R1, asm.R7, 8, asm.DWord),
		asm.JNE.Imm(asm.R1, 0, "end"),
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(asm.R7, 8, asm.R0, asm.DWord),
		asm.Mov.Imm(asm.R0, 0).WithSymbol("end"),
		asm.Return(),
	)
}

// freeThread is the program of a thread whose description the kernel frees: its address can
// become another one's. Argument: the thread.
func (m *maps) freeThread() asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R1, asm.R1, 0, asm.DWord),
		asm.StoreMem(asm.RFP, stackTask, asm.R1, asm.DWord),
		asm.LoadMapPtr(asm.R1, m.threads.FD()),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackTask),
		asm.FnMapDeleteElem.Call(),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
	}
}
