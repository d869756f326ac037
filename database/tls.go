package database

import "context"

// Cipher is what encrypts the connections, as the server calls it; "" where nothing does.
func (s *Store) Cipher(ctx context.Context) (string, error) {
	rows, err := s.DB().QueryContext(ctx, "SHOW STATUS LIKE 'Ssl_cipher'")
	if err != nil {
		return "", s.explain(err)
	}
	defer rows.Close()
	var name, cipher string
	if rows.Next() {
		err = rows.Scan(&name, &cipher)
	}
	if err == nil {
		err = rows.Err()
	}
	return cipher, s.explain(err)
}
