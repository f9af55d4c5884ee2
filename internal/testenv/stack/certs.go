package stack

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	certutil "k8s.io/client-go/util/cert"
)

// pki holds the control plane's keys: a certificate authority, a certificate for every server on loopback, and the key
// that signs service account tokens.
type pki struct {
	caPEM []byte

	caFile                string
	servingCert           string
	servingKey            string
	serviceAccountKey     string
	serviceAccountPublics string
}

// newPKI creates keys in dir. They are ECDSA keys, because generating a pair of RSA keys can take a second.
func newPKI(dir string) (*pki, error) {
	p := &pki{
		caFile:                filepath.Join(dir, "ca.crt"),
		servingCert:           filepath.Join(dir, "serving.crt"),
		servingKey:            filepath.Join(dir, "serving.key"),
		serviceAccountKey:     filepath.Join(dir, "service-accounts.key"),
		serviceAccountPublics: filepath.Join(dir, "service-accounts.pub"),
	}
	caKey, err := newKey()
	if err != nil {
		return nil, err
	}
	ca, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: "local-stack"}, caKey)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	p.caPEM = encode("CERTIFICATE", ca.Raw)
	servingKey, err := newKey()
	if err != nil {
		return nil, err
	}
	serving, err := signServing(ca, caKey, servingKey.Public())
	if err != nil {
		return nil, fmt.Errorf("serving certificate: %w", err)
	}
	accountKey, err := newKey()
	if err != nil {
		return nil, err
	}
	public, err := x509.MarshalPKIXPublicKey(accountKey.Public())
	if err != nil {
		return nil, err
	}
	for path, content := range map[string][]byte{
		p.caFile:                p.caPEM,
		p.servingCert:           encode("CERTIFICATE", serving),
		p.servingKey:            encodeKey(servingKey),
		p.serviceAccountKey:     encodeKey(accountKey),
		p.serviceAccountPublics: encode("PUBLIC KEY", public),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func newKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

func signServing(ca *x509.Certificate, caKey crypto.Signer, public crypto.PublicKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 62))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: "local-stack-server"},
		// Clients of a proxy on another loopback port verify the same names.
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, net.IPv4(10, 0, 0, 1)},
		NotBefore:   ca.NotBefore,
		NotAfter:    time.Now().Add(365 * 24 * time.Hour),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	return x509.CreateCertificate(rand.Reader, template, ca, public, caKey)
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func encodeKey(key *ecdsa.PrivateKey) []byte {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil // cannot fail for a P-256 key from crypto/ecdsa
	}
	return encode("EC PRIVATE KEY", der)
}
