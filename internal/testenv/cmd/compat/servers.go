package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/informer-exporter/informer-exporter/internal/testenv/stack"
)

// servers are the minor versions of the API server that are supported, the newest first, which all other tests use, and the two
// before it. The README lists the same; a test compares them.
var servers = []string{"1.37", "1.36", "1.35"}

// suite has the tests of a package that depend on features of the API server.
type suite struct {
	pkg   string // a directory, which may be in a separate module
	tests []string
}

// suites run with each version of the API server.
var suites = []suite{
	// The server has the expected version.
	{"./internal/testenv/stack", []string{"TestBareControlPlane"}},
	// Streaming lists and their absence, exact lists, watches with bookmarks, compaction, dead connections.
	{"./collectors/informer", []string{
		"TestStreamingListsCountLikeLists", "TestServerWithoutStreamingLists", "TestEventsAreCountedExactly", "TestAudit", "TestCompactedVersion",
		"TestFreshInformer", "TestHalfOpenConnection", "TestPropagation", "TestResourceFactoriesOnARealServer",
	}},
	// Published schemas, Leases, status subresources.
	{"./collectors/objects", []string{"TestDescriptionsOfTheServer", "TestDescriptionOfADefinition", "TestDeletionOnTheServer", "TestGenerationsOnTheServer"}},
	{"./collectors/leader", []string{"TestLeadershipIsCountedExactly"}},
	{"./collectors/apiclient", []string{"TestRequestsAsTheServerCountsThem", "TestRequestsOfTheCoreGroup"}},
	// Discovery, custom resources, metadata requests, and shardSelector, which API servers before 1.36 ignore.
	{"./internal/exporter", []string{
		"TestDefaultKindsOnARealServer", "TestChecksOfTheDefaultKinds", "TestCustomResourcesAreFollowed", "TestOnlyMetadataIsRequested", "TestObjectsAreSpreadByNamespaces",
	}},
	// Manifests that users apply.
	{"./test/deploy", []string{"TestHelmOnARealServer"}},
	// Errors of the server itself, ends of watches, and expired resource versions.
	{"./test/faults", []string{"TestCutConnection", "TestForbidden", "TestUnauthorized", "TestServerTimeout", "TestCompaction", "TestEtcdRestored", "TestCRDDeleted"}},
}

// testServer runs the suites with the API server of a minor version, which it builds if it is missing.
func testServer(ctx context.Context, minor string) error {
	path, err := stack.APIServerBinary(ctx, minor, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	for _, s := range suites {
		args := []string{"test", "-count=1", "-timeout=20m", "-run=^(" + strings.Join(s.tests, "|") + ")$", "."}
		cmd := exec.CommandContext(ctx, "go", args...)
		cmd.Dir = s.pkg
		cmd.Env = append(os.Environ(), "KUBEBUILDER_ASSETS="+filepath.Dir(path), "API_SERVER="+minor)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: go %s: %w\n%s", s.pkg, strings.Join(args, " "), err, out)
		}
	}
	return nil
}
