package rules

import (
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/observe/host"
)

// carbonReads describes what the rules about carbon read; false for other rules.
func carbonReads(id string) (extract.Keys, bool) {
	if !strings.HasPrefix(id, "TS-") {
		return extract.Keys{}, false
	}
	k := extract.Keys{Series: []kasoku.Key{{Source: diagnose.Host, Name: host.MemAvailable}}}
	for _, name := range []string{graphite.MetricsReceived, graphite.TCPMetricsReceived, graphite.UDPMetricsReceived,
		graphite.PickleMetricsReceived, graphite.CommittedPoints, graphite.PersisterCommittedPoints,
		graphite.UpdateOperations, graphite.PersisterUpdateOperations, graphite.Creates, graphite.PersisterCreated,
		graphite.DroppedCreates, graphite.PersisterThrottledCreates, graphite.CacheSize, graphite.CacheQueues,
		graphite.CacheMetrics, graphite.CacheOverflow, graphite.CpuUsage, graphite.MemUsage, graphite.AvgUpdateTime} {
		k.Series = append(k.Series, kasoku.Key{Source: graphite.Name, Name: name})
	}
	switch id {
	case "TS-03", "TS-05":
		for _, name := range []string{expvar.Due, expvar.Sent, expvar.Blocked, expvar.Connections} {
			k.Series = append(k.Series, kasoku.Key{Source: expvar.Name, Name: name})
		}
	case "TS-04":
		for _, name := range []string{host.CPUUser, host.CPUNice, host.CPUSystem, host.CPUIdle, host.CPUIowait,
			host.CPUIRQ,
			host.CPUSoftIRQ, host.CPUSteal, host.PressureIOSome} {
			k.Series = append(k.Series, kasoku.Key{Source: diagnose.Host, Name: name})
		}
	case "TS-07":
		for _, name := range []string{graphite.SlotsLooked, graphite.SlotsApart, graphite.SlotsPeriod,
			graphite.SlotsStep,
			graphite.SlotsNumber} {
			k.Series = append(k.Series, kasoku.Key{Source: graphite.Name, Name: name})
		}
	case "TS-08":
		for _, name := range []string{graphite.ToAttempted, graphite.ToSent, graphite.ToFullQueueDrops,
			graphite.ToQueuedConnected, graphite.ToQueuedReady, graphite.ToMaxQueueLength} {
			k.Series = append(k.Series, kasoku.Key{Source: graphite.Name, Name: name})
		}
	}
	return k, true
}
