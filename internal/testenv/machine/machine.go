// Package machine describes the machine of a benchmark.
package machine

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// Describe returns a sentence with processor, memory, versions and the load average of the last minute. Facts that the operating
// system does not report are given as unknown.
func Describe() string {
	kib, _ := strconv.Atoi(read("/proc/meminfo", `MemTotal:\s+(\d+)`))
	return fmt.Sprintf("%s, %d cores, %d GiB of memory, Linux %s, %s, load average at the end of the run %s.",
		read("/proc/cpuinfo", `model name\s+:\s+(.*)`), runtime.NumCPU(), (kib+1<<19)>>20,
		read("/proc/sys/kernel/osrelease", `^(\d+\.\d+)`), runtime.Version(), Load())
}

// Load returns the load average of the last minute.
func Load() string { return read("/proc/loadavg", `^(\S+)`) }

func read(path, pattern string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	if found := regexp.MustCompile(pattern).FindSubmatch(data); found != nil {
		return strings.TrimSpace(string(found[1]))
	}
	return "unknown"
}
