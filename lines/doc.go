// Package lines reads log files line by line, from a mark to the end that the
// log has now, whatever happened to the file in between.
//
// The one idea: a log is not a path but a chain of files. [MarkEnd] notes
// device, inode and offset of the end of a log; [Since] later finds that file
// again, under whatever name a rotation gave it, and reads from the mark on,
// then every file that followed it. A [Window] fixes its end when it is made:
// what is written while it is read belongs to the next window.
//
// A [Window] has the shape of bufio.Scanner. A line has a bounded length; what
// is beyond it is skipped and [Window.Truncated] says so, so that one line of a
// gigabyte costs a megabyte of memory and is still one line.
//
// Offsets are bytes. [Window.Offset] counts from the mark and runs on over the
// files of a window; [Growth] counts the same bytes while they are written, so
// that a log without times can be placed on a clock.
//
// The package does not decompress, and it never writes to a log.
//
// Source: stat(2) for device and inode; logrotate(8) for the ways in which logs
// are rotated (rename and create, copytruncate, dateext).
package lines
