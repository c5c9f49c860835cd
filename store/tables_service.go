package store

import (
	"database/sql"
	"time"

	"github.com/kasoku/kasoku"
)

// The tables that schema 8 added: the service that was measured.

type processJSON struct {
	PID     int    `json:"pid"`
	Start   uint64 `json:"start,omitempty"`
	Leader  bool   `json:"leader,omitempty"`
	EndedNS int64  `json:"ended_ns,omitempty"`
}

func packProcess(p kasoku.MemberProcess) processJSON {
	return processJSON{p.PID, p.Start, p.Leader, int64(p.Ended)}
}

func unpackProcess(p processJSON) kasoku.MemberProcess {
	return kasoku.MemberProcess{PID: p.PID, Start: p.Start, Leader: p.Leader, Ended: time.Duration(p.EndedNS)}
}

type listenerJSON struct {
	Network string `json:"network"`
	Address string `json:"address"`
	Private bool   `json:"private,omitempty"`
}

func packListener(l kasoku.Listener) listenerJSON   { return listenerJSON(l) }
func unpackListener(l listenerJSON) kasoku.Listener { return kasoku.Listener(l) }

type blockJSON struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

func packBlock(b kasoku.ConfigBlock) blockJSON   { return blockJSON(b) }
func unpackBlock(b blockJSON) kasoku.ConfigBlock { return kasoku.ConfigBlock(b) }

type reasonJSON struct {
	By   string `json:"by"`
	Text string `json:"text"`
}

func packReason(r kasoku.Reason) reasonJSON { return reasonJSON{string(r.By), r.Text} }

func unpackReason(r reasonJSON) kasoku.Reason {
	return kasoku.Reason{By: kasoku.FoundBy(r.By), Text: r.Text}
}

func memberTable() table[kasoku.Member] {
	return tableOf("member", func(v *kasoku.Member) []column {
		return []column{
			{"member_id", textOf(&v.ID)}, {"role", textOf(&v.Role)}, {"program", textOf(&v.Program)},
			{"host", textOf(&v.Host)}, {"unit", textOf(&v.Unit)}, {"container", textOf(&v.Container)},
			{"cgroup", textOf(&v.Cgroup)}, {"processes", packedOf(&v.Processes, packProcess, unpackProcess)},
			{"listeners", packedOf(&v.Listeners, packListener, unpackListener)}, {"language", textOf(&v.Language)},
			{"framework", textOf(&v.Framework)}, {"version", textOf(&v.Version)}, {"workers", numberOf(&v.Workers)},
			{"threads", numberOf(&v.Threads)}, {"logs", jsonOf(&v.Logs)}, {"configs", jsonOf(&v.Configs)},
			{"max_files", numberOf(&v.Limits.OpenFiles)}, {"max_processes", numberOf(&v.Limits.Processes)},
			{"max_memory", numberOf(&v.Limits.MemoryBytes)}, {"max_cores", realOf(&v.Limits.Cores)},
			{"found", packedOf(&v.Found, packReason, unpackReason)}, {"sure", textOf(&v.Sure)},
			{"others", numberOf(&v.Others)}, {"blocks", packedOf(&v.Blocks, packBlock, unpackBlock)},
			{"cpus", textOf(&v.Limits.CPUs)},
		}
	})
}

func memberEdgeTable() table[kasoku.Edge] {
	return tableOf("member_edge", func(v *kasoku.Edge) []column {
		return []column{
			{"from_member", textOf(&v.From)}, {"to_member", textOf(&v.To)}, {"network", textOf(&v.At.Network)},
			{"address", textOf(&v.At.Address)}, {"private", flagOf(&v.At.Private)}, {"protocol", textOf(&v.Protocol)},
			{"seen", numberOf(&v.Seen)}, {"weak", flagOf(&v.Weak)},
			{"found", packedOf(&v.Found, packReason, unpackReason)},
		}
	})
}

func unseenTable() table[kasoku.Unseen] {
	return tableOf("unseen", func(v *kasoku.Unseen) []column {
		return []column{{"what", textOf(&v.What)}, {"why", textOf(&v.Why)}, {"show_by", textOf(&v.Show)}}
	})
}

// SaveService stores the service that is measured; nil removes it.
func (w *Writer) SaveService(s *kasoku.Service) error {
	if s == nil {
		s = &kasoku.Service{}
	}
	return w.saveTx("member", func(tx *sql.Tx) error {
		if err := memberTable().replace(tx, s.Members); err != nil {
			return err
		}
		if err := memberEdgeTable().replace(tx, s.Edges); err != nil {
			return err
		}
		return unseenTable().replace(tx, s.Unknown)
	})
}

// readService reads the service, nil when nothing of it was stored.
func readService(rd *reader) *kasoku.Service {
	s := kasoku.Service{Members: values(memberTable().read(rd)), Edges: values(memberEdgeTable().read(rd)),
		Unknown: values(unseenTable().read(rd))}
	if len(s.Members)+len(s.Edges)+len(s.Unknown) == 0 {
		return nil
	}
	return &s
}
