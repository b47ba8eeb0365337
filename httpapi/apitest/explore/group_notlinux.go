//go:build unix && !linux

package explore

import (
	"os"
	"syscall"
	"time"
)

// ownGroup starts a process in a group of its own.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// waitedForCPU is not known here.
func waitedForCPU(*os.Process) time.Duration { return 0 }
