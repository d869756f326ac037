package clone

import (
	"errors"
	"path/filepath"
)

// Source is another place with ids of children: the store of another work tree, or the history
// of the store.
type Source struct {
	Name    string // unique among the sources of the store
	Version string // changes with the content
	// Numbers returns the greatest number of a child for each parent. It is called if Version
	// differs from counted, the version of its last call; "" before the first.
	Numbers func(counted string) (map[string]int, error)
}

// counters are the numbers of children in use, in one file for all stores of the clone.
type counters struct {
	Greatest map[string]int    `json:"greatest"` // by parent; never decreases
	Sources  map[string]string `json:"sources"`  // the versions already counted, by name
}

const childrenFile = "children.json"

// NextChild returns the number for a new child of parent: greater than least, than every number
// issued in any work tree of the clone, and than those in the sources. It reserves the number
// unless dryRun.
func (p Place) NextChild(parent string, least int, sources []Source, dryRun bool) (number int, err error) {
	next := func(path string) (map[string]counters, error) {
		all := map[string]counters{}
		trouble := readJSON(path, &all)
		c := all[p.Store]
		number = max(least, c.Greatest[parent])
		if trouble == nil {
			trouble = c.count(sources)
			number = max(number, c.Greatest[parent])
		}
		number++
		c.raise(map[string]int{parent: number})
		all[p.Store] = c
		return all, trouble
	}
	if dryRun {
		for _, dir := range p.dirs() {
			if _, e := next(filepath.Join(dir, childrenFile)); e != nil {
				err = errors.Join(err, e)
			}
			least, sources = number-1, nil // already counted
		}
		return number, err
	}
	err = p.locked("children", func(dir string) error {
		path := filepath.Join(dir, childrenFile)
		all, trouble := next(path)
		return errors.Join(replaceJSON(path, all), trouble)
	})
	return number, err
}

// count raises the counters to the numbers in changed sources.
func (c *counters) count(sources []Source) error {
	counted := map[string]string{}
	for _, s := range sources {
		if c.Sources[s.Name] != s.Version {
			numbers, err := s.Numbers(c.Sources[s.Name])
			if err != nil {
				return err
			}
			c.raise(numbers)
		}
		counted[s.Name] = s.Version
	}
	c.Sources = counted
	return nil
}

func (c *counters) raise(numbers map[string]int) {
	if c.Greatest == nil {
		c.Greatest = map[string]int{}
	}
	for parent, n := range numbers {
		c.Greatest[parent] = max(c.Greatest[parent], n)
	}
}
