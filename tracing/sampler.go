package tracing

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// LinkRelationKey is the attribute of links to causes: "event" for the delivery of an event, "retried" for an attempt that failed,
// "requeued" for an attempt that requested another one, "list" for the list that a delivered object is from, and "annotation" for the
// context in a TraceparentAnnotation. A link with the value "requeued" does not make a reconcile sampled: a controller that requeues
// at intervals would be sampled forever. Nor does "list": a list may have thousands of objects.
const LinkRelationKey = attribute.Key("link.relation")

const (
	relationRequeued   = "requeued"
	relationListed     = "list"
	relationAnnotation = "annotation" // of TraceparentAnnotation
)

// sampler follows OTEL_TRACES_SAMPLER, and treats links as parents: a reconcile is a new trace with links to the
// events that caused it, and following one event to its write needs both traces.
type sampler struct {
	ratio float64
	// bound is that of the SDK's TraceIDRatioBased: a trace is sampled if the last 8 bytes of its ID, shifted right by one bit,
	// are below it.
	bound uint64
	// parentBased follows the decisions of the parent and of links.
	parentBased bool
	// localOnly ignores the sampled flag of contexts that other programs have written to objects.
	localOnly bool
	// tail records reconciles that are not sampled, so that Tail can decide when they end.
	tail bool
}

func newSampler(config Config) sampler {
	ratio := ratioByEnv()
	return sampler{
		ratio: ratio, bound: uint64(ratio * (1 << 63)), parentBased: parentBasedByEnv(),
		localOnly: config.IgnoreRemoteSampling, tail: config.Tail.enabled(),
	}
}

// ShouldSample implements the SDK's Sampler.
func (s sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	parent := trace.SpanFromContext(p.ParentContext)
	sc := parent.SpanContext()
	result := sdktrace.SamplingResult{Decision: sdktrace.Drop, Tracestate: sc.TraceState()}
	var sampled bool
	switch {
	case s.parentBased && sc.IsValid():
		sampled = sc.IsSampled()
	case s.parentBased && s.causedBySampled(p.Links):
		sampled = true
	case p.ParentContext.Value(notSampledKey{}) != nil:
	default:
		sampled = s.keep(p.TraceID)
	}
	switch {
	case sampled:
		result.Decision = sdktrace.RecordAndSample
	case s.tail && (parent.IsRecording() || !sc.IsValid() && isReconcile(p.Name)):
		result.Decision = sdktrace.RecordOnly
	}
	return result
}

// Description implements the SDK's Sampler.
func (s sampler) Description() string {
	ratio := sdktrace.TraceIDRatioBased(s.ratio)
	if s.parentBased {
		return "ParentOrLinkBased{" + ratio.Description() + "}"
	}
	return ratio.Description()
}

// keep decides on a trace without a cause, by its ID only.
func (s sampler) keep(id trace.TraceID) bool { return binary.BigEndian.Uint64(id[8:])>>1 < s.bound }

// draw decides on a trace without a cause, before it has an ID.
func (s sampler) draw() bool { return rand.Uint64()>>1 < s.bound }

// sampledTraceID returns a random ID that keep accepts. draw must have returned true.
func (s sampler) sampledTraceID() (id trace.TraceID) {
	for !id.IsValid() {
		binary.BigEndian.PutUint64(id[:8], rand.Uint64())
		binary.BigEndian.PutUint64(id[8:], rand.Uint64N(s.bound)<<1|rand.Uint64N(2))
	}
	return id
}

func (s sampler) causedBySampled(links []trace.Link) bool {
	for _, link := range links {
		if s.follows(link.SpanContext) && !slices.ContainsFunc(link.Attributes, noCause) {
			return true
		}
	}
	return false
}

// noCause reports whether an attribute belongs to a link that has no effect on sampling.
func noCause(a attribute.KeyValue) bool {
	return a == LinkRelationKey.String(relationRequeued) || a == LinkRelationKey.String(relationListed)
}

// follows reports whether a trace is sampled because of one cause.
func (s sampler) follows(cause trace.SpanContext) bool {
	return s.parentBased && cause.IsSampled() && (!s.localOnly || !cause.IsRemote())
}

// followsRemote reports whether a trace may be sampled because of a cause in another program.
func (s sampler) followsRemote() bool { return s.parentBased && !s.localOnly }

// reconcilePrefix begins the names of the spans that Tail decides on.
const reconcilePrefix = "reconcile "

func isReconcile(name string) bool { return strings.HasPrefix(name, reconcilePrefix) }
