package kernel

import (
	"errors"

	"github.com/cilium/ebpf/asm"

	"github.com/kasoku/kasoku/trace"
)

// mostName is how much of a program's name is copied, with the byte that ends it.
const mostName = 256

// startFields are where the kernel's types have what the programs at starts read.
type startFields struct {
	pid, tgid int16 // of struct task_struct
	filename  int16 // of struct linux_binprm
}

// startFields returns them.
func (t *kernelTypes) startFields() (f startFields, err error) {
	if t == nil {
		return f, errors.New("the types of the kernel are not known")
	}
	for i, to := range []*int16{&f.pid, &f.tgid, &f.filename} {
		if *to, err = t.place(neededFields[i]); err != nil {
			return f, err
		}
	}
	return f, nil
}

// ofStarts are the points at which a process makes another one, and at which that runs a program.
func ofStarts(on *arch, m *sharedMaps, f startFields) []point {
	return []point{
		{name: "sched_process_exec", code: executed(on, m, f), typed: true},
		{name: "sched_process_fork", code: started(on, m, f), typed: true},
	}
}

// starting assembles what the programs at starts have in common.
type starting struct{ socketed }

// started returns the program that runs when a thread has made a thread or a process. Processes that members
// make are followed, and those that they make in turn.
func started(on *arch, m *sharedMaps, f startFields) asm.Instructions {
	a := starting{socketed{&assembler{maps: m}}}
	a.add(asm.LoadMem(asm.R8, asm.R1, 8, asm.DWord), asm.LoadMem(asm.R2, asm.R8, f.tgid, asm.Word),
		asm.LoadMem(asm.R3, asm.R8, f.pid, asm.Word), asm.JNE.Reg(asm.R2, asm.R3, "out")) // a thread
	a.store(atResult, asm.R2)
	a.who("no member")
	a.add(asm.LoadMem(asm.R1, regMember, memberFlags, asm.Word), asm.And.Imm(asm.R1, watchTraffic),
		asm.JEq.Imm(asm.R1, 0, "no member"))
	a.label("follow")
	a.update(m.starts, atResult, atThread)
	a.load(asm.R1, atResult)
	a.ofProcess(on)
	a.set(atTotal, 0)
	a.set(atCopied, 0)
	a.event(trace.Started, 0)

	a.label("no member")
	a.startedBefore("stranger")
	a.goTo("follow")
	a.label("stranger") // of whose child's number another one may have been followed
	a.remove(m.starts, atResult)
	a.goTo("out")
	a.report(on)
	return a.out
}

// executed returns the program that runs when a process has begun to run a program.
func executed(on *arch, m *sharedMaps, f startFields) asm.Instructions {
	a := starting{socketed{&assembler{maps: m}}}
	a.add(asm.LoadMem(asm.R8, asm.R1, 16, asm.DWord), asm.FnGetCurrentPidTgid.Call())
	a.store(atThread, asm.R0)
	a.startedBefore("out")
	a.findScratch("out")
	a.add(asm.Mov.Reg(asm.R1, regScratch), asm.Add.Imm(asm.R1, eventHead), asm.Mov.Imm(asm.R2, mostName),
		asm.LoadMem(asm.R3, asm.R8, f.filename, asm.DWord), asm.FnProbeReadKernelStr.Call(),
		asm.JSLE.Imm(asm.R0, 0, "out"))
	a.store(atTotal, asm.R0)
	a.store(atCopied, asm.R0)
	a.load(asm.R1, atThread)
	a.add(asm.RSh.Imm(asm.R1, 32))
	a.ofProcess(on)
	a.event(trace.Executed, mostName)
	a.report(on)
	return a.out
}

// startedBefore goes to none where the process of the thread is not followed; else no goroutine's number
// is looked for.
func (a starting) startedBefore(none string) {
	a.load(asm.R1, atThread)
	a.add(asm.RSh.Imm(asm.R1, 32), asm.StoreMem(asm.R10, atKey, asm.R1, asm.Word))
	a.lookup(a.maps.starts, atKey)
	a.add(asm.JEq.Imm(asm.R0, 0, none))
	for at := int16(0); at < memberSize; at += 4 {
		a.add(asm.StoreImm(asm.R10, atMember+at, 0, asm.Word))
	}
	a.stack(regMember, atMember)
}

// ofProcess fills in what an event has that is of no connection: in its place stands the process in R1.
func (a starting) ofProcess(on *arch) {
	a.store(atConn, asm.R1)
	a.set(atTook, 0)
	a.set(atBuffer, 0)
	a.now()
	a.called(on)
}
