package client

import (
	"net/http"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// withoutManagedFields asks for lists of metadata without managedFields, which are most of their bytes and which nothing reads (KEP-5958).
// API servers that do not know the parameter ignore it. Watches and single objects keep them: propagation and the age of a change are read
// from the times in managedFields.
func withoutManagedFields(transport http.RoundTripper) http.RoundTripper {
	return managedFields{transport}
}

type managedFields struct{ http.RoundTripper }

var _ utilnet.RoundTripperWrapper = managedFields{}

// WrappedRoundTripper implements utilnet.RoundTripperWrapper.
func (m managedFields) WrappedRoundTripper() http.RoundTripper { return m.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (m managedFields) RoundTrip(r *http.Request) (*http.Response, error) {
	const list = ";as=PartialObjectMetadataList"
	if accept := r.Header.Get("Accept"); strings.Contains(accept, list) {
		r = r.Clone(r.Context()) // as a RoundTripper must
		r.Header.Set("Accept", strings.ReplaceAll(accept, list, ";drop=metadata.managedFields"+list))
	}
	return m.RoundTripper.RoundTrip(r)
}
