package record

import "github.com/kasoku/kasoku"

// amend puts into a recording what is known at the end of the run and could not be
// stored in its file, such as for want of room, so that nothing is printed that is
// no longer true.
func (s *session) amend(rec *kasoku.Recording) {
	if s.db != nil {
		rec.Changes = s.db.changes()
	}
	if len(rec.Warnings) < len(s.warnings) {
		rec.Warnings = s.warnings
	}
}
