package faultproxy

import (
	"net/url"
	"strings"

	"k8s.io/client-go/rest"
)

// RESTConfig returns a copy of cfg for clients that connect through the proxy. They verify the server's certificate for
// the original host.
func (p *Proxy) RESTConfig(cfg *rest.Config) *rest.Config {
	through := rest.CopyConfig(cfg)
	host := cfg.Host
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return through // the client reports an invalid host
	}
	if through.ServerName == "" {
		through.ServerName = u.Hostname()
	}
	u.Host = p.address
	through.Host = u.String()
	return through
}
