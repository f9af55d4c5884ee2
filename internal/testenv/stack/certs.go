package stack

import (
	"encoding/pem"
	"net"
	"os"
	"path/filepath"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// pki holds the control plane's keys: a certificate authority, a certificate for every server on loopback, and the key
// that signs service account tokens.
type pki struct {
	caPEM []byte

	caFile            string
	servingCert       string
	servingKey        string
	serviceAccountKey string
}

// newPKI creates keys in dir.
func newPKI(dir string) (*pki, error) {
	// Clients of a proxy on another loopback port verify the same names.
	cert, key, err := certutil.GenerateSelfSignedCertKey("localhost",
		[]net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.IPv4(10, 0, 0, 1)},
		[]string{"kubernetes", "kubernetes.default", "kubernetes.default.svc"})
	if err != nil {
		return nil, err
	}
	accountKey, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return nil, err
	}
	_, ca := pem.Decode(cert) // it follows the certificate of the server
	p := &pki{
		caPEM:             ca,
		caFile:            filepath.Join(dir, "ca.crt"),
		servingCert:       filepath.Join(dir, "serving.crt"),
		servingKey:        filepath.Join(dir, "serving.key"),
		serviceAccountKey: filepath.Join(dir, "service-accounts.key"),
	}
	for path, content := range map[string][]byte{p.caFile: ca, p.servingCert: cert, p.servingKey: key, p.serviceAccountKey: accountKey} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, err
		}
	}
	return p, nil
}
