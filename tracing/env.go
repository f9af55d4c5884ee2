package tracing

import (
	"os"
	"strconv"
	"strings"
)

// DefaultRatio is the share of traces that is sampled when OTEL_TRACES_SAMPLER is not set.
const DefaultRatio = 0.01

// enabledByEnv reports whether the environment enables tracing. By the specification, spans go to localhost when nothing is
// set, but a program that is not configured for tracing should not try to connect every few seconds.
func enabledByEnv() bool {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	if exporter := env("OTEL_TRACES_EXPORTER"); exporter != "" {
		return exporter != "none"
	}
	return env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// ratioByEnv returns the share of root spans to sample, as the SDK reads OTEL_TRACES_SAMPLER: an invalid argument is
// ignored, and a ratio without an argument samples everything.
func ratioByEnv() float64 {
	switch strings.ToLower(env("OTEL_TRACES_SAMPLER")) {
	case "always_on", "parentbased_always_on":
		return 1
	case "always_off", "parentbased_always_off":
		return 0
	case "traceidratio", "parentbased_traceidratio":
		ratio, err := strconv.ParseFloat(env("OTEL_TRACES_SAMPLER_ARG"), 64)
		if err != nil || ratio < 0 || ratio > 1 {
			return 1
		}
		return ratio
	}
	return DefaultRatio
}

// parentBasedByEnv reports whether a span follows the sampling decision of its causes. By default it does, as in the specification.
func parentBasedByEnv() bool {
	switch strings.ToLower(env("OTEL_TRACES_SAMPLER")) {
	case "always_on", "always_off", "traceidratio":
		return false
	}
	return true
}

// queueSizeByEnv returns the number of spans that may wait for their export.
func queueSizeByEnv() int {
	size, err := strconv.Atoi(env("OTEL_BSP_MAX_QUEUE_SIZE"))
	if err != nil || size <= 0 {
		return defaultQueueSize
	}
	return size
}

func env(key string) string { return strings.TrimSpace(os.Getenv(key)) }
