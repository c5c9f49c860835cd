package kernel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/kasoku/kasoku/trace"
)

// exiting assembles the program that runs when a system call returns.
type exiting struct{ *assembler }

// exit returns the program that runs when a system call returns.
func exit(on *arch, m *sharedMaps) asm.Instructions {
	a := exiting{&assembler{maps: m}}
	a.add(asm.LoadMem(regRegisters, asm.R1, 0, asm.DWord), asm.LoadMem(asm.R2, asm.R1, 8, asm.DWord))
	a.add(asm.JSLT.Imm(asm.R2, 0, "out"))
	a.store(atResult, asm.R2)
	a.register(atWord, 4, on.number)
	a.add(asm.LoadMem(asm.R7, asm.R10, atWord, asm.Word))
	a.distinguish(on, returning)
	a.who("out")
	a.add(asm.LoadMem(asm.R1, regMember, memberFlags, asm.Word), asm.JEq.Imm(asm.R7, int32(opSync), "synced"))
	a.add(asm.And.Imm(asm.R1, watchTraffic), asm.JEq.Imm(asm.R1, 0, "out"), asm.JEq.Imm(asm.R7, int32(opAccept), "accepted"))
	a.load(asm.R1, atResult)
	a.add(asm.JEq.Imm(asm.R1, 0, "out"))
	a.store(atTotal, asm.R1)
	a.register(atWord, 8, on.first)
	a.conn(atWord)
	a.findConn()
	a.came(on, "out")
	a.accepted()
	a.synced(on)
	a.report(on)
	return a.out
}

// came reports what a call brought on a connection when that begins something. Without a
// buffer it goes to none.
func (a exiting) came(on *arch, none string) {
	a.add(asm.LoadMem(asm.R1, regConn, connProtocol, asm.Word), asm.JGE.Imm(asm.R1, protocolOther, "out"))
	// A client reads what it waits for, or what is said first on a new connection.
	a.add(asm.LoadMem(asm.R2, regConn, connRole, asm.Word), asm.JNE.Imm(asm.R2, roleClient, "of interest"),
		asm.JEq.Imm(asm.R1, protocolUnknown, "of interest"))
	a.add(asm.LoadMem(asm.R1, regConn, connSince, asm.DWord), asm.JEq.Imm(asm.R1, 0, "out"))
	a.label("of interest")
	a.arguments(on)
	a.now()
	a.load(asm.R1, atArgs+on.arg[1])
	a.load(asm.R2, atArgs+on.arg[2])
	a.add(asm.JEq.Imm(asm.R1, 0, none))
	a.store(atBuffer, asm.R1)
	a.store(atCount, asm.R2)
	// What was awaited is not looked at here, where it is in one place.
	a.add(asm.LoadMem(asm.R1, regConn, connRole, asm.Word), asm.JNE.Imm(asm.R1, roleClient, "peek"),
		asm.LoadMem(asm.R4, regConn, connSince, asm.DWord), asm.JEq.Imm(asm.R4, 0, "peek"),
		asm.JEq.Imm(asm.R7, int32(opRead), "reply"), asm.JEq.Imm(asm.R7, int32(opReceive), "reply"))
	a.label("peek")
	a.peek()
	a.judge()
}

// synced reports what was written to a disk, and how long that took.
func (a exiting) synced(on *arch) {
	a.label("synced")
	a.lookup(a.maps.syncs, atThread)
	a.add(asm.JEq.Imm(asm.R0, 0, "out"), asm.LoadMem(regScratch, asm.R0, 0, asm.DWord))
	a.remove(a.maps.syncs, atThread)
	a.register(atWord, 8, on.first)
	a.conn(atWord)
	a.now()
	a.add(asm.Sub.Reg(asm.R0, regScratch))
	a.store(atTook, asm.R0)
	a.set(atTotal, 0)
	a.event(trace.Synced, 0)
}

// peek reads the first bytes of what came.
func (a exiting) peek() {
	a.load(asm.R1, atBuffer)
	a.load(asm.R2, atCount)
	a.add(asm.JEq.Imm(asm.R7, int32(opReceiveMessage), "message"), asm.JEq.Imm(asm.R7, int32(opReadv), "parts"))
	a.set(atPeek, 0)
	a.load(asm.R2, atTotal)
	a.add(asm.JLE.Imm(asm.R2, 8, "few"), asm.Mov.Imm(asm.R2, 8))
	a.label("few")
	a.stack(asm.R1, atPeek)
	a.load(asm.R3, atBuffer)
	a.add(asm.FnProbeReadUser.Call(), asm.JNE.Imm(asm.R0, 0, "out"))
	a.goTo("judge")
	a.message("out")
	a.label("parts")
	a.store(atBuffer, asm.R1)
	a.store(atCount, asm.R2)
	a.gather(true, "out")
	a.label("judge")
}

// judge reports what came when it is an answer that is waited for, or of a client.
func (a exiting) judge() {
	a.add(asm.LoadMem(asm.R1, asm.R10, atPeek, asm.Word), asm.LoadMem(asm.R2, regConn, connRole, asm.Word),
		asm.LoadMem(asm.R3, regConn, connProtocol, asm.Word))
	a.add(asm.JEq.Imm(asm.R2, roleServer, "server"))
	a.add(asm.LoadMem(asm.R4, regConn, connSince, asm.DWord), asm.JNE.Imm(asm.R4, 0, "reply"))
	a.add(asm.JNE.Imm(asm.R3, protocolUnknown, "out"))
	a.greeted()
	a.add(asm.JEq.Imm(asm.R2, roleClient, "out"))
	a.request()
	a.uwsgi()
	// A connection that was encrypted before all began: records of TLS with data.
	const data = 0x0317
	a.add(asm.And.Imm(asm.R1, 0xffff), asm.JNE.Imm(asm.R1, data, "out"),
		asm.StoreImm(regConn, connProtocol, protocolTLS, asm.Word))
	a.event(trace.Foreign, 8)

	a.label("server")
	a.add(asm.JNE.Imm(asm.R3, protocolUnknown, "read"), asm.JEq.Imm(asm.R1, le("HTTP"), "called before"))
	a.greeted()
	a.request()
	a.load(asm.R4, atTotal)
	a.add(asm.JLT.Imm(asm.R4, 4, "http")) // the first byte alone, as Go's net/http reads it
	a.uwsgi()
	// The answer of a database, whose connection was opened just before all began: a short packet of number 1 or 2.
	a.add(asm.Mov.Reg(asm.R4, asm.R1), asm.RSh.Imm(asm.R4, 16), asm.JEq.Imm(asm.R4, 0x0100, "unsure"),
		asm.JNE.Imm(asm.R4, 0x0200, "foreign"))
	a.label("unsure")
	a.add(asm.StoreImm(regConn, connRole, roleUnknown, asm.Word))
	a.goTo("out")
	a.label("called before") // an answer: who reads it had opened the connection just before all began
	a.become(roleClient, protocolHTTP)
	a.goTo("out")
	a.label("foreign")
	a.add(asm.StoreImm(regConn, connProtocol, protocolOther, asm.Word))
	a.event(trace.Foreign, 8)
	a.label("http")
	a.become(roleServer, protocolHTTP)
	a.goTo("read")
	a.label("uwsgi")
	a.become(roleServer, protocolUWSGI)
	a.goTo("read")
	a.label("fastcgi")
	a.become(roleServer, protocolFastCGI)
	a.label("read")
	a.event(trace.Read, mostRead)

	a.label("greeting")
	a.become(roleClient, protocolMySQL)
	a.event(trace.Greeted, 5)

	a.label("reply")
	a.load(asm.R5, atTime)
	a.add(asm.Sub.Reg(asm.R5, asm.R4))
	a.store(atTook, asm.R5)
	a.add(asm.LoadMem(asm.R5, regConn, connReads, asm.Word), asm.JLE.Imm(asm.R5, 1, "last"))
	a.add(asm.Sub.Imm(asm.R5, 1), asm.StoreMem(regConn, connReads, asm.R5, asm.Word))
	a.goTo("replied")
	a.label("last")
	a.add(asm.Mov.Imm(asm.R5, 0), asm.StoreMem(regConn, connSince, asm.R5, asm.DWord))
	a.replied()
}

// replied reports an answer, of which there are as many as of all else. Who gets it has asked; and what
// is made on the stack costs less.
func (a exiting) replied() {
	a.label("replied")
	a.load(asm.R2, atCopied)
	a.add(asm.JNE.Imm(asm.R2, 0, "gathered reply"))
	a.add(asm.Mov.Imm(asm.R1, 0))
	for at := int16(0); at < eventHead+mostReply; at += 8 {
		a.store(atEvent+at, asm.R1)
	}
	for _, f := range []field{{eventTime, atTime}, {eventThread, atThread}, {eventTook, atTook}, {eventTotal, atTotal}} {
		a.load(asm.R1, f.at)
		a.store(atEvent+f.offset, asm.R1)
	}
	a.load(asm.R1, atConn)
	a.add(asm.StoreMem(asm.R10, atEvent+eventFD, asm.R1, asm.Word),
		asm.StoreImm(asm.R10, atEvent+eventKind, int64(trace.Replied), asm.Word))
	a.load(asm.R2, atTotal)
	a.add(asm.JLE.Imm(asm.R2, mostReply, "short reply"), asm.Mov.Imm(asm.R2, mostReply))
	a.label("short reply")
	a.add(asm.StoreMem(asm.R10, atEvent+eventSize, asm.R2, asm.Word))
	a.stack(asm.R1, atEvent+eventHead)
	a.load(asm.R3, atBuffer)
	a.add(asm.FnProbeReadUser.Call(), asm.JEq.Imm(asm.R0, 0, "read reply"))
	a.add(asm.StoreImm(asm.R10, atEvent+eventSize, 0, asm.Word))
	a.count(statUnread)
	a.label("read reply")
	a.add(asm.LoadMapPtr(asm.R1, a.maps.ring.FD()))
	a.stack(asm.R2, atEvent)
	a.add(asm.Mov.Imm(asm.R3, eventHead+mostReply), asm.Mov.Imm(asm.R4, noWakeup), asm.FnRingbufOutput.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"))
	a.count(statLost)
	a.goTo("out")
	a.label("gathered reply")
	a.event(trace.Replied, mostReply)
}

// greeted goes on where the bytes in R1 are what a database says first: a packet of number 0, version 10
// of the protocol.
func (a exiting) greeted() {
	const greeting = 10
	no := a.fresh("no_greeting")
	a.add(asm.Mov.Reg(asm.R4, asm.R1), asm.RSh.Imm(asm.R4, 24), asm.LoadMem(asm.R5, asm.R10, atPeek+4, asm.Byte))
	a.add(asm.JNE.Imm(asm.R4, 0, no), asm.JEq.Imm(asm.R5, greeting, "greeting"))
	a.label(no)
}

// request goes on where the bytes in R1 begin a request of HTTP or FastCGI.
func (a exiting) request() {
	for _, m := range methods {
		a.add(asm.JEq.Imm(asm.R1, le(m), "http"))
	}
	const begin = 0x0101 // version 1 of FastCGI, FCGI_BEGIN_REQUEST
	a.add(asm.Mov.Reg(asm.R4, asm.R1), asm.And.Imm(asm.R4, 0xffff), asm.JEq.Imm(asm.R4, begin, "fastcgi"))
}

// uwsgi goes on where the bytes in R1 are the head of a request of uwsgi's protocol, alone, or with all the
// variables that it announces and what may come after them.
func (a exiting) uwsgi() {
	const fewest = 16 // bytes of variables, of which there are some
	no := a.fresh("no_uwsgi")
	a.add(asm.Mov.Reg(asm.R4, asm.R1), asm.And.Imm(asm.R4, 0xff), asm.JNE.Imm(asm.R4, 0, no), // modifiers
		asm.Mov.Reg(asm.R4, asm.R1), asm.RSh.Imm(asm.R4, 24), asm.JNE.Imm(asm.R4, 0, no),
		asm.Mov.Reg(asm.R5, asm.R1), asm.RSh.Imm(asm.R5, 8), asm.JLT.Imm(asm.R5, fewest, no))
	a.load(asm.R4, atTotal)
	a.add(asm.Sub.Imm(asm.R4, 4), asm.JEq.Imm(asm.R4, 0, "uwsgi"), asm.JGE.Reg(asm.R4, asm.R5, "uwsgi"))
	a.label(no)
}

// accepted follows a connection that a client opened.
func (a exiting) accepted() {
	a.label("accepted")
	a.load(asm.R1, atResult)
	a.add(asm.JSLT.Imm(asm.R1, 0, "out"))
	a.load(asm.R2, atThread)
	a.add(asm.RSh.Imm(asm.R2, 32), asm.LSh.Imm(asm.R2, 32), asm.Or.Reg(asm.R2, asm.R1))
	a.store(atConn, asm.R2)
	a.newConn(roleServer)
	a.goTo("out")
}
