package bugs

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/informer-exporter/informer-exporter/collectors/informer"
	"github.com/informer-exporter/informer-exporter/collectors/leader"
	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

// watchOnce lists and watches as a program without informers does, sends requests all the time, and never watches again.
func (c *run) watchOnce(config *rest.Config) (seen *sync.Map, ended <-chan struct{}) {
	seen = new(sync.Map)
	obs, end := c.observer(), make(chan struct{})
	client := kubernetes.NewForConfigOrDie(config)
	maps := client.CoreV1().ConfigMaps(c.id)
	lw := informer.NewListerWatcher(obs, informer.For(corev1.SchemeGroupVersion.WithResource("configmaps"), c.id), &cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return maps.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return maps.Watch(ctx, o) },
	})
	c.Cleanup(lw.Close)
	ctx, cancel := context.WithCancel(context.Background())
	c.Cleanup(cancel)
	list, err := lw.ListWithContext(ctx, metav1.ListOptions{ResourceVersion: "0"})
	must(c, err)
	w, err := lw.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: list.(*corev1.ConfigMapList).ResourceVersion, AllowWatchBookmarks: true})
	must(c, err)
	go func() {
		defer close(end)
		for e := range w.ResultChan() {
			if m, ok := e.Object.(*corev1.ConfigMap); ok {
				seen.Store(m.Name, true)
			}
		}
	}()
	go heartbeat(ctx, client, c.id)
	return seen, end
}

// heartbeat sends a request from time to time, which shows that the program lives.
func heartbeat(ctx context.Context, client kubernetes.Interface, namespace string) {
	for ctx.Err() == nil {
		_, _ = client.CoreV1().Secrets(namespace).Get(ctx, "heartbeat", metav1.GetOptions{}) // there is none
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

// leadOnce runs for leader once, and returns when it leads.
func (c *run) leadOnce(config *rest.Config) (ended <-chan struct{}) {
	client := kubernetes.NewForConfigOrDie(config)
	lock := leader.NewLock(c.observer(), &resourcelock.LeaseLock{
		LeaseMeta: metav1.ObjectMeta{Namespace: c.id, Name: "lock"}, Client: client.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: c.id},
	}, leader.Options{})
	var leads atomic.Bool
	ctx, cancel := context.WithCancel(context.Background())
	c.Cleanup(cancel)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second, Name: c.id,
		Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { leads.Store(true) }, OnStoppedLeading: func() {}},
	})
	must(c, err)
	end := make(chan struct{})
	go func() { defer close(end); elector.Run(ctx) }()
	go heartbeat(ctx, client, c.id)
	await.True(c, "leader", leads.Load)
	return end
}

// losing returns a configuration with which watches lack the deletion of an object, as if the watch cache had lost it.
func losing(config *rest.Config, name string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(request *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(request)
			if err != nil || request.URL.Query().Get("watch") == "" {
				return response, err
			}
			reader, writer := io.Pipe()
			body := response.Body
			go func() {
				events := bufio.NewReader(body)
				for {
					line, err := events.ReadBytes('\n')
					if !bytes.Contains(line, []byte(`"type":"DELETED"`)) || !bytes.Contains(line, []byte(`"name":"`+name+`"`)) {
						if _, err := writer.Write(line); err != nil {
							return
						}
					}
					if err != nil {
						writer.CloseWithError(err)
						return
					}
				}
			}()
			response.Body = both{reader, body}
			return response, nil
		})
	})
	return config
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// both closes the server's body as well.
type both struct {
	*io.PipeReader
	body io.Closer
}

func (b both) Close() error {
	_ = b.PipeReader.Close() // never fails
	return b.body.Close()
}
