//go:build unix

package main

import (
	"os"
	"syscall"
)

// terminate sends SIGTERM to the group of a process.
func terminate(p *os.Process) error { return signalGroup(p, syscall.SIGTERM) }

// killGroup sends SIGKILL to the processes that are left in a group.
func killGroup(p *os.Process) { signalGroup(p, syscall.SIGKILL) }

func signalGroup(p *os.Process, s syscall.Signal) error {
	if err := syscall.Kill(-p.Pid, s); err != nil {
		return os.ErrProcessDone
	}
	return nil
}

// exitCode returns the code of a process as a shell reports it: 128 and the number of the
// signal that ended it.
func exitCode(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return s.ExitCode()
}
