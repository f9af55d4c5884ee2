package generate

// ref is the branch or tag of the repository that generated links point to. It is main, and in the commit that is tagged as a
// release it is the tag: `make release-links REF=v1.2.3` sets it. It is a constant and not the version of the build, so that the
// files under deploy do not depend on the build.
const ref = "main"

// repository is where generated files link to.
const repository = "https://github.com/informer-exporter/informer-exporter/blob/" + ref

const (
	defaultRunbooks = repository + "/deploy/runbooks"
	// requirementsPage resolves the IDs of requirements.
	requirementsPage = repository + "/docs/requirements.md"
)
