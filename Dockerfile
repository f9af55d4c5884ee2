# syntax=docker/dockerfile:1
# docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=v0.1.0 --tag informer-exporter .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH
ARG VERSION=unknown REVISION=unknown
ENV GOCACHE=/go/cache
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/go/cache \
    GOOS=$TARGETOS GOARCH=$TARGETARCH make build VERSION=$VERSION REVISION=$REVISION

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /src/bin/informer-exporter /informer-exporter
# A number, because runAsNonRoot does not accept names.
USER 65532:65532
EXPOSE 9958
ENTRYPOINT ["/informer-exporter"]
