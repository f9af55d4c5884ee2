package deploy_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/linter"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/informer-exporter/informer-exporter/internal/testenv/manifest"
	"github.com/informer-exporter/informer-exporter/internal/testenv/stacktest"
)

const root = "../.."

// user is the user of the image, as the manifests set it.
const user = 65532

// BuildKit's parser accepts the Dockerfile without a warning. Its image starts the program as the user of the manifests.
func TestDockerfile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil || len(parsed.Warnings) > 0 {
		t.Fatalf("%v, %v", err, parsed.Warnings)
	}
	stages, _, err := instructions.Parse(parsed.AST, linter.New(&linter.Config{
		Warn: func(rule, description, _, message string, _ []parser.Range) {
			t.Errorf("%s: %s (%s)", rule, message, description)
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	image := stages[len(stages)-1]
	for _, command := range image.Commands {
		switch c := command.(type) {
		case *instructions.UserCommand:
			got["user"] = c.User
		case *instructions.EntrypointCommand:
			got["entrypoint"] = strings.Join(c.CmdLine, " ")
			if c.PrependShell {
				t.Error("the image has no shell for its entrypoint")
			}
		case *instructions.CopyCommand:
			got[c.DestPath] = c.From
			if built := strings.TrimPrefix(c.SourcePaths[0], "/src/"); !strings.Contains(string(makefile), " -o "+built+" ") {
				t.Errorf("make build does not write %s", built)
			}
		case *instructions.RunCommand:
			t.Error("the image has no shell for RUN")
		}
	}
	if uid := strconv.Itoa(user); got["user"] != uid+":"+uid || got[got["entrypoint"]] != stages[0].Name {
		t.Errorf("the image has %v", got)
	}
	if base := koConfig(t).DefaultBaseImage; image.BaseName != base || !strings.HasSuffix(base, ":nonroot") {
		t.Errorf("the base is %s with BuildKit, and %s with ko", image.BaseName, base)
	}
	if major := regexp.MustCompile(`^go (\d+\.\d+)`).FindStringSubmatch(goDirective(t)); stages[0].BaseName != "golang:"+major[1] {
		t.Errorf("%s builds a module with %s", stages[0].BaseName, major[0])
	}
}

// The manifests run the image as its user, with a read-only root file system.
func TestManifestsRunTheImage(t *testing.T) {
	base, err := os.ReadFile(filepath.Join(root, "deploy/kustomize/base/deployment.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	workloads := append(objects(t, ""), manifest.Decode(t, string(base))...)
	var images []string
	for _, o := range slices.DeleteFunc(workloads, func(o *unstructured.Unstructured) bool { return o.GetKind() != "Deployment" }) {
		var d appsv1.Deployment
		if err := k8sruntime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &d); err != nil {
			t.Fatal(err)
		}
		pod := d.Spec.Template.Spec
		images = append(images, pod.Containers[0].Image)
		if *pod.SecurityContext.RunAsUser != user || !*pod.SecurityContext.RunAsNonRoot || !*pod.Containers[0].SecurityContext.ReadOnlyRootFilesystem {
			t.Errorf("the Pod runs with %v and %v", pod.SecurityContext, pod.Containers[0].SecurityContext)
		}
	}
	if len(images) != 2 || images[0] != images[1] || !strings.HasPrefix(images[0], "ghcr.io/informer-exporter/informer-exporter:v") {
		t.Errorf("the manifests use the images %q", images)
	}
	if chart, err := loaded(); err != nil || !strings.Contains(chart.Metadata.Annotations["artifacthub.io/images"], "image: "+images[0]+"\n") {
		t.Errorf("the chart does not name the image %s to Artifact Hub (%v)", images[0], err)
	}
}

// ko builds the image with the configuration of the repository, and its program reports metrics as the image's user, in a file
// system that has only the image's files. The base image is a replacement with the same user and environment and no files, because
// the real one cannot be pulled without a network.
func TestKo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the exporter")
	}
	images := registry.New(registry.Logger(slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo)))
	pushed := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/metrics/") {
			images.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		pushed <- body
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	pushBase(t, host+"/base:nonroot")

	tool := exec.CommandContext(t.Context(), "go", "tool", "-modfile=../../tools/ko/go.mod", "-n", "ko")
	tool.Env = append(os.Environ(), "GOWORK=off")
	ko, err := tool.Output()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), strings.TrimSpace(string(ko)), "build", "--bare", "--platform=linux/"+runtime.GOARCH, "./cmd/exporter")
	build.Dir = root
	build.Env = append(os.Environ(), "KO_DOCKER_REPO="+host+"/informer-exporter", "KO_DEFAULTBASEIMAGE="+host+"/base:nonroot", "GOWORK=")
	var stderr bytes.Buffer
	build.Stderr = &stderr
	out, err := build.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	image, config := pull(t, strings.TrimSpace(string(out)))
	if config.User != strconv.Itoa(user) || len(config.Entrypoint) != 1 {
		t.Fatalf("the image runs %v as the user %q", config.Entrypoint, config.User)
	}
	dir := unpack(t, image)
	if err := os.Rename(stacktest.Kubeconfig(t, stacktest.Config(t)), filepath.Join(dir, "kubeconfig")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "kubeconfig"), 0o644); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("only root on Linux can change the user and the root directory")
	}
	run := exec.CommandContext(t.Context(), config.Entrypoint[0], "push", "--kubeconfig=/kubeconfig", "--pushgateway.url="+server.URL)
	run.Env, run.Dir = config.Env, "/"
	run.SysProcAttr = &syscall.SysProcAttr{Chroot: dir, Credential: &syscall.Credential{Uid: user, Gid: user}}
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if metrics := string(<-pushed); !strings.Contains(metrics, "k8s_informer_synced") || !strings.Contains(metrics, "informer_exporter_build_info") {
		t.Errorf("the program pushed %s", metrics)
	}
}

// pushBase pushes an index of images without files, with the user and environment of distroless.
func pushBase(t *testing.T, reference string) {
	t.Helper()
	index := v1.ImageIndex(empty.Index)
	for _, arch := range []string{"amd64", "arm64"} {
		image, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: "linux", Architecture: arch, Config: v1.Config{
			User: strconv.Itoa(user), WorkingDir: "/", Env: []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(ref, index); err != nil {
		t.Fatal(err)
	}
}

func pull(t *testing.T, reference string) (v1.Image, v1.Config) {
	t.Helper()
	ref, err := name.ParseReference(reference)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	return image, config.Config
}

// unpack writes the files of an image to a directory that every user can read.
func unpack(t *testing.T, image v1.Image) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "image")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files := mutate.Extract(image)
	defer files.Close()
	for r := tar.NewReader(files); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		} else if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(header.Name))
		switch header.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, header.FileInfo().Mode())
		case tar.TypeReg:
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
					err = os.WriteFile(path, content, header.FileInfo().Mode())
				}
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

type ko struct {
	DefaultBaseImage string
}

func koConfig(t *testing.T) (c ko) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, ".ko.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func goDirective(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`(?m)^go .*`).FindString(string(text))
}
