package settings

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// Thresholds of the system.
const (
	mostSwappiness = 10
	leastAsync     = 1000000
	// leastForSchema is the memory from which performance_schema is proposed.
	leastForSchema = 4 << 30
)

// instrumentChecks come first: what performance_schema takes is lost to the pool.
func instrumentChecks() []*check {
	return []*check{{
		id: "MYS-40", area: areaSystem, title: "what the server reports its statements", weight: remark,
		formula: "performance_schema", threshold: "OFF", run: checkInstruments,
	}}
}

func systemChecks() []*check {
	return []*check{
		{
			id: "MYS-40", area: areaSystem, title: "settings of the kernel", weight: remark,
			formula: "vm.swappiness, fs.aio-max-nr", threshold: "> 10; < 1,000,000", needs: []Part{PartSystem},
			run: checkKernel,
		},
		{
			id: "MYS-40", area: areaSystem, title: "accounts", weight: remark,
			formula: "accounts without a name, without a password, from any host", threshold: "any",
			needs: []Part{PartAccounts}, run: checkAccounts,
		},
		{
			id: "MYS-40", area: areaSystem, title: "encryption of connections", weight: remark,
			formula: "have_ssl, tls_version", threshold: "not YES; below TLSv1.2", run: checkEncryption,
			absent: func(s *state) string {
				if b := s.Variables["bind_address"]; b == "127.0.0.1" || b == "localhost" || b == "::1" ||
					on(s.Variables["skip_networking"]) {
					return "the server listens on this host only"
				}
				return ""
			},
		},
	}
}

func checkInstruments(l *look) {
	if on(l.need("performance_schema")) {
		l.well("ON")
		return
	}
	f := found{
		title: "The server does not report its statements, waits and unused indexes", measured: "OFF", level: kasoku.Low,
		gain: "`kasoku digest`, and which indexes nothing uses",
		note: "The slow log reports most of it without a restart.",
	}
	if l.Memory.RAM >= leastForSchema {
		f.changes = l.to("performance_schema", "ON")
		f.price = "About " + sizeWords(schemaMemory) + ", and a few per cent of CPU"
	}
	l.fire(f)
}

func checkKernel(l *look) {
	set := func(name string) (float64, bool) {
		v, ok := parseNumber(l.System.Settings[name])
		return v, ok
	}
	swappiness, ok1 := set("vm.swappiness")
	async, ok2 := set("fs.aio-max-nr")
	if !ok1 && !ok2 {
		l.blindly("neither vm.swappiness nor fs.aio-max-nr was read", "")
		return
	}
	if ok1 && swappiness > mostSwappiness {
		l.fire(found{
			title: "The kernel swaps early", measured: countWords(swappiness), level: kasoku.Low, formula: "vm.swappiness",
			limit: "> 10",
			gain:  "The buffer pool stays in memory",
			note:  "As root: sysctl -w vm.swappiness=10; in /etc/sysctl.d for the next boot. Without swap it does nothing.",
		})
	}
	if ok2 && async < leastAsync {
		l.fire(found{
			title: "Few requests to disks may be under way at once", measured: countWords(async), level: kasoku.Low,
			formula: "fs.aio-max-nr", limit: "< 1,000,000",
			gain: "Several servers on one host can use native asynchronous I/O",
			note: "As root: sysctl -w fs.aio-max-nr=1048576; only with more than a few servers on the host.",
		})
	}
	if len(l.advice) == 0 {
		l.well("vm.swappiness %s, fs.aio-max-nr %s", countWords(swappiness), countWords(async))
	}
}

// checkAccounts is for information: what is right depends on who can reach the server.
func checkAccounts(l *look) {
	var nameless, open, anywhere []string
	for _, a := range l.Accounts {
		who := a.User + "@" + a.Host
		switch {
		case a.User == "":
			nameless = append(nameless, "''@"+a.Host)
		case a.NoPassword:
			open = append(open, who)
		}
		if strings.Contains(a.Host, "%") && a.Super {
			anywhere = append(anywhere, who)
		}
	}
	for _, k := range []struct {
		names                []string
		title, formula, note string
	}{
		{nameless, "Anybody can log in without a name", "accounts without a name", "DROP USER ''@'…';"},
		{open, "Accounts have no password", "accounts without a password", "ALTER USER … IDENTIFIED BY '…';"},
		{anywhere, "Administrators can log in from any host", "accounts with SUPER and % in their host",
			"Name the hosts, or take the privilege."},
	} {
		if len(k.names) > 0 {
			l.fire(found{
				title: k.title, measured: listWords(k.names), level: kasoku.High, formula: k.formula, limit: "any",
				gain: "For information", note: k.note + " On a host that no one else reaches it may be as it should.",
			})
		}
	}
	if len(l.advice) == 0 {
		l.well("%s", unit.Counted(uint64(len(l.Accounts)), "account", "accounts"))
	}
}

func checkEncryption(l *look) {
	versions := l.need("tls_version")
	var old []string
	for v := range strings.SplitSeq(versions, ",") {
		if v = strings.TrimSpace(v); v == "TLSv1" || v == "TLSv1.0" || v == "TLSv1.1" {
			old = append(old, v)
		}
	}
	have, known := l.Variables["have_ssl"]
	switch {
	case known && !on(have):
		l.fire(found{
			title: "Connections are not encrypted", measured: "have_ssl " + have, level: kasoku.High,
			formula: "have_ssl", limit: "not YES",
			gain: "For information", note: "On one host, or in a network of one's own, it costs CPU for nothing.",
		})
	case len(old) > 0:
		l.fire(found{
			title: "Connections may use old encryption", measured: strings.Join(old, ", "), level: kasoku.High,
			formula: "tls_version", limit: "below TLSv1.2",
			gain: "For information", note: fmt.Sprintf("tls_version = TLSv1.2,TLSv1.3 instead of %s.", versions),
		})
	default:
		l.well("%s", versions)
	}
}
