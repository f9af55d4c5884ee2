package main

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

// auditedNamespace is the namespace of service accounts, for which requests are counted.
const auditedNamespace = "measured"

// auditPolicy logs only requests of these accounts, when they are received.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted, ResponseComplete, Panic]
rules:
  - {level: Metadata, userGroups: ["system:serviceaccounts:` + auditedNamespace + `"]}
  - {level: None}
`

// audited is a control plane with an API server that writes an audit log of the requests of each service account.
type audited struct {
	*stack.ControlPlane
	log string
}

func startAudited(b *testing.B) *audited {
	b.Helper()
	dir := b.TempDir()
	policy, log := filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		b.Fatal(err)
	}
	plane := stacktest.Private(b, stack.Options{APIServerArgs: []string{"--audit-policy-file=" + policy, "--audit-log-path=" + log}})
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: auditedNamespace}}
	if _, err := kubernetes.NewForConfigOrDie(plane.Config()).CoreV1().Namespaces().Create(b.Context(), namespace, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	return &audited{plane, log}
}

// kubeconfig writes a kubeconfig for a new service account with the ClusterRole cluster-admin.
func (a *audited) kubeconfig(b *testing.B, account string) string {
	b.Helper()
	reader := stacktest.NewAccount(b, a.ControlPlane, auditedNamespace, account)
	reader.Bind(b, "cluster-admin")
	return stacktest.Kubeconfig(b, reader.Config)
}

// requests are the numbers of requests of a program: watches of informers, watches of freshness checks, which last a second
// or two, lists, and others, such as discovery.
type requests struct{ watches, checks, lists, others int }

func (r requests) total() int { return r.watches + r.checks + r.lists + r.others }

// requests counts the requests of an account in a period.
func (a *audited) requests(b *testing.B, account string, from, to time.Time) (r requests) {
	b.Helper()
	file, err := os.Open(a.log)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb                     string
			RequestURI               string
			User                     struct{ Username string }
			RequestReceivedTimestamp time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			b.Fatal(err)
		}
		at := event.RequestReceivedTimestamp
		if event.User.Username != "system:serviceaccount:"+auditedNamespace+":"+account || at.Before(from) || at.After(to) {
			continue
		}
		asked, err := url.Parse(event.RequestURI)
		if err != nil {
			b.Fatal(err)
		}
		switch seconds := asked.Query().Get("timeoutSeconds"); {
		case event.Verb == "watch" && len(seconds) == 1:
			r.checks++
		case event.Verb == "watch":
			r.watches++
		case event.Verb == "list":
			r.lists++
		default:
			r.others++
		}
	}
	if err := lines.Err(); err != nil {
		b.Fatal(err)
	}
	return r
}
