package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
	"github.com/informer-exporter/informer-exporter/internal/exporter/buildinfo"
	"github.com/informer-exporter/informer-exporter/internal/untrusted"
)

const (
	// programTimeout is the timeout of a request to a program.
	programTimeout = 30 * time.Second
	// maxProgramResponse limits the response.
	maxProgramResponse = 16 << 20
)

// programFlags are the flags of commands that ask a program with the library.
type programFlags struct {
	address, tokenFile, caFile string
	insecure                   bool
}

func registerProgram(cmd *cobra.Command) *programFlags {
	f := &programFlags{}
	cmd.Flags().StringVar(&f.address, "url", "", "`URL` of a program with inspect.NewHandler, such as https://localhost:8443.")
	cmd.Flags().StringVar(&f.tokenFile, "token-file", "", "`FILE` with its bearer token.")
	cmd.Flags().StringVar(&f.caFile, "ca-file", "", "`FILE` with its certificate authority.")
	cmd.Flags().BoolVar(&f.insecure, "insecure-skip-tls-verify", false, "Do not verify its certificate.")
	return f
}

// get requests a path of the program, and decodes the response. It returns the response as it is, too.
func (f *programFlags) get(ctx context.Context, path string, query url.Values, response any) (json.RawMessage, error) {
	address, err := url.Parse(f.address)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" || address.User != nil {
		return nil, errors.New("--url: not a URL like https://localhost:8443") // without its text, which may have a password
	}
	client, err := f.client()
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	address = address.JoinPath(path)
	address.RawQuery = query.Encode()
	ctx, cancel := context.WithTimeout(ctx, programTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	request.Header.Set("User-Agent", buildinfo.Name+"/"+buildinfo.Version())
	if f.tokenFile != "" {
		token, err := os.ReadFile(f.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("--token-file: %w", err)
		}
		if address.Scheme == "http" && !isLoopback(address.Hostname()) {
			return nil, errors.New("--token-file: a token is sent in clear text to an http URL; use https, or a port on localhost")
		}
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("--url: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(bounded.Body(answer.Body, maxProgramResponse))
	switch {
	case err != nil:
		return nil, fmt.Errorf("--url: %w", err)
	case answer.StatusCode == http.StatusNotFound:
		return nil, fmt.Errorf("%s: %w", path, errNotServed)
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s: %s: %s", path, answer.Status, untrusted.Cut(strings.TrimSpace(string(body))))
	}
	if err := json.Unmarshal(body, response); err != nil {
		return nil, fmt.Errorf("%s: not the response of a program with the library: %w", path, err)
	}
	return body, nil
}

// errNotServed means that the program does not serve package inspect.
var errNotServed = errors.New("not found: the program does not serve inspect.NewHandler there")

// client returns a client that follows no redirects: they would send the token elsewhere.
func (f *programFlags) client() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: f.insecure} //nolint:gosec // a flag disables it
	if f.caFile != "" {
		pem, err := os.ReadFile(f.caFile)
		if err != nil {
			return nil, fmt.Errorf("--ca-file: %w", err)
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--ca-file %s: no certificate in PEM", f.caFile)
		}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}
