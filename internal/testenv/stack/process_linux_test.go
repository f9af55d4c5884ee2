package stack

import (
	"bufio"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/informer-exporter/informer-exporter/internal/testenv/await"
)

const roleVariable = "STACK_TEST_ROLE"

// TestRoles is not a test: TestServersDieWithTheirParent starts this binary again as the program that dies and as its server.
func TestRoles(t *testing.T) {
	switch os.Getenv(roleVariable) {
	case "parent":
		t.Setenv(roleVariable, "child")
		// The caller's thread ends, because the runtime ends a locked thread with its goroutine. The child must survive
		// that.
		type result struct {
			proc *process
			err  error
		}
		results := make(chan result)
		var start func()
		start = func() {
			runtime.LockOSThread()
			if syscall.Gettid() == os.Getpid() { // the main thread never ends: keep it busy and use another one
				go start()
				select {}
			}
			proc, err := startProcess(Command{Name: "child", Program: os.Args[0], Args: []string{"-test.run=^TestRoles$"}, Dir: t.TempDir()})
			results <- result{proc, err}
		}
		go start()
		r := <-results
		if r.err != nil {
			t.Fatal(r.err)
		}
		proc := r.proc
		select {
		case <-proc.done:
			t.Fatal("the child died with the thread of the caller")
		case <-time.After(300 * time.Millisecond): // time for the thread to end
		}
		os.Stdout.WriteString("child " + strconv.Itoa(proc.cmd.Process.Pid) + "\n")
		time.Sleep(time.Hour)
	case "child":
		time.Sleep(time.Hour)
	default:
		t.Skip("run by TestServersDieWithTheirParent")
	}
}

func TestServersDieWithTheirParent(t *testing.T) {
	parent := exec.Command(os.Args[0], "-test.run=^TestRoles$")
	parent.Env = append(os.Environ(), roleVariable+"=parent", "TMPDIR="+t.TempDir()) // the killed parent does not remove its files
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "child ")))
	if err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if gone(child) {
		t.Fatalf("child %d should run while its parent does", child)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for deadline := time.Now().Add(await.Timeout); !gone(child); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = syscall.Kill(child, syscall.SIGKILL)
			t.Fatalf("child %d outlives its parent", child)
		}
	}
}

// gone reports whether a process has exited. It returns true for zombies: the process that inherits the child may never wait
// for it.
func gone(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return len(fields) > 0 && (fields[0] == "Z" || fields[0] == "X")
}
