// Package database keeps a store on a server that speaks MySQL's protocol, for people
// whose machines are many. Each issue is a row that holds its line byte for byte, with a
// version that only grows; comments are rows of their own; every edit is one transaction
// that compares what it read with what is there. Package database knows no notes, no
// signals and no graph, and of Dolt only what other servers lack.
//
//	store := database.Open(place, database.Options{Config: config, Cache: dir})
//	file, err := store.Snapshot()
package database
