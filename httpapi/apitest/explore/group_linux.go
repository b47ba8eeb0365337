package explore

import "syscall"

// ownGroup starts a process in a group of its own, and lets the kernel kill it when the search is killed.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
