package board

// HoldSearches blocks all searches until release is called.
func (b *Board) HoldSearches() (release func()) {
	for range searches {
		b.searching <- struct{}{}
	}
	return func() {
		for range searches {
			<-b.searching
		}
	}
}
