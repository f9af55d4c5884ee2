package auditlog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// rawProgram is a program that knows HTTP and JSON, and no library of Kubernetes.
type rawProgram struct {
	client *http.Client
	host   string
	agent  string
	// version is what it has seen.
	version string
}

func newRawProgram(t *testing.T, config *rest.Config, agent string) *rawProgram {
	t.Helper()
	client, err := rest.HTTPClientFor(config) // for its certificate authority and token
	if err != nil {
		t.Fatal(err)
	}
	return &rawProgram{client: client, host: config.Host, agent: agent}
}

func (p *rawProgram) send(ctx context.Context, method, path, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, p.host+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", p.agent)
	request.Header.Set("Content-Type", "application/merge-patch+json")
	return p.client.Do(request)
}

const rawPath = "/api/v1/namespaces/" + namespace + "/configmaps"

// run lists and watches until ctx ends, lists again when its version has expired, and reads an object each second.
func (p *rawProgram) run(ctx context.Context) {
	go wait.UntilWithContext(ctx, func(ctx context.Context) {
		if response, err := p.send(ctx, http.MethodGet, rawPath+"/mail", ""); err == nil {
			_ = response.Body.Close()
		}
	}, time.Second)
	wait.UntilWithContext(ctx, func(ctx context.Context) { _ = p.follow(ctx) }, 200*time.Millisecond)
}

func (p *rawProgram) follow(ctx context.Context) error {
	if p.version == "" {
		response, err := p.send(ctx, http.MethodGet, rawPath, "")
		if err != nil {
			return err
		}
		defer response.Body.Close() // only read
		var list metav1.PartialObjectMetadataList
		if err := json.NewDecoder(response.Body).Decode(&list); err != nil {
			return err
		}
		p.version = list.ResourceVersion
	}
	response, err := p.send(ctx, http.MethodGet, rawPath+"?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion="+url.QueryEscape(p.version), "")
	if err != nil {
		return err
	}
	defer response.Body.Close() // only read
	if response.StatusCode == http.StatusGone {
		p.version = ""
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// spin writes one object over and over.
func (p *rawProgram) spin(ctx context.Context) error {
	for n := range 80 {
		response, err := p.send(ctx, http.MethodPatch, rawPath+"/mail", fmt.Sprintf(`{"data":{"n":"%d"}}`, n))
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("patch: %s", response.Status)
		}
	}
	return nil
}
