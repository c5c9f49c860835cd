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
	a.store(atBuffer, asm.R1)
	a.store(atCount, asm.R2)
	a.peek()
	a.judge()
	a.accepted()
	a.synced(on)
	a.report(on)
	return a.out
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
	// A database speaks first: a packet of number 0, version 10 of the protocol.
	const greeting = 10
	a.add(asm.Mov.Reg(asm.R4, asm.R1), asm.RSh.Imm(asm.R4, 24), asm.LoadMem(asm.R5, asm.R10, atPeek+4, asm.Byte))
	a.add(asm.JNE.Imm(asm.R4, 0, "request"), asm.JEq.Imm(asm.R5, greeting, "greeting"))
	a.label("request")
	a.add(asm.JEq.Imm(asm.R2, roleClient, "out"))
	a.request()
	// A connection that was encrypted before all began: records of TLS with data.
	const data = 0x0317
	a.add(asm.And.Imm(asm.R1, 0xffff), asm.JNE.Imm(asm.R1, data, "out"),
		asm.StoreImm(regConn, connProtocol, protocolTLS, asm.Word))
	a.event(trace.Foreign, 8)

	a.label("server")
	a.add(asm.JNE.Imm(asm.R3, protocolUnknown, "read"))
	a.request()
	a.load(asm.R4, atTotal)
	a.add(asm.JLT.Imm(asm.R4, 4, "http")) // the first byte alone, as Go's net/http reads it
	a.add(asm.StoreImm(regConn, connProtocol, protocolOther, asm.Word))
	a.event(trace.Foreign, 8)
	a.label("http")
	a.become(roleServer, protocolHTTP)
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
	a.event(trace.Replied, 64)
	a.label("last")
	a.add(asm.Mov.Imm(asm.R5, 0), asm.StoreMem(regConn, connSince, asm.R5, asm.DWord))
	a.event(trace.Replied, 64)
}

// request goes on where the bytes in R1 begin a request of HTTP or FastCGI.
func (a exiting) request() {
	for _, m := range methods {
		a.add(asm.JEq.Imm(asm.R1, le(m), "http"))
	}
	const begin = 0x0101 // version 1 of FastCGI, FCGI_BEGIN_REQUEST
	a.add(asm.Mov.Reg(asm.R4, asm.R1), asm.And.Imm(asm.R4, 0xffff), asm.JEq.Imm(asm.R4, begin, "fastcgi"))
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
