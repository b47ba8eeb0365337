package explore

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ownGroup starts a process in a group of its own, and lets the kernel kill it when the search is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// waitedForCPU returns for how long the threads of a process have waited for a processor until now, all together.
func waitedForCPU(p *os.Process) (sum time.Duration) {
	dir := fmt.Sprintf("/proc/%d/task", p.Pid)
	threads, _ := os.ReadDir(dir)
	for _, thread := range threads {
		data, err := os.ReadFile(filepath.Join(dir, thread.Name(), "schedstat"))
		if words := strings.Fields(string(data)); err == nil && len(words) > 1 { // else the thread has ended
			n, _ := strconv.ParseInt(words[1], 10, 64)
			sum += time.Duration(n)
		}
	}
	return sum
}
