// Package carbon loads a carbon-cache, a go-carbon or a relay with points, as many agents
// would: each has its series and sends a point of each once an interval.
//
// The one idea: what is due at a time is computed, not queued. An agent's interval has
// slots, each with a stretch of its series; a slot that comes late is sent late, or left
// out and counted, and memory does not grow with what the server does not take. So what
// was due (nominal), what was sent, what the server's kernel has acknowledged and what is
// outstanding are known apart, second by second.
//
// Names are made while they are sent, from a template with the numbers of agent and
// series: no table of names is held.
//
// Acknowledged is by TCP: the server's kernel has the bytes. Whether carbon read them, and
// wrote them to disk, only its own metrics say.
//
// # Units and clock
//
// Times are durations since the start of the load, by the monotonic clock; a point's own
// time is whole seconds since 1970, of the time at which it was due, or with
// [Options.OneEpoch] at which its flush began.
//
// Sources: graphite.readthedocs.io, "Feeding in your data"; carbon 1.1,
// lib/carbon/protocols.py; tcp(7) for SIOCOUTQ; haggar's README and its issue 20 for the
// phases of its agents.
package carbon
