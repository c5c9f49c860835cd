package settings

import (
	"time"

	"github.com/kasoku/kasoku/mysql"
)

// Input is all that the checks look at. What was not read is nil or zero, and a
// [Lack] says why.
type Input struct {
	Host      string // of the server, as a run names it
	Variables map[string]string
	Status    map[string]float64 // the last reading of the numeric status variables
	Words     map[string]string  // status variables that are no numbers
	Grown     map[string]float64 // growth over Window; nil: since the server was started
	Window    time.Duration      // that Grown covers
	Load      bool               // the window is one of load: a run, or one that somebody asked for
	Over      string             // names the window: "34 s of load"
	Disturbed map[string]string  // status variables that the recording itself distorted, and why

	Memory       Memory
	System       System
	Schema       *Schema
	Transactions *Transactions
	Readers      int      // of the binary log: replicas that are connected
	Replica      *Replica // nil when unknown; see Replica.Is
	Accounts     []Account
	AccountsRead bool
	SchemaMemory uint64 // that performance_schema holds
	Account      string // that was asked, quoted for GRANT

	Lacks []Lack
}

// A Part is something that is read at once, and may be missing.
type Part string

// The parts.
const (
	PartVariables    Part = "variables"
	PartStatus       Part = "status"
	PartTables       Part = "tables"
	PartIndexes      Part = "indexes"
	PartUsage        Part = "index usage"
	PartMemory       Part = "memory"
	PartOthers       Part = "other processes"
	PartSystem       Part = "operating system"
	PartCores        Part = "cores"
	PartDisk         Part = "kind of disk"
	PartDiskTime     Part = "disk times"
	PartTransactions Part = "transactions"
	PartReaders      Part = "readers of the binary log"
	PartReplica      Part = "replication"
	PartAccounts     Part = "accounts"
)

// A Lack is why a part is missing, and what would show it.
type Lack struct {
	Part  Part
	Why   string
	Grant string // a line to be pasted, or an option; may be empty
}

// miss notes that parts are missing, why, and what would show them.
func (in *Input) miss(why, grant string, parts ...Part) {
	for _, p := range parts {
		in.Lacks = append(in.Lacks, Lack{p, string(p) + ": " + why, grant})
	}
}

// Memory is what the server may use.
type Memory struct {
	RAM    uint64 // 0 when unknown
	From   string // "memory limit of the control group mariadb.service", "memory of the host"
	Others uint64 // memory of the other processes below that limit
	Seen   bool   // Others was read
	Said   bool   // RAM is what somebody says that the server may take
	// MostOpen is the most connections that were open since the server was started, where Status
	// has those of the window; 0: as Status has it.
	MostOpen float64
}

// left is what others do not use.
func (m *Memory) left() float64 {
	if !m.Seen {
		return float64(m.RAM)
	}
	return max(float64(m.RAM)-float64(m.Others), 0)
}

// limit takes the limit of a control group in which others use so much, where it leaves the
// server less than the memory does.
func (m *Memory) limit(bytes, others uint64, group string) {
	if m.RAM == 0 || bytes-min(others, bytes) < m.RAM-min(m.Others, m.RAM) {
		m.RAM, m.From, m.Others = bytes, "memory limit of the control group "+group, others
	}
}

// System is what the operating system of the server's host says.
type System struct {
	Cores      int
	Rotational *bool // the data directory's disk turns; nil when unknown
	FreeBytes  uint64
	Settings   map[string]string // vm.swappiness …; nil when unknown
	WriteTime  time.Duration     // mean time of a write to the busiest disk over the window
	Writes     float64           // that it is the mean of; 0 when unknown
}

// Schema is what the account sees of the users' tables.
type Schema struct {
	Partial bool // there may be tables that it does not see
	Tables  []Table
	Indexes []mysql.Index
	Uses    map[string]uint64 // accesses by "schema.table.index"; nil when unknown
}

// A Table is one base table.
type Table struct {
	mysql.Table
	FreeBytes uint64
	Next      uint64 // AUTO_INCREMENT, 0 without
	AutoType  string // type of that column: int(11) unsigned
}

// Transactions is what needs to see other sessions.
type Transactions struct {
	Oldest  time.Duration
	History float64 // old versions of rows that are not yet removed
	Counted bool    // History was read
}

// Replica is how far a replica is.
type Replica struct {
	Is        bool
	IO, SQL   string // Yes, No, Connecting
	Lag       time.Duration
	LagKnown  bool
	LastError string
}

// An Account is one user of the server.
type Account struct {
	User, Host string
	NoPassword bool
	SocketOnly bool // the operating system says who it is
	Super      bool
}
