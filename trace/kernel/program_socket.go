package kernel

import (
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/kasoku/kasoku/trace"
)

// A point is where in the kernel a program runs, by the name of its tracepoint.
type point struct {
	name     string
	code     asm.Instructions
	typed    bool // its arguments have types, which the kernel checks
	optional bool // not every kernel has it
}

// spec returns what the kernel is to load.
func (p point) spec() *ebpf.ProgramSpec {
	s := &ebpf.ProgramSpec{Name: "kasoku_" + p.name, Type: ebpf.RawTracepoint, License: license, Instructions: p.code}
	if p.typed {
		s.Type, s.AttachType, s.AttachTo = ebpf.Tracing, ebpf.AttachTraceRawTp, p.name
	}
	return s
}

// ofCalls are the points through which every system call of the host goes, which makes each of them slower.
// Who returns is attached first: no call waits for a program that never comes.
func ofCalls(on *arch, m *sharedMaps) []point {
	return []point{{name: "sys_exit", code: exit(on, m)}, {name: "sys_enter", code: enter(on, m)}}
}

// ofSockets are the points through which goes what sockets send and receive, since Linux 6.3.
func ofSockets(on *arch, m *sharedMaps) []point {
	return []point{
		{name: "sock_recv_length", code: receive(on, m), typed: true},
		{name: "inet_sock_set_state", code: state(on, m), typed: true},
		{name: "sock_send_length", code: send(on, m), typed: true},
	}
}

// filesystems are those that show when files are written to their disks.
var filesystems = []string{"ext4", "f2fs"}

// ofDisks are the points at which files of some filesystems are written to their disks.
func ofDisks(on *arch, m *sharedMaps, filesystems []string) (out []point) {
	for _, filesystem := range filesystems {
		out = append(out, point{name: filesystem + "_sync_file_exit", code: syncEnd(on, m), optional: true},
			point{name: filesystem + "_sync_file_enter", code: syncBegin(on, m), optional: true})
	}
	return out
}

// receive returns the program that runs when a socket has received.
func receive(on *arch, m *sharedMaps) asm.Instructions {
	s := socketed{&assembler{maps: m}}
	a := exiting(s)
	const peeked = 2 // MSG_PEEK: it comes once more
	a.add(asm.LoadMem(asm.R2, asm.R1, 16, asm.DWord), asm.And.Imm(asm.R2, peeked), asm.JNE.Imm(asm.R2, 0, "out"))
	s.result()
	a.add(asm.JSLE.Imm(asm.R2, 0, "out"))
	a.store(atTotal, asm.R2)
	s.socket(on, returning, s.served)
	a.came(on, "uring") // its own threads have no registers of a call
	a.uring()
	a.report(on)
	return a.out
}

// send returns the program that runs when a socket has sent, or has failed to.
func send(on *arch, m *sharedMaps) asm.Instructions {
	s := socketed{&assembler{maps: m}}
	a := entering(s)
	const again = -11 // EAGAIN: it is sent once more
	s.result()
	a.add(asm.JEq.Imm(asm.R2, again, "out"))
	a.set(atTotal, 0)
	s.socket(on, beginning, func() { a.set(atRole, roleUnknown) })
	a.arguments(on)
	a.write(on)
	a.uring()
	a.report(on)
	return a.out
}

// state returns the program that runs when a connection of TCP is opened or closed.
func state(on *arch, m *sharedMaps) asm.Instructions {
	s := socketed{&assembler{maps: m}}
	a := entering(s)
	a.add(asm.LoadMem(asm.R2, asm.R1, 16, asm.DWord), asm.LoadMem(asm.R8, asm.R1, 0, asm.DWord))
	const sent, finished, closed, last = 2, 4, 7, 9 // TCP_SYN_SENT, TCP_FIN_WAIT1, TCP_CLOSE, TCP_LAST_ACK
	for _, state := range []int32{sent, finished, closed, last} {
		a.add(asm.JEq.Imm(asm.R2, state, "of interest"))
	}
	a.goTo("out")
	a.label("of interest")
	a.store(atResult, asm.R2)
	s.traffic()
	s.called(on)
	a.distinguish(on, []op{opConnect, opClose, opShutdown, opUring})
	a.add(asm.JEq.Imm(asm.R7, int32(opUring), "uring"), asm.JNE.Imm(asm.R7, int32(opShutdown), "ends"))
	// Who shuts a connection down for writing may still read, but where the other end has closed it.
	a.load(asm.R2, atResult)
	a.add(asm.JNE.Imm(asm.R2, last, "out"))
	a.label("ends")
	a.register(atWord, 8, on.first)
	a.conn(atWord)
	s.cookie()
	a.add(asm.JEq.Imm(asm.R7, int32(opConnect), "opened"))
	a.lookup(a.maps.conns, atConn)
	a.add(asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Reg(regConn, asm.R0),
		asm.LoadMem(asm.R2, regConn, connCookie, asm.DWord), asm.JEq.Imm(asm.R2, 0, "close"))
	a.load(asm.R1, atCookie)
	a.add(asm.JNE.Reg(asm.R1, asm.R2, "out")) // another one has its descriptor already
	a.close()
	a.label("opened")
	a.arguments(on)
	a.connect(on)
	a.uring()
	a.report(on)
	return a.out
}

// syncBegin returns the program that runs when a filesystem begins to write a file to its disk.
func syncBegin(on *arch, m *sharedMaps) asm.Instructions {
	s := socketed{&assembler{maps: m}}
	a := entering(s)
	s.synchronizes(on)
	a.syncing()
	a.label("out")
	a.leave()
	return a.out
}

// syncEnd returns the program that runs when it has.
func syncEnd(on *arch, m *sharedMaps) asm.Instructions {
	s := socketed{&assembler{maps: m}}
	a := exiting(s)
	s.synchronizes(on)
	a.synced(on)
	a.report(on)
	return a.out
}

// socketed assembles what the programs at sockets have in common: the call that a thread is in is not
// given to them.
type socketed struct{ *assembler }

// synchronizes ends where the thread is not of a member in a call that writes a file to its disk; R1
// are the member's flags.
func (a socketed) synchronizes(on *arch) {
	a.who("out")
	a.called(on)
	a.distinguish(on, []op{opSync})
	a.add(asm.LoadMem(asm.R1, regMember, memberFlags, asm.Word))
}

// result sets R2 to what a socket returned, an int, and R8 to the socket.
func (a socketed) result() {
	a.add(asm.LoadMem(asm.R2, asm.R1, 8, asm.DWord), asm.LSh.Imm(asm.R2, 32), asm.ArSh.Imm(asm.R2, 32),
		asm.LoadMem(asm.R8, asm.R1, 0, asm.DWord))
}

// traffic ends where the thread is not of a member whose traffic is watched.
func (a socketed) traffic() {
	a.who("out")
	a.add(asm.LoadMem(asm.R1, regMember, memberFlags, asm.Word), asm.And.Imm(asm.R1, watchTraffic),
		asm.JEq.Imm(asm.R1, 0, "out"))
}

// called sets regRegisters and R7, the number of the system call that the thread is in.
func (a socketed) called(on *arch) {
	a.add(asm.FnGetCurrentTaskBtf.Call(), asm.Mov.Reg(asm.R1, asm.R0), asm.FnTaskPtRegs.Call(),
		asm.Mov.Reg(regRegisters, asm.R0))
	a.direct = on.name == runtime.GOARCH
	a.register(atWord, 4, on.number)
	a.add(asm.LoadMem(asm.R7, asm.R10, atWord, asm.Word))
}

// cookie stores what the kernel calls the socket in R8.
func (a socketed) cookie() {
	a.add(asm.Mov.Reg(asm.R1, asm.R8), asm.FnGetSocketCookie.Call())
	a.store(atCookie, asm.R0)
}

// served stores the role of who receives first on a connection that no one has opened: of TCP it serves.
func (a socketed) served() {
	other := a.fresh("other")
	a.set(atRole, roleUnknown)
	a.add(asm.Mov.Reg(asm.R1, asm.R8), asm.FnSkcToTcpSock.Call(), asm.JEq.Imm(asm.R0, 0, other))
	a.set(atRole, roleServer)
	a.label(other)
}

// socket sets regConn to the connection of the socket in R8. role stores the role of a new one.
func (a socketed) socket(on *arch, some []op, role func()) {
	a.traffic()
	a.called(on)
	a.distinguish(on, append([]op{opUring}, some...))
	a.add(asm.JEq.Imm(asm.R7, int32(opUring), "uring"))
	a.store(atOp, asm.R7)
	a.register(atWord, 8, on.first)
	a.conn(atWord)
	a.cookie()
	a.lookup(a.maps.conns, atConn)
	a.add(asm.JNE.Imm(asm.R0, 0, "found"))
	role()
	a.newConn(roleUnknown)
	a.lookup(a.maps.conns, atConn)
	a.add(asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Reg(regConn, asm.R0))
	a.goTo("begun")
	a.label("found")
	a.add(asm.LoadMem(asm.R2, asm.R0, connCookie, asm.DWord))
	a.load(asm.R1, atCookie)
	a.add(asm.JEq.Reg(asm.R1, asm.R2, "same"), asm.JEq.Imm(asm.R2, 0, "first"))
	a.store(atConnAt, asm.R0)
	role()
	a.add(asm.LoadMem(regConn, asm.R10, atConnAt, asm.DWord))
	a.replaced(on)
	a.label("begun")
	a.load(asm.R1, atRole)
	a.add(asm.StoreMem(regConn, connRole, asm.R1, asm.Word), asm.Mov.Reg(asm.R0, regConn))
	a.load(asm.R1, atCookie)
	a.label("first")
	a.add(asm.StoreMem(asm.R0, connCookie, asm.R1, asm.DWord))
	a.label("same")
	a.add(asm.Mov.Reg(regConn, asm.R0), asm.LoadMem(asm.R1, regConn, connProtocol, asm.Word),
		asm.JGE.Imm(asm.R1, protocolOther, "out"))
}

// replaced clears a connection whose descriptor is another one's now, and reports the end of one whose
// protocol is known.
func (a socketed) replaced(on *arch) {
	a.add(asm.LoadMem(asm.R1, regConn, connProtocol, asm.Word), asm.JEq.Imm(asm.R1, protocolUnknown, "unsaid"),
		asm.JGE.Imm(asm.R1, protocolOther, "unsaid"))
	a.findScratch("out")
	a.now()
	a.add(asm.StoreImm(asm.R10, atKind, int64(trace.Closed), asm.Word))
	reporting(a).head(on)
	a.add(asm.Mov.Imm(asm.R3, 0), asm.StoreMem(regScratch, eventSize, asm.R3, asm.Word), asm.Mov.Imm(asm.R3, eventHead))
	reporting(a).output("said")
	a.label("said")
	a.load(asm.R7, atOp)
	a.label("unsaid")
	a.add(asm.Mov.Imm(asm.R1, 0))
	for at := int16(0); at < connSize; at += 8 {
		a.add(asm.StoreMem(regConn, at, asm.R1, asm.DWord))
	}
}

// uring counts what io_uring moves.
func (a *assembler) uring() {
	a.label("uring")
	a.count(statUring)
	a.goTo("out")
}
