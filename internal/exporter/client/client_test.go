package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const kubeconfigYAML = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://SERVER:6443"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`

func writeKubeconfig(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(kubeconfigYAML, "SERVER", server)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRESTConfig(t *testing.T) {
	byFlag, byEnv := writeKubeconfig(t, "flag"), writeKubeconfig(t, "env")
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".kube"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".kube", "config"), []byte(strings.ReplaceAll(kubeconfigYAML, "SERVER", "home")), 0o600); err != nil {
		t.Fatal(err)
	}

	for _, tc := range []struct {
		name      string
		flag, env string
		inPod     bool
		host      string
		errors    []string
	}{
		{name: "flag", flag: byFlag, host: "https://flag:6443"},
		{name: "environment", env: byEnv, host: "https://env:6443"},
		{name: "flag before environment", flag: byFlag, env: byEnv, host: "https://flag:6443"},
		{name: "several in the environment", env: byEnv + string(os.PathListSeparator) + byFlag, host: "https://env:6443"},
		{name: "neither, although there is one at home", errors: []string{"--kubeconfig", "$KUBECONFIG", "not running in a Pod"}},
		{name: "flag leads nowhere", flag: filepath.Join(home, "none"), env: byEnv, errors: []string{"--kubeconfig", "none"}},
		{name: "environment leads nowhere", env: filepath.Join(home, "none"), errors: []string{"$KUBECONFIG"}},
		{name: "pod without a token", inPod: true, errors: []string{"service account", "--kubeconfig"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv("HOME", home)
			t.Setenv("KUBECONFIG", tc.env)
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			t.Setenv("KUBERNETES_SERVICE_PORT", "")
			if tc.inPod {
				t.Setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
				t.Setenv("KUBERNETES_SERVICE_PORT", "443")
			}
			config, err := RESTConfig(tc.flag)
			if len(tc.errors) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				if config.Host != tc.host {
					t.Errorf("host is %s, want %s", config.Host, tc.host)
				}
				return
			}
			if err == nil {
				t.Fatalf("no error, but a configuration for %s", config.Host)
			}
			for _, want := range tc.errors {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not have %q", err, want)
				}
			}
		})
	}
}

// Credentials in the URL of the API server are used, and not shown.
func TestUserInTheURL(t *testing.T) {
	for _, c := range []struct{ name, scheme, user, username string }{
		{"password", "https://", "", "alice"},
		{"token", "https://", "token: t", ""},
		{"no scheme", "", "", "alice"},
	} {
		config, err := RESTConfig(kubeconfigWith(t, c.scheme+"alice:s3cret@api.example.com:6443/prefix", c.user))
		if err != nil {
			t.Fatal(err)
		}
		if config.Host != c.scheme+"api.example.com:6443/prefix" || config.Username != c.username || (config.Password == "s3cret") != (c.username != "") {
			t.Errorf("%s: host %s, user %q", c.name, config.Host, config.Username)
		}
	}
	for _, server := range []string{"https://alice:s3cret@api.example.com:port", "https:/alice:s3cret@api.example.com:6443", "https:///alice:s3cret@api.example.com"} {
		file := kubeconfigWith(t, server, "")
		_, err := RESTConfig(file)
		_, userErr := UserConfig(file, "")
		for _, err := range []error{err, userErr} {
			if err == nil || !strings.Contains(err.Error(), "server: not a URL") || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: error %v", server, err)
			}
		}
	}
	if config, err := RESTConfig(kubeconfigWith(t, "https://api.example.com/clusters/a@b", "")); err != nil || config.Host != "https://api.example.com/clusters/a@b" {
		t.Errorf("a path with @: %v", err)
	}
}

// Without a kubeconfig, the error names the places where it was looked for.
func TestNoKubeconfig(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	missing := filepath.Join(t.TempDir(), "missing")
	t.Setenv("KUBECONFIG", missing)
	if _, err := UserConfig("", ""); err == nil || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "--kubeconfig") {
		t.Errorf("error %v", err)
	}
}

// No error contains the password in the URL of a proxy, however the URL is mistyped.
func TestPasswordOfTheProxy(t *testing.T) {
	for _, proxy := range []string{"ftp://alice:s3cret@proxy:3128", "alice:s3cret@proxy:3128", "http://alice:s3cret@proxy:port", "http://alice:s3cret%zz@proxy", "http://alice:s3cret@\\tproxy", "alice:s3cret\\\"@proxy"} {
		file := kubeconfigWith(t, `https://api.example.com:6443", proxy-url: "`+proxy, "")
		_, err := RESTConfig(file)
		_, userErr := UserConfig(file, "")
		for _, err := range []error{err, userErr} {
			if err == nil || !strings.Contains(err.Error(), `cluster "c": proxy-url: not a URL`) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: error %v", proxy, err)
			}
		}
	}
	if config, err := RESTConfig(kubeconfigWith(t, `https://api.example.com:6443", proxy-url: "http://alice:s3cret@proxy:3128`, "")); err != nil || config.Proxy == nil {
		t.Errorf("a proxy with a password: %v", err)
	}
	if _, err := RESTConfig(kubeconfigWith(t, `https://api.example.com:6443", proxy-url: "ftp://proxy`, "")); err == nil || !strings.Contains(err.Error(), "ftp://proxy") {
		t.Errorf("a proxy without a password: %v", err)
	}
}

// kubeconfigWith returns a file with the URL of an API server, and the fields of a user.
func kubeconfigWith(t *testing.T, server, user string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(`apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "`+server+`"}}]
users: [{name: u, user: {`+user+`}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
