package tracing

import (
	"os"
	"strconv"
	"strings"
)

// DefaultRatio is the share of traces that is kept when OTEL_TRACES_SAMPLER is not set.
const DefaultRatio = 0.01

// enabledByEnv tells whether the environment asks for traces. The specification would send them to localhost when
// nothing is set at all; a program that nobody asked to trace should not knock on a port every few seconds.
func enabledByEnv() bool {
	if strings.EqualFold(env("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	if exporter := env("OTEL_TRACES_EXPORTER"); exporter != "" {
		return exporter != "none"
	}
	return env("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// ratioByEnv returns the share of root spans to keep, as the SDK's own reading of OTEL_TRACES_SAMPLER has it: an
// argument that cannot be understood is ignored, and a ratio without argument keeps everything. Whether a sampler is
// "parentbased" makes no difference to spans without a parent. The SDK reports what it cannot understand.
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

func env(key string) string { return strings.TrimSpace(os.Getenv(key)) }
