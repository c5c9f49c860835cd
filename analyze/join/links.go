package join

// links looks for the list query whose rows a lookup's statements are for.
func (w *work) links(f *fit) {}
