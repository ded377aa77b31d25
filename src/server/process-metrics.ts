import { version } from "../../package.json" with { type: "json" };
import type { Metrics } from "../metrics.ts";
import { countOpenFiles } from "../system/processes.ts";

/** Registers the usual metrics of a process, under the names that Prometheus dashboards expect. */
export function measureProcess(metrics: Metrics): void {
  const started = Date.now() / 1_000 - process.uptime();
  metrics.counter("ctxd_build_info", "The version of this program.", ["version"]).inc({ version });
  metrics.gauge("process_start_time_seconds", "When the process started.", () => started);
  metrics.counterOf("process_cpu_seconds_total", "Processor time used.", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.gauge("process_resident_memory_bytes", "Memory in use, files' included.", () =>
    process.memoryUsage.rss(),
  );
  metrics.gauge("ctxd_heap_bytes", "Memory of the program's own objects.", () => {
    const { heapUsed } = process.memoryUsage();
    return heapUsed;
  });
  metrics.gauge("process_open_fds", "Open files and connections.", countOpenFiles);
}
