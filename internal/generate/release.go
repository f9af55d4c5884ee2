package generate

// ref is the branch or tag of the repository that generated links point to: the tag in the commit of a release, and main in all
// others. `make release-links REF=v1.2.3` sets it. Unlike the version of the build, it is a constant, so that the files under
// deploy do not depend on the build.
const ref = "main"

// repository is the base URL of links in generated files.
const repository = "https://github.com/informer-exporter/informer-exporter/blob/" + ref

const defaultRunbooks = repository + "/deploy/runbooks"
