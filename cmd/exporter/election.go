package main

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-exporter/informer-exporter/internal/exporter/election"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

// electionFlags configure leader election.
type electionFlags struct {
	elect     bool
	namespace string
	name      string
}

func registerElection(flags *pflag.FlagSet) *electionFlags {
	f := &electionFlags{}
	flags.BoolVar(&f.elect, "leader-elect", false, "Run audits only while this replica holds a Lease. All else runs in every replica. See docs/high-availability.md.")
	flags.StringVar(&f.namespace, "leader-elect.lease-namespace", "", "`NAMESPACE` of the Lease. Defaults to $POD_NAMESPACE, then to the service account's namespace.")
	flags.StringVar(&f.name, "leader-elect.lease-name", "", "`NAME` of the Lease. Only replicas with the same configuration may share it. Defaults to informer-exporter. Shards append their ordinal, such as informer-exporter-0.")
	return f
}

// serviceAccountNamespace is the file with the pod's namespace.
var serviceAccountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// election returns the configuration of the flags, or nil without --leader-elect.
func (f *electionFlags) election(shard sharding.Shard) (*election.Election, error) {
	if !f.elect {
		return nil, nil
	}
	namespace := cmp.Or(f.namespace, os.Getenv("POD_NAMESPACE"))
	if namespace == "" {
		file, err := os.ReadFile(serviceAccountNamespace)
		if err != nil {
			return nil, usageError{fmt.Errorf("--leader-elect: unknown namespace: no service account and no $POD_NAMESPACE; set --leader-elect.lease-namespace: %w", err)}
		}
		namespace = strings.TrimSpace(string(file))
	}
	if len(validation.IsDNS1123Label(namespace)) > 0 {
		return nil, usageError{fmt.Errorf("--leader-elect.lease-namespace: %q is not a valid namespace", namespace)}
	}
	name := shard.Name()
	if f.name != "" {
		name = f.name
		if shard.Total > 1 { // otherwise one replica would be elected for all shards
			name += "-" + strconv.Itoa(shard.Ordinal)
		}
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, usageError{fmt.Errorf("--leader-elect.lease-name: %q is not a valid name of a Lease", name)}
	}
	host, err := os.Hostname() // the name of the pod
	if err != nil {
		return nil, fmt.Errorf("--leader-elect: %w", err)
	}
	// The host name is not unique: pods on the host network share it, and a restarted container keeps it.
	return &election.Election{Namespace: namespace, Name: name, Identity: host + "_" + string(uuid.NewUUID())}, nil
}
