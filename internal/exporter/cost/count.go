package cost

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/metadata"

	"github.com/informer-exporter/informer-exporter/internal/exporter/config"
	"github.com/informer-exporter/informer-exporter/internal/exporter/discovery"
	"github.com/informer-exporter/informer-exporter/internal/exporter/kinds"
)

// countTimeout is the timeout of one request.
const countTimeout = 30 * time.Second

// Counter counts objects with one list request with limit 1 per resource and namespace, and caches the results. It is not safe for
// concurrent use.
type Counter struct {
	client metadata.Interface
	known  map[scope]count
}

type scope struct {
	kind      kinds.Kind
	namespace string
}

type count struct {
	objects int64
	// more is set if there are more objects, but the API server does not report how many.
	more bool
	err  error
}

// NewCounter returns a Counter for a cluster.
func NewCounter(client metadata.Interface) *Counter {
	return &Counter{client: client, known: map[scope]count{}}
}

// Informers returns the informers of an exporter without shards, and notes about missing counts. Like the exporter, it leaves out
// forbidden resources that the configuration does not name. It fails if ctx ends, or if no resource can be counted.
func (c *Counter) Informers(ctx context.Context, cluster *discovery.Cluster, configured config.Config) (all []Informer, notes []string, err error) {
	if configured.LabelSelector != "" {
		notes = append(notes, "labelSelector is ignored: the API server does not count the objects that match a selector")
	}
	switch configured.Histograms {
	case config.HistogramsNative:
		notes = append(notes, "the series are those of classic histograms: with histograms: native there are fewer, one for each histogram")
	case config.HistogramsBoth:
		notes = append(notes, "the series are those of classic histograms: with histograms: both, each histogram also has a native form")
	}
	for _, group := range cluster.Failed() {
		notes = append(notes, fmt.Sprintf("discovery of %s failed: its resources are not counted", group))
	}
	var failed error
	listed := 0
	selected, overLimit := cluster.Select(configured)
	if overLimit > 0 {
		notes = append(notes, fmt.Sprintf("%d resources beyond the limit of an exporter are not watched", overLimit))
	}
	for _, kind := range selected {
		for _, namespace := range configured.Scopes(kind.Kind) {
			n := c.count(ctx, scope{kind.Kind, namespace})
			name := kind.Type()
			if namespace != "" {
				name = namespace + "/" + name
			}
			switch {
			case ctx.Err() != nil:
				return nil, nil, context.Cause(ctx)
			case n.err != nil && kind.Optional && apierrors.IsForbidden(n.err):
				notes = append(notes, name+" is forbidden and left out")
				continue
			case n.err != nil:
				failed = n.err
				notes = append(notes, fmt.Sprintf("the objects of %s are not counted: %v", name, n.err))
			case n.more: // an aggregated API server need not count
				notes = append(notes, fmt.Sprintf("the objects of %s are not counted: the API server does not report how many remain", name))
				listed++
			default:
				listed++
			}
			all = append(all, Informer{Resource: kind.Type(), Namespace: namespace, Objects: n.objects})
		}
	}
	if failed != nil && listed == 0 {
		return nil, nil, fmt.Errorf("no resource can be listed: %w", failed)
	}
	return all, notes, nil
}

func (c *Counter) count(ctx context.Context, s scope) count {
	if n, ok := c.known[s]; ok {
		return n
	}
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	list, err := c.client.Resource(s.kind.GVR()).Namespace(s.namespace).List(ctx, metav1.ListOptions{Limit: 1})
	n := count{err: err}
	if err == nil {
		n.objects = int64(len(list.Items))
		if list.RemainingItemCount != nil {
			n.objects += *list.RemainingItemCount
		}
		n.more = list.Continue != "" && list.RemainingItemCount == nil
	}
	c.known[s] = n
	return n
}
