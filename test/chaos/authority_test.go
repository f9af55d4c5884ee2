package chaos

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"os"
	"path/filepath"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// authority is a certificate authority.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	cert, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: name}, key)
	return &authority{cert, key}, err
}

func (a *authority) pem() []byte {
	encoded, err := certutil.EncodeCertificates(a.cert)
	if err != nil {
		panic(err) // cannot fail for a certificate from this package
	}
	return encoded
}

// files are the paths of a certificate and its key.
type files struct{ cert, key string }

func filesIn(dir, name string) files {
	return files{filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")}
}

// serve writes a server certificate for a name. A negative duration makes it expired.
func (a *authority) serve(f files, name string, lasting time.Duration) error {
	return a.sign(f, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotAfter: time.Now().Add(lasting), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
}

// admit writes a client certificate for an administrator.
func (a *authority) admit(f files) error {
	return a.sign(f, &x509.Certificate{
		Subject:  pkix.Name{CommonName: "chaos", Organization: []string{"system:masters"}},
		NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

func (a *authority) sign(f files, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 62)); err != nil {
		return err
	}
	template.NotBefore, template.KeyUsage = time.Now().Add(-24*time.Hour), x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	encoded, err := certutil.EncodeCertificates(cert)
	if err != nil {
		return err
	}
	encodedKey, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	// A reader between the two writes reads files that do not match, and retries.
	if err := replace(f.key, encodedKey); err != nil {
		return err
	}
	return replace(f.cert, encoded)
}

// replace replaces a file atomically, as the kubelet and cert-manager do.
func replace(path string, content []byte) error {
	next := path + ".next"
	if err := os.WriteFile(next, content, 0o600); err != nil {
		return err
	}
	return os.Rename(next, path)
}
