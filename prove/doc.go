// Package prove makes the change that a finding proposes, measures before and
// after, and takes it back.
package prove
