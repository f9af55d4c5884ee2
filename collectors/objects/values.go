package objects

// Values of the label purpose.
const (
	// purposeLeader is a Lease for leader election, or any Lease that is neither of the others.
	purposeLeader = "leader"
	// purposeNode is the heartbeat of a kubelet, in the namespace kube-node-lease.
	purposeNode = "node"
	// purposeAPIServer is the identity of an API server.
	purposeAPIServer = "apiserver"
)

// Values of the label state of a Lease.
const (
	stateHeld    = "held"
	stateExpired = "expired"
)

// Values of the label signal.
const (
	signalLeases        = "leases"
	signalTerminating   = "terminating"
	signalGenerationLag = "generation_lag"
)

// finalizerNone is the value of the label finalizer for an object without finalizers in its metadata.
const finalizerNone = "none"
