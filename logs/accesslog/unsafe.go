package accesslog

import "unsafe"

// textOf returns the bytes as a string that shares their memory: it may be used
// as long as they do not change, and not be kept.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
