// Package event decodes events of a Kubernetes audit log (audit.k8s.io/v1). It reads what describes a request and leaves the rest of
// an event undecoded. Input is untrusted: what cannot be decoded is an error, never a panic.
package event

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Stages of a request.
const (
	// StageStarted is the start of a long response: a watch that is open.
	StageStarted = "ResponseStarted"
	// StageComplete is the end of a response.
	StageComplete = "ResponseComplete"
	// StagePanic is a panic of the request's handler.
	StagePanic = "Panic"
)

// Event is an event of the audit log, at one stage of a request. Its texts come from clients: they have any length and content.
type Event struct {
	// AuditID identifies the request. All of its stages have the same.
	AuditID string
	// Stage is StageStarted, StageComplete, StagePanic or another of audit.k8s.io/v1.
	Stage string
	// Verb is get, list, watch, create, update, patch, delete, deletecollection or, outside of the API, an HTTP method.
	Verb string
	// User is the authenticated user before impersonation.
	User string
	// Agent is the header User-Agent.
	Agent string
	// Source is the first of the source addresses: the client, if a proxy forwards it.
	Source string
	// URI is the path and query of the request.
	URI string
	// Group, Resource, Subresource, Namespace and Name are the object or collection requested. Resource is empty outside of the API.
	Group, Resource, Subresource, Namespace, Name string
	// Code is the HTTP status, 0 if there is none.
	Code int
	// Received is when the API server received the request, At when it reached the stage.
	Received, At time.Time
	// Bytes is the size of the response in the log: 0 at level Metadata, which leaves it out.
	Bytes int
}

// wire is the part of audit.k8s.io/v1 Event that is decoded, and the wrapper of Azure's diagnostic logs.
type wire struct {
	AuditID   string   `json:"auditID"`
	Stage     string   `json:"stage"`
	Verb      string   `json:"verb"`
	URI       string   `json:"requestURI"`
	UserAgent string   `json:"userAgent"`
	SourceIPs []string `json:"sourceIPs"`
	User      struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
		APIGroup    string `json:"apiGroup"`
		Subresource string `json:"subresource"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	ResponseObject json.RawMessage `json:"responseObject"`
	Received       time.Time       `json:"requestReceivedTimestamp"`
	At             time.Time       `json:"stageTimestamp"`
	// Properties is what Azure's diagnostic logs wrap around an event.
	Properties struct {
		Log string `json:"log"`
	} `json:"properties"`
}

// errIncomplete is the error for a document that is JSON and no event.
var errIncomplete = errors.New("not an event of audit.k8s.io: auditID, stage, verb or a timestamp is missing")

// Decode sets e to an event in JSON. Text before the first brace is ignored: log stores put timestamps there. It unwraps the records of
// Azure's diagnostic logs. The event shares no memory with text. An error leaves e undefined.
func Decode(text []byte, e *Event) error { return decode(text, e, true) }

func decode(text []byte, e *Event, wrapped bool) error {
	if i := bytes.IndexByte(text[:min(len(text), maxPrefix)], '{'); i > 0 {
		text = text[i:]
	}
	var w wire
	if err := json.Unmarshal(text, &w); err != nil {
		return fmt.Errorf("decode an audit event: %w", err)
	}
	if wrapped && w.AuditID == "" && w.Properties.Log != "" {
		return decode([]byte(w.Properties.Log), e, false)
	}
	if w.AuditID == "" || w.Stage == "" || w.Verb == "" || w.At.IsZero() || w.Received.IsZero() {
		return errIncomplete
	}
	*e = Event{
		AuditID: w.AuditID, Stage: w.Stage, Verb: w.Verb, User: w.User.Username, Agent: w.UserAgent, URI: w.URI,
		Group: w.ObjectRef.APIGroup, Resource: w.ObjectRef.Resource, Subresource: w.ObjectRef.Subresource,
		Namespace: w.ObjectRef.Namespace, Name: w.ObjectRef.Name,
		Code: w.ResponseStatus.Code, Received: w.Received, At: w.At, Bytes: len(w.ResponseObject),
	}
	if len(w.SourceIPs) > 0 {
		e.Source = w.SourceIPs[0]
	}
	return nil
}

// maxPrefix is the longest text before an event that Decode ignores.
const maxPrefix = 256

// Options are what a list or watch asks for, in the query of its URI.
type Options struct {
	// Version is resourceVersion, Match resourceVersionMatch.
	Version, Match string
	// Labels and Fields are the selectors.
	Labels, Fields string
	// Timeout is timeoutSeconds, 0 if it is not set.
	Timeout time.Duration
	// Streaming is set for a streaming list: sendInitialEvents.
	Streaming bool
	// Bookmarks is set if the client wants bookmarks, as informers do.
	Bookmarks bool
	// Paged is set for one page of a list, Continued for a page after the first.
	Paged, Continued bool
}

// Options returns what a list or watch asks for. Options that cannot be parsed have their zero value.
func (e *Event) Options() (o Options) {
	_, query, found := strings.Cut(e.URI, "?")
	if !found {
		return o
	}
	values, _ := url.ParseQuery(query) // what can be parsed
	o = Options{
		Version: values.Get("resourceVersion"), Match: values.Get("resourceVersionMatch"),
		Labels: values.Get("labelSelector"), Fields: values.Get("fieldSelector"),
		Streaming: isTrue(values.Get("sendInitialEvents")), Bookmarks: isTrue(values.Get("allowWatchBookmarks")),
		Continued: values.Get("continue") != "",
	}
	o.Paged = o.Continued || values.Get("limit") != "" && values.Get("limit") != "0"
	if seconds, err := strconv.ParseInt(values.Get("timeoutSeconds"), 10, 64); err == nil && seconds > 0 && seconds < math.MaxInt32 {
		o.Timeout = time.Duration(seconds) * time.Second
	}
	return o
}

func isTrue(text string) bool { return text == "true" || text == "1" }
