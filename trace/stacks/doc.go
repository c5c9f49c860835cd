// Package stacks takes profiles of processes from outside, in any language and without a
// change to them: where their CPU time goes, and what they wait for.
//
// The one idea: the kernel knows both. Its clock samples what runs on each processor 99
// times a second; its scheduler says when a thread leaves a processor, when it could go on
// and when it does. Programs that the kernel runs at these points, assembled in Go, note the
// stack, the system call and its descriptor. CPU time comes as samples. Waits are added up in
// the kernel by their place, exact, since there may be 100,000 a second; each place's stack
// comes once.
//
// What goroutines of Go wait for the kernel does not see: threads that park are idle, whatever
// the goroutines do. Their states are sampled by reading the memory of the process.
//
// Stacks are walked along frame pointers, which Go and most distributions' kernels have, and
// code of C often does not: the function itself is right then, those that called it may be
// missing. What limits a profile is said in its notes.
//
// Everything is bounded, whatever the processes do: in the kernel by tables whose elements
// are allocated at once, here by the number of places and of words of stacks. What found no
// room is counted.
//
// Start at [Take]. Times are of the monotonic clock. It takes a kernel of 5.15 or newer, and
// CAP_BPF and CAP_PERFMON.
//
// Sources: bpf-helpers(7), perf_event_open(2), the kernel's include/trace/events/sched.h and
// Documentation/bpf/ringbuf.rst.
package stacks
