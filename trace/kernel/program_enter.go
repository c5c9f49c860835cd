package kernel

import (
	"encoding/binary"

	"github.com/cilium/ebpf/asm"

	"github.com/kasoku/kasoku/trace"
)

// le returns the number that a processor reads where such a text begins. Both processors read
// the low byte first.
func le(text string) int32 { return int32(binary.LittleEndian.Uint32([]byte(text))) }

// methods are how requests of HTTP begin.
var methods = []string{"GET ", "POST", "PUT ", "HEAD", "DELE", "PATC", "OPTI"}

// Commands of the protocol of MySQL that are reported, and those of them that nothing answers.
const (
	commandQuery       = 0x03
	commandPing        = 0x0e
	commandPrepare     = 0x16
	commandExecute     = 0x17
	commandClose       = 0x19
	commandBulkExecute = 0xfa
)

// prepareReads is how many reads after the preparing of a statement are reported: some clients
// read the number of bytes first, and some send the first execution before they read.
const prepareReads = 4

// entering assembles the program that runs when a system call begins.
type entering struct{ *assembler }

// enter returns the program that runs when a system call begins.
func enter(on *arch, m *sharedMaps) asm.Instructions {
	a := entering{&assembler{maps: m}}
	a.add(asm.LoadMem(regRegisters, asm.R1, 0, asm.DWord), asm.LoadMem(asm.R7, asm.R1, 8, asm.DWord))
	a.distinguish(on, beginning)
	a.who("out")
	a.add(asm.LoadMem(asm.R1, regMember, memberFlags, asm.Word), asm.JEq.Imm(asm.R7, int32(opSync), "sync"))
	a.add(asm.And.Imm(asm.R1, watchTraffic), asm.JEq.Imm(asm.R1, 0, "out"), asm.JEq.Imm(asm.R7, int32(opUring), "uring"))
	a.arguments(on)
	a.conn(atArgs + on.arg[0])
	a.add(asm.JEq.Imm(asm.R7, int32(opConnect), "connect"))
	a.findConn()
	a.add(asm.JEq.Imm(asm.R7, int32(opClose), "close"))
	a.add(asm.LoadMem(asm.R1, regConn, connProtocol, asm.Word), asm.JGE.Imm(asm.R1, protocolOther, "out"))
	a.write(on)
	a.syncing()
	a.connect(on)
	a.close()
	a.uring()
	a.report(on)
	return a.out
}

// findConn sets regConn to the connection of the call. One that was never seen is
// added where the call is one of sockets alone.
func (a *assembler) findConn() {
	a.lookup(a.maps.conns, atConn)
	a.add(asm.JNE.Imm(asm.R0, 0, "found"))
	for _, o := range []op{opReceive, opReceiveMessage, opSend, opSendMessage} {
		a.add(asm.JEq.Imm(asm.R7, int32(o), "add"))
	}
	a.goTo("out")
	a.label("add")
	a.newConn(roleUnknown)
	a.lookup(a.maps.conns, atConn)
	a.add(asm.JEq.Imm(asm.R0, 0, "out"))
	a.label("found")
	a.add(asm.Mov.Reg(regConn, asm.R0))
}

// newConn follows the connection at atConn.
func (a *assembler) newConn(role int32) {
	added := a.fresh("added")
	for at := int16(0); at < connSize; at += 8 {
		a.set(atNew+at, 0)
	}
	a.add(asm.StoreImm(asm.R10, atNew+connRole, int64(role), asm.Word))
	a.update(a.maps.conns, atConn, atNew)
	a.add(asm.JEq.Imm(asm.R0, 0, added))
	a.count(statUnknown)
	a.label(added)
}

// syncing keeps when a sync begins.
func (a entering) syncing() {
	a.label("sync")
	a.add(asm.And.Imm(asm.R1, watchSyncs), asm.JEq.Imm(asm.R1, 0, "out"), asm.FnKtimeGetNs.Call())
	a.store(atTime, asm.R0)
	a.update(a.maps.syncs, atThread, atTime)
	a.goTo("out")
}

// connect follows a new connection to another process, and reports to where it leads.
func (a entering) connect(on *arch) {
	const mostAddress = 110 // sockaddr_un
	a.label("connect")
	a.newConn(roleClient)
	a.now()
	a.load(asm.R1, atArgs+on.arg[1])
	a.store(atBuffer, asm.R1)
	a.load(asm.R1, atArgs+on.arg[2])
	a.store(atTotal, asm.R1)
	a.event(trace.Connected, mostAddress)
}

// close forgets a connection, and reports the end of one whose protocol is known.
func (a entering) close() {
	a.label("close")
	a.add(asm.LoadMem(regScratch, regConn, connProtocol, asm.Word))
	a.remove(a.maps.conns, atConn)
	a.add(asm.JEq.Imm(regScratch, protocolUnknown, "out"), asm.JGE.Imm(regScratch, protocolOther, "out"))
	a.now()
	a.set(atTotal, 0)
	a.event(trace.Closed, 0)
}

// write looks at what is sent.
func (a entering) write(on *arch) {
	a.load(asm.R1, atArgs+on.arg[1])
	a.load(asm.R2, atArgs+on.arg[2])
	a.add(asm.JEq.Imm(asm.R7, int32(opSendMessage), "message"), asm.JEq.Imm(asm.R7, int32(opWritev), "parts"))
	a.store(atBuffer, asm.R1)
	a.store(atTotal, asm.R2)
	// What goes to a database is a command as a rule: it is copied once.
	a.add(asm.LoadMem(asm.R4, regConn, connProtocol, asm.Word), asm.JEq.Imm(asm.R4, protocolMySQL, "whole command"))
	a.add(asm.Mov.Reg(asm.R3, asm.R1))
	a.user(atPeek, 8)
	a.add(asm.JNE.Imm(asm.R0, 0, "out"))
	a.goTo("decide")
	a.command()
	a.message("out")
	a.label("parts")
	a.store(atBuffer, asm.R1)
	a.store(atCount, asm.R2)
	a.gather(false, "out")
	a.label("decide")
	a.decide()
}

// command copies all that is sent, R2 bytes, as what was gathered.
func (a entering) command() {
	a.label("whole command")
	a.add(asm.JLE.Imm(asm.R2, mostText, "all of it"), asm.Mov.Imm(asm.R2, mostText))
	a.label("all of it")
	a.add(asm.JEq.Imm(asm.R2, 0, "out"))
	a.store(atCopied, asm.R2)
	a.findScratch("out")
	a.load(asm.R2, atCopied)
	a.add(asm.Mov.Reg(asm.R1, regScratch), asm.Add.Imm(asm.R1, eventHead))
	a.load(asm.R3, atBuffer)
	a.add(asm.FnProbeReadUser.Call(), asm.JNE.Imm(asm.R0, 0, "out"), asm.LoadMem(asm.R1, regScratch, eventHead, asm.DWord))
	a.store(atPeek, asm.R1)
	a.goTo("decide")
}

// message reads where the parts of a message are: R1 is the address of a struct msghdr, and
// then of the parts, whose number is in R2.
func (a *assembler) message(none string) {
	const msgIov = 16
	a.label("message")
	a.add(asm.Mov.Reg(asm.R3, asm.R1), asm.Add.Imm(asm.R3, msgIov))
	a.user(atPart, 16)
	a.add(asm.JNE.Imm(asm.R0, 0, none))
	a.load(asm.R1, atPart)
	a.load(asm.R2, atPart+8)
}

// decide reports what is sent when it begins something.
func (a entering) decide() {
	a.now()
	a.add(asm.LoadMem(asm.R1, asm.R10, atPeek, asm.Word), asm.LoadMem(asm.R2, regConn, connRole, asm.Word),
		asm.LoadMem(asm.R3, regConn, connProtocol, asm.Word))
	a.add(asm.JEq.Imm(asm.R2, roleClient, "client"))
	a.add(asm.JEq.Imm(asm.R1, le("HTTP"), "serves"))
	a.add(asm.JNE.Imm(asm.R2, roleServer, "client"))
	a.add(asm.Mov.Reg(asm.R4, asm.R1), asm.And.Imm(asm.R4, 0xffff))
	const stdout, end, stderr = 0x0601, 0x0301, 0x0701 // version 1 of FastCGI, and the type
	a.add(asm.JEq.Imm(asm.R4, stdout, "answer"), asm.JEq.Imm(asm.R4, end, "answer"), asm.JEq.Imm(asm.R4, stderr,
		"answer"))
	a.goTo("out")

	a.label("client")
	a.add(asm.JEq.Imm(asm.R3, protocolHTTP, "methods"))
	a.add(asm.Mov.Reg(asm.R4, asm.R1), asm.RSh.Imm(asm.R4, 24), asm.LoadMem(asm.R5, asm.R10, atPeek+4, asm.Byte))
	a.add(asm.JEq.Imm(asm.R4, 0, "command"), asm.JNE.Imm(asm.R4, 1, "methods"), asm.JEq.Imm(asm.R3,
		protocolMySQL, "login"))
	a.label("methods")
	a.add(asm.JEq.Imm(asm.R3, protocolMySQL, "out"))
	for _, m := range methods {
		a.add(asm.JEq.Imm(asm.R1, le(m), "call"))
	}
	a.secured()
	a.goTo("out")

	a.label("command")
	for _, c := range []int32{commandQuery, commandPrepare, commandExecute, commandClose, commandPing,
		commandBulkExecute} {
		a.add(asm.JEq.Imm(asm.R5, c, "asked"))
	}
	a.goTo("methods")
	a.label("asked")
	a.add(asm.JEq.Imm(asm.R3, protocolMySQL, "surely"))
	a.load(asm.R4, atTotal)
	a.add(asm.Sub.Imm(asm.R4, 4), asm.JNE.Reg(asm.R4, asm.R1, "methods")) // its first bytes are its length
	a.label("surely")
	a.become(roleClient, protocolMySQL)
	a.add(asm.JEq.Imm(asm.R5, commandClose, "unanswered"), asm.Mov.Imm(asm.R1, 1), asm.JEq.Imm(asm.R5,
		commandPrepare, "several"), asm.JEq.Imm(asm.R5, commandExecute, "executed"), asm.JNE.Imm(asm.R5,
		commandBulkExecute, "once"))
	const last = 0xffffff // most of the number of what was prepared just now, which may not be answered
	a.label("executed")
	a.add(asm.LoadMem(asm.R4, asm.R10, atPeek+4, asm.Word), asm.RSh.Imm(asm.R4, 8), asm.JNE.Imm(asm.R4, last, "once"))
	a.label("several")
	a.add(asm.Mov.Imm(asm.R1, prepareReads))
	a.label("once")
	a.await()
	a.label("unanswered")
	a.event(trace.Asked, mostText)

	a.label("call")
	a.become(roleClient, protocolHTTP)
	a.add(asm.Mov.Imm(asm.R1, 1))
	a.await()
	a.event(trace.Called, mostCall)
	a.label("serves") // also where its request was read before all began: the next one may come a byte first
	a.become(roleServer, protocolHTTP)
	a.label("answer")
	a.event(trace.Answered, 64)
	a.label("login")
	a.event(trace.LoggedIn, 36)
}

// become says what is spoken on the connection.
func (a *assembler) become(role, protocol int32) {
	a.add(asm.StoreImm(regConn, connRole, int64(role), asm.Word), asm.StoreImm(regConn, connProtocol,
		int64(protocol), asm.Word))
}

// await waits for an answer, of which as many reads are reported as R1 says.
func (a entering) await() {
	a.add(asm.StoreMem(regConn, connReads, asm.R1, asm.Word))
	a.load(asm.R1, atTime)
	a.add(asm.StoreMem(regConn, connSince, asm.R1, asm.DWord))
}

// secured reports a connection that begins with a handshake of TLS; R1 is how it begins.
func (a entering) secured() {
	plain := a.fresh("plain")
	a.add(asm.And.Imm(asm.R1, 0xffff), asm.JNE.Imm(asm.R1, 0x0316, plain))
	a.add(asm.StoreImm(regConn, connProtocol, protocolTLS, asm.Word))
	a.event(trace.Secured, 4)
	a.label(plain)
}
