package fault

import "errors"

// Join adds an error from cleaning up to err, and returns err itself if there was none.
func Join(err, more error) error {
	if more == nil {
		return err
	}
	if err == nil {
		return more
	}
	return errors.Join(err, more)
}
