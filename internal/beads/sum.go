package beads

import (
	"fmt"
	"hash/crc32"
	"io"
)

// Sum is the checksum of a text: two 32-bit checksums that processors compute in hardware, and
// the length. Sums of parts, computed in any order, are combined in file order. The sum covers
// exactly the bytes that were indexed, even if the file changes meanwhile. It is the same in
// every process, since file names contain it. It detects accidental changes, not deliberate
// ones.
type Sum struct {
	castagnoli, ieee uint32
	size             int64
}

// String returns the sum as used in file names.
func (s Sum) String() string { return fmt.Sprintf("%x.%08x%08x", s.size, s.castagnoli, s.ieee) }

func sumOfText(data []byte) Sum {
	return Sum{crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)), crc32.ChecksumIEEE(data), int64(len(data))}
}

// then returns the sum of two concatenated texts.
func (s Sum) then(t Sum) Sum {
	return Sum{
		shifted(crc32.Castagnoli, s.castagnoli, t.size) ^ t.castagnoli,
		shifted(crc32.IEEE, s.ieee, t.size) ^ t.ieee,
		s.size + t.size,
	}
}

// after returns the sum of the rest of a text, given that of its beginning.
func (s Sum) after(begin Sum) Sum {
	size := s.size - begin.size
	return Sum{
		shifted(crc32.Castagnoli, begin.castagnoli, size) ^ s.castagnoli,
		shifted(crc32.IEEE, begin.ieee, size) ^ s.ieee,
		size,
	}
}

// shifted returns the contribution of a checksum followed by that many bytes: its product with
// x to the power of their bits, modulo the polynomial, as zlib's crc32_combine computes it. The
// highest bit is the coefficient of x to the power of 0.
func shifted(polynomial, sum uint32, bytes int64) uint32 {
	for square := uint32(1 << (31 - 8)); bytes > 0; bytes >>= 1 {
		if bytes&1 != 0 {
			sum = product(polynomial, square, sum)
		}
		square = product(polynomial, square, square)
	}
	return sum
}

func product(polynomial, a, b uint32) (p uint32) {
	for bit := uint32(1 << 31); bit != 0; bit >>= 1 {
		if a&bit != 0 {
			p ^= b
		}
		b = b>>1 ^ polynomial&-(b&1)
	}
	return p
}

// SumOf sums a text of a known size, and what was appended since.
func SumOf(from io.ReaderAt, size int64) (s Sum, err error) {
	blocks, err := eachBlock(from, size, func() func(block) Sum {
		return func(b block) Sum { return sumOfText(b.data) }
	})
	for _, b := range blocks {
		s = s.then(b)
	}
	return s, err
}

// stretch is a replaced line of a text.
type stretch struct {
	off    int64
	longer int64 // the new length, in bytes
}

// sumsAfter updates the cumulative sums of a text's parts after some lines, given in order,
// were replaced. It reads only the parts that contain them.
func sumsAfter(known []Sum, from io.ReaderAt, replaced []stretch) ([]Sum, error) {
	sums := make([]Sum, 0, len(known))
	var was, now Sum
	for _, end := range known {
		part, size, touched := end.after(was), end.size-was.size, false
		for ; len(replaced) > 0 && replaced[0].off < end.size; replaced = replaced[1:] {
			size, touched = size+replaced[0].longer, true
		}
		if touched {
			var err error
			if part, err = SumOf(io.NewSectionReader(from, now.size, size), size); err != nil {
				return nil, err
			}
		}
		was, now = end, now.then(part)
		sums = append(sums, now)
	}
	return sums, nil
}
