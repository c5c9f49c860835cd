package protocol

import (
	"bytes"
	"encoding/binary"
)

// Commands of the protocol of MySQL.
// https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_command_phase.html
const (
	Query       = 0x03
	Ping        = 0x0e
	Prepare     = 0x16
	Execute     = 0x17
	CloseStmt   = 0x19
	BulkExecute = 0xfa // MariaDB
)

// LastPrepared is the number that MariaDB's clients give for the statement that they prepared just now.
const LastPrepared = 0xffffffff

const packetHead = 4

// A Command is one that a client sends to a database.
type Command struct {
	Code      byte
	Text      []byte // of Query and Prepare
	Statement uint32 // of Execute and CloseStmt
	Values    []byte // of Execute, as [Filled] takes them
	Cut       bool   // Text is not whole
}

// Commands calls each with the commands in the bytes of one write, of which there were
// total in all. The text belongs to the bytes.
func Commands(b []byte, each func(Command)) {
	for len(b) > packetHead {
		size := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		first := b[3] == 0 // of a command
		body := b[packetHead:min(len(b), packetHead+size)]
		if first && len(body) > 0 {
			c := Command{Code: body[0], Cut: len(body) < size || size == 0xffffff}
			switch c.Code {
			case Query, Prepare:
				c.Text = body[1:]
				each(c)
			case Execute, CloseStmt, BulkExecute:
				if len(body) >= 5 {
					c.Statement, c.Values = binary.LittleEndian.Uint32(body[1:]), body[5:]
					each(c)
				}
			case Ping:
				each(c)
			}
		}
		if len(b) <= packetHead+size {
			return
		}
		b = b[packetHead+size:]
	}
}

// ExecutesLast reports whether bytes begin with the execution of what was prepared just now, whose answer the
// client need not have.
func ExecutesLast(b []byte) bool {
	return len(b) >= packetHead+5 && b[3] == 0 && (b[packetHead] == Execute || b[packetHead] == BulkExecute) &&
		binary.LittleEndian.Uint32(b[packetHead+1:]) == LastPrepared
}

// QueryText returns the SQL of a command: clients that send attributes put them before it.
// They do so with CLIENT_QUERY_ATTRIBUTES, of which the number of parameters, 0, and of sets,
// 1, are left when there are none. Where there are some it returns nil: they are values.
func QueryText(text []byte) []byte {
	switch {
	case len(text) == 0:
		return text
	case len(text) >= 2 && text[1] == 1:
		if text[0] == 0 {
			return text[2:]
		}
		return nil
	case text[0] < ' ' && bytes.IndexByte([]byte("\t\n\r"), text[0]) < 0:
		return nil
	}
	return text
}

// A Reply is what a database says first in its answer to a command.
type Reply struct {
	OK, Failed bool
	Statement  uint32 // of a statement that was prepared
	Known      bool   // InTransaction is
	// InTransaction reports whether a transaction is open after the command.
	InTransaction bool
	// Manual reports whether the transaction that a next statement begins stays open: autocommit is off.
	Manual bool
}

// ReadReply reads the first packet of an answer; prepared says that it is that of a Prepare.
// It returns false where too little of it is there.
func ReadReply(b []byte, prepared bool) (r Reply, ok bool) {
	if len(b) < packetHead+1 {
		return r, false
	}
	body := b[packetHead:]
	switch {
	case body[0] == 0xff:
		r.Failed = true
	case body[0] == 0 && prepared:
		if len(body) < 5 {
			return r, false
		}
		r.OK, r.Statement = true, binary.LittleEndian.Uint32(body[1:])
	case body[0] == 0:
		r.OK = true
		at := 1
		for range 2 { // affected rows, last id
			if at >= len(body) {
				return r, true
			}
			at += lengthOf(body[at])
		}
		if at+2 <= len(body) {
			const inTransaction, autocommit = 1, 2
			r.Known, r.InTransaction, r.Manual = true, body[at]&inTransaction != 0, body[at]&autocommit == 0
		}
	}
	return r, true
}

// lengthOf returns how many bytes a number takes that begins so.
func lengthOf(first byte) int {
	switch first {
	case 0xfc:
		return 3
	case 0xfd:
		return 4
	case 0xfe:
		return 9
	}
	return 1
}

// What a client asks for when it logs in.
const (
	clientCompress = 1 << 5
	clientSSL      = 1 << 11
	clientZstd     = 1 << 26
)

// Login reports what of a session cannot be read: that it is encrypted, or compressed.
func Login(b []byte) (encrypted, compressed bool) {
	if len(b) < packetHead+4 {
		return false, false
	}
	flags := binary.LittleEndian.Uint32(b[packetHead:])
	return flags&clientSSL != 0, flags&(clientCompress|clientZstd) != 0
}
