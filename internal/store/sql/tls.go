package sql

import "context"

// Cipher returns the cipher of the connections, by the server's name for it; "" if they are not
// encrypted.
func (s *Store) Cipher(ctx context.Context) (string, error) {
	var name, cipher string
	err := each(ctx, s.DB(), "SHOW STATUS LIKE 'Ssl_cipher'", nil, func() {}, &name, &cipher)
	return cipher, s.explain(err)
}
