package faultproxy

import (
	"net/url"
	"strings"

	"k8s.io/client-go/rest"
)

// RESTConfig returns a copy of cfg whose clients go through the proxy. They verify the server's certificate for the host
// that they would have dialled without it.
func (p *Proxy) RESTConfig(cfg *rest.Config) *rest.Config {
	through := rest.CopyConfig(cfg)
	host := cfg.Host
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return through // the client says better what is wrong with the host
	}
	if through.ServerName == "" {
		through.ServerName = u.Hostname()
	}
	u.Host = p.address
	through.Host = u.String()
	return through
}
