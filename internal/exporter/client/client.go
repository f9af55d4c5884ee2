// Package client connects to the API server. Its clients request metadata where that is enough, and prune responses to the
// fields that the exporter reads before decoding them.
package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/connrotation"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/informer-exporter/informer-exporter/internal/bounded"
)

// RESTConfig returns the client configuration from the kubeconfig file, $KUBECONFIG or the Pod's service account, in this
// order. It never reads the kubeconfig in the home directory, so that an exporter does not watch the wrong cluster by
// accident.
func RESTConfig(kubeconfig string) (*rest.Config, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	source := "--kubeconfig"
	if kubeconfig == "" {
		source = "$" + clientcmd.RecommendedConfigPathEnvVar
		rules.Precedence = filepath.SplitList(os.Getenv(clientcmd.RecommendedConfigPathEnvVar))
	}
	if kubeconfig == "" && len(rules.Precedence) == 0 {
		config, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, errors.New("no API server: not running in a Pod, and neither --kubeconfig nor $KUBECONFIG is set; set --kubeconfig=FILE")
		}
		if err != nil {
			return nil, fmt.Errorf("service account of the Pod: %w; set --kubeconfig=FILE or mount the token (automountServiceAccountToken)", err)
		}
		return config, nil
	}
	config, err := load(rules, &clientcmd.ConfigOverrides{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return config, nil
}

// UserConfig returns the client configuration that kubectl would use: from the kubeconfig file, $KUBECONFIG, the home directory or
// the Pod's service account, in this order. An empty kubeContext selects the current context.
func UserConfig(kubeconfig, kubeContext string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := load(rules, &clientcmd.ConfigOverrides{CurrentContext: kubeContext})
	if clientcmd.IsEmptyConfig(err) { // client-go's error names only $KUBERNETES_MASTER
		return nil, fmt.Errorf("kubeconfig: no cluster in %s, and not running in a Pod; set --kubeconfig=FILE", strings.Join(rules.GetLoadingPrecedence(), ", "))
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return config, nil
}

// load returns the client configuration of a kubeconfig, with the user and password in fields of their own.
func load(rules clientcmd.ClientConfigLoader, overrides *clientcmd.ConfigOverrides) (*rest.Config, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if err == nil {
		return config, hideUser(config)
	}
	kubeconfig, rawErr := loader.RawConfig()
	if rawErr != nil {
		return nil, err
	}
	for name, cluster := range kubeconfig.Clusters {
		// client-go's error has the URL, which may have a password.
		if proxy := cluster.ProxyURL; strings.Contains(proxy, "@") && (strings.Contains(err.Error(), proxy) || strings.Contains(err.Error(), strconv.Quote(proxy))) {
			return nil, fmt.Errorf("cluster %q: proxy-url: not a URL like http://proxy.example.com:3128", name)
		}
	}
	return nil, err
}

// hideUser moves a user and password from the URL of the API server, which pages and logs show, to the fields of
// the configuration. A token takes precedence, as in requests with both. If the URL is malformed, the error does not show it.
func hideUser(config *rest.Config) error {
	scheme, host := "", config.Host
	if !strings.Contains(host, "://") { // client-go also accepts host:port
		scheme = "http://"
	}
	address, err := url.Parse(scheme + host)
	// With a missing slash, as in https:/user@host, the scheme is parsed as a host with an empty port.
	if strings.Contains(host, "@") && (err != nil || address.Host == "" || strings.HasSuffix(address.Host, ":")) {
		return errors.New("server: not a URL like https://api.example.com:6443")
	}
	if err != nil || address.User == nil { // client-go returns a better error
		return nil
	}
	if config.Username == "" && config.BearerToken == "" && config.BearerTokenFile == "" {
		config.Username = address.User.Username()
		config.Password, _ = address.User.Password()
	}
	address.User = nil
	config.Host = strings.TrimPrefix(address.String(), scheme)
	return nil
}

// Client-side rate limit of all requests. With client-go's default of 5 requests per second, startup would take seconds.
// Informers have their own backoff.
const (
	clientQPS   = 50
	clientBurst = 100
)

// WrapConfig decorates a client configuration.
type WrapConfig func(*rest.Config) *rest.Config

// Connection holds the clients of the exporter.
type Connection struct {
	// Metadata requests metadata only, in protobuf if the server supports it. Fields that the exporter does not read are dropped.
	Metadata metadata.Interface
	// Whole requests whole objects.
	Whole *WholeObjects
	// Discover lists the resources that the API server serves.
	Discover func(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)
	// ListVersion lists the metadata of one object of a resource, in a namespace unless that is empty, and returns the version of the
	// list, which is not older than a version unless that is empty. It does not retry.
	ListVersion func(ctx context.Context, resource schema.GroupVersionResource, namespace, notOlderThan string) (string, error)
	// Leases returns a client for the Lease of an election, with a timeout per request and without the rate limit.
	Leases func(timeout time.Duration) (coordinationclient.LeasesGetter, error)
	// Disconnect closes all connections.
	Disconnect func()
}

// Connect returns the clients for config, decorated by observe. log, which may be nil, receives failures to read schemas.
func Connect(config *rest.Config, userAgent string, observe WrapConfig, log *slog.Logger) (*Connection, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = userAgent
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(clientQPS, clientBurst)
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext // client-go's default
	}
	// Closing idle connections is not enough: the connection of the last watch is not idle right after the watch was stopped.
	dialer := connrotation.NewDialer(config.Dial)
	config.Dial = dialer.DialContext
	config.Wrap(limitBuffers) // before observe, because it needs the innermost transport
	config.Wrap(limitPages)
	config.Wrap(withoutManagedFields)
	config.Wrap(limitRetryAfter)
	config = observe(config)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", config.Host, err)
	}
	client.CheckRedirect = refuseRedirects
	objects, err := metadata.NewForConfigAndClient(config, filtered(client, metadataContent))
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", config.Host, err)
	}
	definitions, err := discovery.NewDiscoveryClientForConfigAndClient(config, filtered(client, discoveryContent))
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", config.Host, err)
	}
	whole, err := newWholeObjects(config, client, log)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", config.Host, err)
	}
	version, err := listVersion(config, client)
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", config.Host, err)
	}
	return &Connection{
		Metadata:    objects,
		Whole:       whole,
		ListVersion: version,
		Discover: func(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
			return discover(ctx, definitions)
		},
		Leases: func(timeout time.Duration) (coordinationclient.LeasesGetter, error) {
			unlimited := rest.CopyConfig(config)
			unlimited.RateLimiter, unlimited.QPS = nil, -1
			impatient := bounded.Objects(client) // it writes the Lease that it reads
			impatient.Timeout = timeout
			return coordinationclient.NewForConfigAndClient(unlimited, impatient)
		},
		Disconnect: dialer.CloseAll,
	}, nil
}

// discover returns the groups and resources that the API server serves. Before client-go v0.37, requests cannot be canceled.
func discover(ctx context.Context, client *discovery.DiscoveryClient) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	type cancelable interface {
		ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)
	}
	if c, ok := any(client).(cancelable); ok {
		return c.ServerGroupsAndResourcesWithContext(ctx)
	}
	return client.ServerGroupsAndResources()
}
