// Package untrusted limits what text from API servers, tenants and clients can do to logs and terminals, and names clients.
package untrusted

import (
	"fmt"
	"net"
	"strings"
	"unicode"
)

// MaxText is the length in bytes to which Cut truncates a text.
const MaxText = 1 << 10

// Cut returns text, or its first MaxText bytes and its length if it is longer.
func Cut(text string) string {
	if len(text) <= MaxText {
		return text
	}
	return fmt.Sprintf("%s... (%d bytes)", strings.ToValidUTF8(text[:MaxText], ""), len(text))
}

// Printable returns text without characters that a terminal does not show, or not where they are: control characters and those that
// change the direction of text. It truncates the text like Cut.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return -1
	}, Cut(text))
}

// Host returns the host of an address with a port, or the address if it has none.
func Host(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
