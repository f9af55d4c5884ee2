package main

import (
	"bufio"
	"encoding/json"
	"fmt"
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

// auditedNamespace is where the service accounts of the programs are whose requests are counted.
const auditedNamespace = "measured"

// auditPolicy writes down the requests of those accounts as they come in, and no others.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [ResponseStarted, ResponseComplete, Panic]
rules:
  - {level: Metadata, userGroups: ["system:serviceaccounts:` + auditedNamespace + `"]}
  - {level: None}
`

// audited is a control plane whose API server says who has asked for what: its own account of the requests, in which
// those of other clients are not.
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

// kubeconfig writes one for a service account of its own, which may read everything.
func (a *audited) kubeconfig(b *testing.B, account string) string {
	b.Helper()
	reader := stacktest.NewAccount(b, a.ControlPlane, auditedNamespace, account)
	reader.Bind(b, "cluster-admin")
	return stacktest.Kubeconfig(b, reader.Config)
}

// requests are how many a program has made: watches that follow a kind, watches of a second or two that check whether
// something was missed, lists, and others, such as for what is served.
type requests struct{ watches, checks, lists, others int }

func (r requests) total() int { return r.watches + r.checks + r.lists + r.others }

func (r requests) String() string {
	return fmt.Sprintf("%d: %d watches, %d short ones, %d lists, %d others", r.total(), r.watches, r.checks, r.lists, r.others)
}

// requests counts what an account has asked for in a time.
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
