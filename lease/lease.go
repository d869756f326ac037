// Package lease decides who may work on an issue now: claims that are exclusive across
// the work trees of a clone, and that end with whoever holds them.
//
// It knows leases (package live keeps them), processes, and names of actors; it opens
// no store. Who claims takes the lease first and writes the store then, so that
// a crash between the two leaves a lease that ends by itself.
package lease
