package fault

import "errors"

// Join adds what went wrong while clearing up after err, and leaves err alone
// when nothing did.
func Join(err, more error) error {
	if more == nil {
		return err
	}
	if err == nil {
		return more
	}
	return errors.Join(err, more)
}
