package kernel

import (
	"github.com/cilium/ebpf/asm"

	"github.com/kasoku/kasoku/trace"
)

// exit returns the program that runs when a system call returns.
func exit(on *arch, m *sharedMaps) asm.Instructions {
	a := &assembler{maps: m}
	a.add(asm.LoadMem(regRegisters, asm.R1, 0, asm.DWord), asm.LoadMem(asm.R2, asm.R1, 8, asm.DWord))
	a.store(atResult, asm.R2)
	a.add(asm.FnGetCurrentPidTgid.Call())
	a.store(atThread, asm.R0)
	a.lookup(m.pending, atThread)
	a.add(asm.JEq.Imm(asm.R0, 0, "out"))
	for _, f := range []field{{pendingConn, atConn}, {pendingBuffer, atBuffer}, {pendingCount, atCount},
		{pendingSince, atTook}} {
		a.add(asm.LoadMem(asm.R1, asm.R0, f.offset, asm.DWord))
		a.store(f.at, asm.R1)
	}
	a.add(asm.LoadMem(asm.R7, asm.R0, pendingOp, asm.DWord))
	a.remove(m.pending, atThread)
	a.who("out")
	a.add(asm.FnKtimeGetNs.Call())
	a.store(atTime, asm.R0)
	a.set(atCopied, 0)
	a.add(asm.JEq.Imm(asm.R7, int32(opAccept), "accepted"), asm.JEq.Imm(asm.R7, int32(opSync), "synced"))
	a.load(asm.R1, atResult)
	a.add(asm.JSLE.Imm(asm.R1, 0, "out"))
	a.store(atTotal, asm.R1)
	a.lookup(m.conns, atConn)
	a.add(asm.JEq.Imm(asm.R0, 0, "out"), asm.Mov.Reg(regConn, asm.R0))
	a.peek()
	a.set(atTook, 0)
	a.judge()
	a.accepted()
	a.label("synced")
	a.load(asm.R1, atTime)
	a.load(asm.R2, atTook)
	a.add(asm.Sub.Reg(asm.R1, asm.R2))
	a.store(atTook, asm.R1)
	a.set(atTotal, 0)
	a.event(trace.Synced, 0)
	a.report(on)
	return a.out
}

// peek reads the first bytes of what came.
func (a *assembler) peek() {
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
func (a *assembler) judge() {
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
func (a *assembler) request() {
	for _, m := range methods {
		a.add(asm.JEq.Imm(asm.R1, le(m), "http"))
	}
	const begin = 0x0101 // version 1 of FastCGI, FCGI_BEGIN_REQUEST
	a.add(asm.Mov.Reg(asm.R4, asm.R1), asm.And.Imm(asm.R4, 0xffff), asm.JEq.Imm(asm.R4, begin, "fastcgi"))
}

// accepted follows a connection that a client opened.
func (a *assembler) accepted() {
	a.label("accepted")
	a.load(asm.R1, atResult)
	a.add(asm.JSLT.Imm(asm.R1, 0, "out"))
	a.load(asm.R2, atThread)
	a.add(asm.RSh.Imm(asm.R2, 32), asm.LSh.Imm(asm.R2, 32), asm.Or.Reg(asm.R2, asm.R1))
	a.store(atConn, asm.R2)
	a.newConn(roleServer)
	a.goTo("out")
}
