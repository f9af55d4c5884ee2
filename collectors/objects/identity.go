package objects

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// compactIdentity returns a UID and a resource version as numbers, if both can be restored from these exactly.
func compactIdentity(uid, version string) (id [16]byte, number uint64, ok bool) {
	digits, err := hex.DecodeString(strings.ReplaceAll(uid, "-", ""))
	if err != nil || copy(id[:], digits) != len(id) || uuidText(id) != uid {
		return id, 0, false
	}
	number, err = strconv.ParseUint(version, 10, 64)
	leading := len(version) > 1 && version[0] == '0'
	return id, number, err == nil && !leading
}

// uuidText is the inverse of compactIdentity for UIDs.
func uuidText(id [16]byte) string {
	var text [36]byte
	hex.Encode(text[0:8], id[0:4])
	hex.Encode(text[9:13], id[4:6])
	hex.Encode(text[14:18], id[6:8])
	hex.Encode(text[19:23], id[8:10])
	hex.Encode(text[24:], id[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}
