package kernel

// Places on the stack of both programs, from its end.
const (
	atThread = -8                               // u64: process and thread
	atConn   = -16                              // u64: process and descriptor
	atArgs   = -40                              // 24 bytes: the first three arguments
	atTotal  = -48                              // u64: bytes that the call moves
	atBuffer = -56                              // u64: where they are
	atPeek   = -64                              // 8 bytes: the first of them
	atCount  = -72                              // u64: parts of a scattered buffer
	atPart   = -88                              // 16 bytes: one of them, address and length
	atKind   = -96                              // u32: kind of event
	atCap    = -104                             // u64: the most bytes that are copied
	atCopied = -112                             // u64: bytes that are in the scratch already
	atTime   = -120                             // u64
	atTook   = -128                             // u64
	atWord   = -136                             // 8 bytes
	atNew    = -168                             // 32 bytes: a new conn, or a part of a goroutine
	atKey    = -176                             // u32: an index
	atResult = -184                             // u64: what the call returned
	atCookie = -192                             // u64: what the kernel calls the socket, and no other one
	atRole   = -200                             // u64: on a new connection
	atOp     = -208                             // u64: what the call does
	atConnAt = -216                             // u64: where the connection is kept
	atMember = -232                             // 12 bytes: a member
	atEvent  = atMember - eventHead - mostReply // a whole event
)

// The fields of a conn, a connection that is followed.
const (
	connRole     = 0  // u32
	connProtocol = 4  // u32
	connSince    = 8  // u64: when it was asked; 0 while nothing is awaited
	connReads    = 16 // u32: of the answer that are reported
	connCookie   = 24 // u64: of its socket; 0 when unknown
	connSize     = 32
)

// What a member does on a connection.
const (
	roleUnknown = 0
	roleServer  = 1
	roleClient  = 2
)

// What is spoken on a connection.
const (
	protocolUnknown = 0
	protocolHTTP    = 1
	protocolMySQL   = 2
	protocolFastCGI = 3
	protocolUWSGI   = 4
	protocolOther   = 8
	protocolTLS     = 9
)

// The fields of a member.
const (
	memberFlags  = 0 // u32
	memberGoid   = 4 // u32: offset of a goroutine's number in runtime.g; 0 where the program is not Go's
	memberParent = 8 // u32: and of its parent's
	memberSize   = 12
)

// The first members are in an array, where they are found with less work than in the map: each with its
// process before it, and after all of them whether there are more.
const (
	firstMembers = 4
	firstMember  = 4 // of a place, after its process
	firstSize    = firstMember + memberSize
	firstAll     = firstMembers*firstSize + 8
)

// mostParentAfter is how far a goroutine has its parent's number after its own, at most.
const mostParentAfter = 128

// startAfter is how far after its parent's number a goroutine has where it began, in all versions that
// are known.
const startAfter = 24

// The bits of a member's flags.
const (
	watchTraffic = 1
	watchSyncs   = 2
)

// The fields of an event before its bytes.
const (
	eventTime   = 0
	eventThread = 8
	eventGoid   = 16
	eventParent = 24
	eventTook   = 32
	eventTotal  = 40
	eventFD     = 48
	eventKind   = 52
	eventSize   = 56
	eventStart  = 60
	eventHead   = 64
)

// How many bytes are copied, at most.
const (
	mostText     = 8192 // of a statement
	mostRead     = 4096 // of what a client sends
	mostCall     = 1024 // of a request to another service
	mostReply    = 64   // of the answer of a database
	mostPart     = 4096 // of one part of a scattered buffer
	mostParts    = 4
	scratchAny   = eventHead + mostText + mostPart // u64: see forget
	scratchG     = scratchAny + 8                  // a part of a goroutine
	scratchGSize = mostParentAfter + startAfter + 8
	scratchSize  = scratchG + scratchGSize
)

// The numbers that are counted.
const (
	statLost    = iota // events for which the ring had no room
	statUnread         // buffers that could not be read
	statUnknown        // connections for which there was no room
	statUring          // calls of io_uring
	statCount
)
