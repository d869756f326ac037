package board

// HoldSearches keeps what takes long from being found, until release.
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
