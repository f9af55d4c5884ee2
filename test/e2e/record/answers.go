package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answer replaces the API server's response if it returns true. It may also change the request.
type answer func(http.ResponseWriter, *http.Request) (answered bool)

// status responds to requests of one kind with an error.
func status(of func(*http.Request) bool, code int, reason metav1.StatusReason) answer {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !of(r) {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = w.Write(statusJSON(code, reason))
		return true
	}
}

// ended opens watches and ends them immediately.
func ended(w http.ResponseWriter, r *http.Request) bool {
	if !isWatch(r) {
		return false
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	return true
}

// late delays lists.
func late(d time.Duration) answer {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if isAnyList(r) {
			select {
			case <-time.After(d):
			case <-r.Context().Done():
			}
		}
		return false
	}
}

// with sets a header of requests for lists.
func with(header, value string) answer {
	return func(_ http.ResponseWriter, r *http.Request) bool {
		if isAnyList(r) {
			r.Header.Set(header, value)
		}
		return false
	}
}

func statusJSON(code int, reason metav1.StatusReason) []byte {
	b, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "by the gate",
	})
	if err != nil {
		panic(err)
	}
	return b
}

// gone returns the error event of a watch from a version that is too old.
func gone() string {
	return fmt.Sprintf(`{"type":"ERROR","object":%s}`, statusJSON(http.StatusGone, metav1.StatusReasonExpired))
}

// The kinds of requests. A streaming list is a watch that begins with the list.
func isList(r *http.Request) bool {
	return isOfKind(r) && r.URL.Query().Get("watch") == ""
}

func isStreamingList(r *http.Request) bool { return r.URL.Query().Get("sendInitialEvents") == "true" }

func isAnyList(r *http.Request) bool { return isList(r) || isStreamingList(r) }

func isWatch(r *http.Request) bool { return isOfKind(r) && !isAnyList(r) }

// isFreshnessCheck distinguishes the watches of Checks.Freshness, which last a second, from those of informers.
func isFreshnessCheck(r *http.Request) bool { return r.URL.Query().Get("timeoutSeconds") == "1" }

// isOfKind distinguishes requests for watched resources from discovery.
func isOfKind(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/namespaces/")
}
