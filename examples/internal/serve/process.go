package serve

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	runtimemetrics "runtime/metrics"
	"strconv"
	"syscall"
	"time"
)

// processText writes the numbers of the process. They are named as Prometheus' library for Go names them.
func (f *Front) processText(w io.Writer) {
	single := func(name, kind, help string, value float64) {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %s\n", name, help, name, kind, name, strconv.FormatFloat(value, 'g', -1, 64))
	}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		cpu := time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		single("process_cpu_seconds_total", "counter", "Total user and system CPU time spent in seconds.", cpu.Seconds())
	}
	single("process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds.", float64(f.start.UnixMilli())/1000)
	if resident, ok := residentMemory(); ok {
		single("process_resident_memory_bytes", "gauge", "Resident memory size in bytes.", resident)
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		single("process_open_fds", "gauge", "Number of open file descriptors.", float64(len(files)))
	}
	single("go_goroutines", "gauge", "Number of goroutines that currently exist.", float64(runtime.NumGoroutine()))
	samples := []runtimemetrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	runtimemetrics.Read(samples)
	single("go_memstats_heap_alloc_bytes", "gauge", "Number of heap bytes allocated and still in use.", float64(samples[0].Value.Uint64()))
	single("go_gc_cycles_total_gc_cycles_total", "counter", "Count of all completed GC cycles.", float64(samples[1].Value.Uint64()))
	fmt.Fprintf(w, "# HELP go_info Information about the Go environment.\n# TYPE go_info gauge\ngo_info{version=%q} 1\n", runtime.Version())
}

// residentMemory returns the memory of the process in bytes. It returns false except on Linux.
func residentMemory() (float64, bool) {
	data, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(data)
	if err != nil || len(fields) < 2 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	return float64(pages * int64(os.Getpagesize())), err == nil
}
