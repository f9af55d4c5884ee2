package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/alecthomas/kingpin/v2"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/informer-exporter/informer-exporter/internal/exporter/election"
	"github.com/informer-exporter/informer-exporter/internal/exporter/sharding"
)

// electionFlags say whether one of several replicas is elected, and by which Lease.
type electionFlags struct {
	elect     bool
	namespace string
	name      string
}

func registerElection(cmd *kingpin.CmdClause) *electionFlags {
	f := &electionFlags{}
	cmd.Flag("leader-elect", "Make audits only while this replica is elected, by a Lease; everything else it does all the time. For several replicas of the same configuration. See docs/high-availability.md.").
		BoolVar(&f.elect)
	cmd.Flag("leader-elect.lease-namespace", "Namespace of the Lease. The default is the pod's: $POD_NAMESPACE, else that of its service account.").
		PlaceHolder("NAMESPACE").StringVar(&f.namespace)
	cmd.Flag("leader-elect.lease-name", "Name of the Lease. Replicas that watch the same must have the same, all others another one. The default is informer-exporter. One of several shards appends its number, such as informer-exporter-0.").
		PlaceHolder("NAME").StringVar(&f.name)
	return f
}

// serviceAccountNamespace is where a pod finds the namespace that it is in.
var serviceAccountNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// election returns what the flags ask for, nil if that is none.
func (f *electionFlags) election(shard sharding.Shard) (*election.Election, error) {
	if !f.elect {
		return nil, nil
	}
	namespace := f.namespace
	if namespace == "" {
		namespace = os.Getenv("POD_NAMESPACE")
	}
	if namespace == "" {
		file, err := os.ReadFile(serviceAccountNamespace)
		if err != nil {
			return nil, usageError{fmt.Errorf("--leader-elect: the namespace of the Lease is not known, since this is not a pod with a service account and $POD_NAMESPACE is not set; give --leader-elect.lease-namespace: %w", err)}
		}
		namespace = strings.TrimSpace(string(file))
	}
	if len(validation.IsDNS1123Label(namespace)) > 0 {
		return nil, usageError{fmt.Errorf("--leader-elect.lease-namespace: %q is not the name of a namespace", namespace)}
	}
	name := shard.Name()
	if f.name != "" {
		name = f.name
		if shard.Total > 1 { // or one replica of one shard would be elected for all of them
			name += "-" + strconv.Itoa(shard.Ordinal)
		}
	}
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return nil, usageError{fmt.Errorf("--leader-elect.lease-name: %q is not the name of a Lease", name)}
	}
	host, err := os.Hostname() // the pod's name
	if err != nil {
		return nil, fmt.Errorf("--leader-elect: %w", err)
	}
	// Not the host alone: with the host's network, several pods may have it, and a pod that is restarted keeps it.
	return &election.Election{Namespace: namespace, Name: name, Identity: host + "_" + string(uuid.NewUUID())}, nil
}
