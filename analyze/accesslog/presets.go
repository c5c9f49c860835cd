package accesslog

// presets returns the formats that are tried besides.
func presets() []*Format { return nil }
