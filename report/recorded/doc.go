// Package recorded is a recorded run as reports read it: what it is called, when and where
// it ran, and what a series came to over all of it. What is built of that lies in the
// packages beside it, one for each subject.
package recorded
