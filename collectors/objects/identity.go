package objects

import (
	"encoding/hex"
	"strconv"
)

// uuidSize is the size of a UUID as text, as the API server writes it.
const uuidSize = 36

// compactIdentity returns a UID and a resource version as numbers, if both can be restored from these exactly.
func compactIdentity(uid, version string) (id [16]byte, number uint64, ok bool) {
	if len(uid) != uuidSize {
		return id, 0, false
	}
	var digits [32]byte
	n := 0
	for i := range uuidSize {
		c := uid[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return id, 0, false
			}
			continue
		case '0' <= c && c <= '9', 'a' <= c && c <= 'f':
		default:
			return id, 0, false
		}
		digits[n] = c
		n++
	}
	if _, err := hex.Decode(id[:], digits[:]); err != nil {
		return id, 0, false
	}
	number, err := strconv.ParseUint(version, 10, 64)
	leading := len(version) > 1 && version[0] == '0'
	return id, number, err == nil && !leading
}

// uuidText is the inverse of compactIdentity for UIDs.
func uuidText(id [16]byte) string {
	var text [uuidSize]byte
	hex.Encode(text[0:8], id[0:4])
	hex.Encode(text[9:13], id[4:6])
	hex.Encode(text[14:18], id[6:8])
	hex.Encode(text[19:23], id[8:10])
	hex.Encode(text[24:], id[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
