// Package lines reads log files line by line, from a mark to the end that the
// log has now, whatever happened to the file in between, or whole.
//
// The one idea: a log is not a path but a chain of files. [MarkEnd] notes
// device, inode and offset of the end of a log; [Since] later finds that file
// again, under whatever name a rotation gave it, and reads from the mark on,
// then every file that followed it. A [Window] fixes its end when it is made:
// what is written while it is read belongs to the next window. A [Tail] reads
// what a log gains, again and again.
//
// An [Input] is what people name: files, patterns, standard input. What is
// compressed with gzip, zstd or bzip2 is known by its first bytes, whatever its
// name, and decompressed on the way. [Open] reads inputs one after another.
//
// A [Window] has the shape of bufio.Scanner. A line has a bounded length; what
// is beyond it is skipped and [Window.Truncated] says so, so that one line of a
// gigabyte costs a megabyte of memory and is still one line.
//
// [Split] hands the same lines to several workers, in blocks that are numbered
// in the order of the input. It costs little more than reading: a worker only
// looks for a newline while the others wait. Files are read, not mapped, into
// one buffer a worker: a mapped file counts as memory of the process, and one
// that is truncated while it is read would kill it. An [Order] brings what the
// workers made of the blocks back into their order.
//
// Offsets are bytes. [Window.Offset] counts from the mark and runs on over the
// files of a window, [Block.Offset] counts in its input; both count decompressed
// bytes. [Growth] counts the same bytes while they are written, so that a log
// without times can be placed on a clock.
//
// The package never writes to a log.
//
// Source: stat(2) for device and inode; logrotate(8) for the ways in which logs
// are rotated (rename and create, copytruncate, dateext); RFC 1952 and RFC 8878
// for what compressed data begins with and that it may be concatenated.
package lines
