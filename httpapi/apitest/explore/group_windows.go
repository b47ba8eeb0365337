package explore

import (
	"os"
	"syscall"
	"time"
)

// Windows has no SIGTERM and no groups as Unix has them: the command is killed at once, and the processes that it has started are left. The gate lets as
// many runs in as it can.

func ownGroup() *syscall.SysProcAttr { return nil }

func sigterm(p *os.Process) { _ = p.Kill() }

func killGroup(p *os.Process) { _ = p.Kill() }

func cpuTime() time.Duration { return 0 }

// waitedForCPU is not known here.
func waitedForCPU(*os.Process) time.Duration { return 0 }
