package hostile_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// hostileGroup serves the resources of the cases, in version v1.
const hostileGroup = "hostile.example.com"

// clientToken is the bearer token in the configuration of clients.
const clientToken = "token-of-a-client"

// hostileServer is an API server that returns false data. It is a proxy in front of a real one, and also serves an API
// group with a resource for each of hostileCases: lists and watches of the resource return one kind of false or invalid data.
type hostileServer struct {
	server, elsewhere *httptest.Server
	proxy             *httputil.ReverseProxy
	seed              uint64
	requests          atomic.Uint64
	leaked, followed  atomic.Uint64
}

// startHostile starts a server in front of the API server of config. Payloads are random; seed reproduces them. The caller must call
// Close.
func startHostile(config *rest.Config, seed uint64) (*hostileServer, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("hostile: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("hostile: %w", err)
	}
	s := &hostileServer{seed: seed}
	s.proxy = &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Authorization") // the transport authenticates
		},
		Transport: transport, FlushInterval: -1, ModifyResponse: addGroup,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }, // without a log line for each client that disconnects
	}
	s.elsewhere = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.followed.Add(1)
		if strings.Contains(r.Header.Get("Authorization"), clientToken) {
			s.leaked.Add(1)
		}
		http.NotFound(w, r)
	}))
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.server.EnableHTTP2 = true
	s.server.StartTLS()
	return s, nil
}

// Config returns a client configuration.
func (s *hostileServer) Config() *rest.Config {
	certificate := new(bytes.Buffer)
	fmt.Fprintf(certificate, "-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----\n", base64.StdEncoding.EncodeToString(s.server.Certificate().Raw))
	return &rest.Config{Host: s.server.URL, BearerToken: clientToken, TLSClientConfig: rest.TLSClientConfig{CAData: certificate.Bytes()}}
}

// Redirected returns how many requests have followed a redirect to another server, and how many of them had the client's token.
func (s *hostileServer) Redirected() (requests, tokens uint64) {
	return s.followed.Load(), s.leaked.Load()
}

// Close ends all requests and the server.
func (s *hostileServer) Close() {
	s.server.CloseClientConnections()
	s.server.Close()
	s.elsewhere.Close()
}

func (s *hostileServer) serve(w http.ResponseWriter, r *http.Request) {
	const prefix = "/apis/" + hostileGroup + "/v1"
	path, ours := strings.CutPrefix(r.URL.Path, prefix)
	switch {
	case ours && path == "":
		w.Header().Set("Content-Type", runtime.ContentTypeJSON)
		_ = json.NewEncoder(w).Encode(resources()) // fails only if the client has disconnected
	case ours:
		s.attack(w, r, path)
	case r.URL.Path == "/apis" || r.URL.Path == "/api":
		r.Header.Set("Accept", runtime.ContentTypeJSON) // disables aggregated discovery
		r.Header.Del("Accept-Encoding")
		s.proxy.ServeHTTP(w, r)
	default:
		s.proxy.ServeHTTP(w, r)
	}
}

// attack serves /[namespaces/NAMESPACE/]RESOURCE.
func (s *hostileServer) attack(w http.ResponseWriter, r *http.Request, path string) {
	namespace := "default"
	if rest, found := strings.CutPrefix(path, "/namespaces/"); found {
		namespace, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	for _, c := range hostileCases {
		if path == "/"+c.Resource {
			query := r.URL.Query()
			hash := fnv.New64a()
			_, _ = hash.Write([]byte(c.Resource)) // never fails
			c.serve(&request{
				ResponseWriter: w, r: r, server: s, namespace: namespace,
				watch: query.Get("watch") != "", streaming: query.Get("sendInitialEvents") == "true",
				random: rand.New(rand.NewPCG(s.seed^hash.Sum64(), s.requests.Add(1))),
			})
			return
		}
	}
	http.NotFound(w, r)
}

// resources returns the resources that discovery reports.
func resources() metav1.APIResourceList {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: hostileGroup + "/v1"}
	for _, c := range hostileCases {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: c.Resource, SingularName: c.Resource, Kind: strings.ToUpper(c.Resource[:1]) + c.Resource[1:], Namespaced: true, Verbs: metav1.Verbs{"list", "watch", "get"},
		})
	}
	return list
}

// addGroup adds the group to those of the real server.
func addGroup(response *http.Response) error {
	if response.Request.URL.Path != "/apis" || response.StatusCode != http.StatusOK {
		return nil
	}
	var groups metav1.APIGroupList
	if err := json.NewDecoder(response.Body).Decode(&groups); err != nil {
		return err
	}
	version := metav1.GroupVersionForDiscovery{GroupVersion: hostileGroup + "/v1", Version: "v1"}
	groups.Groups = append(groups.Groups, metav1.APIGroup{Name: hostileGroup, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version})
	return replaceBody(response, groups)
}
