package sql

import "context"

// Cipher is what encrypts the connections, as the server calls it; "" where nothing does.
func (s *Store) Cipher(ctx context.Context) (string, error) {
	var name, cipher string
	err := each(ctx, s.DB(), "SHOW STATUS LIKE 'Ssl_cipher'", nil, func() {}, &name, &cipher)
	return cipher, s.explain(err)
}
