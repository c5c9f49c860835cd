package sockets

import (
	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// The keys of the signals of the source "sockets".
const (
	AcceptQueue    = "accept.queue"
	AcceptLimit    = "accept.limit"
	AcceptSockets  = "accept.sockets"
	AcceptDrops    = "accept.drops"
	TCPEstablished = "tcp.established"
	TCPTimeWait    = "tcp.time_wait"
	TCPCloseWait   = "tcp.close_wait"
	TCPSynSent     = "tcp.syn_sent"
	PortsRange     = "ports.range"
)

// Declared describes the source.
var Declared = observe.Declaration{
	Name: Name,
	Role: observe.RoleHost,
	Records: "of each listener: connections that wait to be accepted, how many may, how many were " +
		"refused, and who owns it; connections by port and state, `time_wait` among them; how " +
		"many ports there are",
	From:   "netlink (`sock_diag`), else `/proc/net/tcp`",
	Rights: "owners of other users' listeners: root",
	Lost:   "at which listener connections waited, and whose they are",
	Signals: []observe.Signal{
		{Key: AcceptQueue, Unit: "count", Entity: "listener", Label: "connections to accept"},
		{Key: AcceptLimit, Unit: "count", Entity: "listener", Label: "most connections to accept"},
		{Key: AcceptSockets, Unit: "count", Entity: "listener", Label: "sockets that share it"},
		{Key: AcceptDrops, Unit: "count", Kind: kasoku.Counter, Entity: "listener", Label: "connections refused"},
		{Key: TCPEstablished, Unit: "count", Entity: "port", Label: "connections established"},
		{Key: TCPTimeWait, Unit: "count", Entity: "port", Label: "connections in TIME_WAIT"},
		{Key: TCPCloseWait, Unit: "count", Entity: "port", Label: "connections in CLOSE_WAIT"},
		{Key: TCPSynSent, Unit: "count", Entity: "port", Label: "connections being opened"},
		{Key: PortsRange, Unit: "count", Label: "ports to connect from"},
	},
}
