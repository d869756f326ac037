package clone

import (
	"errors"
	"path/filepath"
)

// Source is somewhere else that ids of children stand or stood: the store of another
// work tree, or the history of the store.
type Source struct {
	Name    string // unlike that of every other source of the store
	Version string // changes with what stands there
	// Numbers gives the greatest number of a child there for each parent. It is called
	// when Version is another than counted, the one that it was last called for; "" for none.
	Numbers func(counted string) (map[string]int, error)
}

// counters are the numbers of children that were given, in one file for all
// stores of the clone.
type counters struct {
	Greatest map[string]int    `json:"greatest"` // of a parent; it never falls
	Sources  map[string]string `json:"sources"`  // the versions that are counted
}

const childrenFile = "children.json"

// NextChild gives the number of a new child of parent: greater than least, than
// every number given before in any work tree of the clone, and than those of
// the sources. The number is taken when it is given; a dry run only looks.
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
			least, sources = number-1, nil // counted
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

// count raises the counters to what those sources have that changed.
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
