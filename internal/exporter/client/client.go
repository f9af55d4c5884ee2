// Package client connects to the API server. Its clients ask for metadata where that is enough, and drop fields that the
// exporter never reads before they are decoded.
package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/connrotation"
	"k8s.io/client-go/util/flowcontrol"
)

// RESTConfig returns how to reach the API server: by the kubeconfig file that is given, else by those that $KUBECONFIG
// lists, else by the service account of the pod. The kubeconfig in the user's home directory is never used: an exporter
// that is started in the wrong shell should say so, not report some other cluster.
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
			return nil, errors.New("no API server to watch: this is not a pod and neither --kubeconfig nor $KUBECONFIG is set; give --kubeconfig=FILE")
		}
		if err != nil {
			return nil, fmt.Errorf("the pod's service account: %w; give --kubeconfig=FILE or mount the token (automountServiceAccountToken)", err)
		}
		return config, nil
	}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source, err)
	}
	return config, nil
}

// Requests per second that the exporter allows itself, for everything together. client-go's default of 5 would make the
// start with some twenty kinds take seconds; informers that fail back off on their own.
const (
	clientQPS   = 50
	clientBurst = 100
)

// observeConfig makes what is asked with a configuration appear in the exporter's own metrics.
type WrapConfig func(*rest.Config) *rest.Config

// connection is how the exporter talks to the API server.
type Connection struct {
	// metadata asks for the metadata of objects only, in protobuf where the server has it.
	Metadata metadata.Interface
	// whole asks for more.
	Whole *WholeObjects
	// discover asks what is served.
	Discover func(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)
	// leases returns a client for the Lease of an election, with a timeout for each request. It does not wait for a turn
	// among the other requests.
	Leases func(timeout time.Duration) (coordinationclient.LeasesGetter, error)
	// disconnect closes the connections.
	Disconnect func()
}

// connect returns how to talk to the API server of config. What is asked is seen by observe.
func Connect(config *rest.Config, userAgent string, observe WrapConfig) (*Connection, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = userAgent
	config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(clientQPS, clientBurst)
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext // client-go's own
	}
	// Closing idle connections would not do: for a moment after the last watch was stopped, its connection is not idle.
	dialer := connrotation.NewDialer(config.Dial)
	config.Dial = dialer.DialContext
	config = observe(config)
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("the client for %s: %w", config.Host, err)
	}
	objects, err := newMetadata(config, client)
	if err != nil {
		return nil, fmt.Errorf("the client for %s: %w", config.Host, err)
	}
	definitions, err := discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("the client for %s: %w", config.Host, err)
	}
	whole, err := newWholeObjects(config, client, definitions)
	if err != nil {
		return nil, fmt.Errorf("the client for %s: %w", config.Host, err)
	}
	return &Connection{
		Metadata: objects,
		Whole:    whole,
		Discover: func(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
			return discovery.ServerGroupsAndResourcesWithContext(ctx, definitions)
		},
		Leases: func(timeout time.Duration) (coordinationclient.LeasesGetter, error) {
			unlimited := rest.CopyConfig(config)
			unlimited.RateLimiter, unlimited.QPS = nil, -1
			impatient := *client
			impatient.Timeout = timeout
			return coordinationclient.NewForConfigAndClient(unlimited, &impatient)
		},
		Disconnect: dialer.CloseAll,
	}, nil
}
