// Package truth knows what isuumo has to answer at any time of a run: the model
// with time.
//
// All rows of a run are known beforehand, those that are uploaded in its course
// too. What changes is which of them count. A row comes at some time while it is
// uploaded, and a chair goes at some time while its last unit is bought; only
// the service knows when. So there are four sets of rows that only grow: those
// whose upload was begun, those whose upload has ended well, those for which so
// many purchases were begun that the stock may be used up, and those whose whole
// stock has been sold and confirmed. A [Moment] is the four sets at one time.
//
// A request takes a [Span] of time. A row is certain for it when it had come before
// the request was sent and no purchase of its last unit had begun when the answer
// was there; it is possible when its upload had been begun by then and its last
// unit had not been sold before the request. An answer is right when some choice of
// rows, all certain ones and any of the other possible ones, gives exactly it.
// Count and rows of one answer may be from different times within the span: the
// contest does not ask for one snapshot.
//
// Rows go by their rank, their place in the order popularity DESC, id ASC among all
// rows of a run. It never changes, so sets are bitmaps over ranks, and a search is a
// few hundred words of AND.
//
// Everything is safe for concurrent use. What is wrong with an answer is said in an
// error, in the words of the API: rows by their ids, counted from 1.
package truth
