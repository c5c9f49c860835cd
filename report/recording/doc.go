// Package recording shows one run: [Show] all of it, [Texts] the configuration that it was
// kept with, [Revert] the way back to that. The sections that other documents share are
// functions of their own.
package recording
