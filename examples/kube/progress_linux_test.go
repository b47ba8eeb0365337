package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// terminal opens a pseudo terminal: what is written to slave is read from master.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals: ", err)
	}
	t.Cleanup(func() { master.Close() })
	control := func(request uintptr, value *int32) {
		t.Helper()
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value)))
		require.Zero(t, errno)
	}
	var number, unlocked int32
	control(syscall.TIOCSPTLCK, &unlocked)
	control(syscall.TIOCGPTN, &number)
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { slave.Close() })
	return master, slave
}

// definitions returns a folder with n definitions.
func definitions(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := range n {
		name := fmt.Sprintf("gadget%d", i)
		text := strings.ReplaceAll(strings.ReplaceAll(gadgets, "gadget", name), "Gadget", "Gadget"+name)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600))
	}
	return dir
}

func TestTerminalShowsHowFarTheStartIs(t *testing.T) {
	master, slave := terminal(t)
	greeting(t, slave, "-crds", definitions(t, 25))
	require.NoError(t, slave.Close())
	want := "\rloading: 10 objects\rloading: 20 objects\r\x1b[K"
	shown := make([]byte, len(want))
	_, err := io.ReadFull(master, shown) // one read may have less: as much as the kernel has passed on
	require.NoError(t, err)
	assert.Equal(t, want, string(shown))
}

func TestLogShowsNoProgress(t *testing.T) {
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer log.Close()
	greeting(t, log, "-crds", definitions(t, 25))
	_, err = log.Seek(0, io.SeekStart)
	require.NoError(t, err)
	text, err := io.ReadAll(log)
	require.NoError(t, err)
	assert.Empty(t, string(text))
}
