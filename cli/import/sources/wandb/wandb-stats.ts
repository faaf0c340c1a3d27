import { systemPrefix } from '../../../../shared/metrics/system-metric.ts';

/** Names of W&B's machine metrics for those that this service and MLflow's clients know. */
const known: readonly (readonly [RegExp, string])[] = [
  [/^cpu$/, 'cpu_utilization_percentage'],
  [/^memory_percent$/, 'system_memory_usage_percentage'],
  [/^memory$/, 'system_memory_usage_percentage'],
  [/^gpu\.(\d+)\.gpu$/, 'gpu_$1_utilization_percentage'],
  [/^gpu\.(\d+)\.memoryAllocated$/, 'gpu_$1_memory_usage_percentage'],
  [/^gpu\.(\d+)\.powerWatts$/, 'gpu_$1_power_usage_watts'],
  [/^gpu\.(\d+)\.powerPercent$/, 'gpu_$1_power_usage_percentage'],
];

/** Return the name here of a machine metric of W&B. Others keep their own below `system/`. */
export function machineName(name: string): string {
  for (const [pattern, form] of known)
    if (pattern.test(name)) return systemPrefix + name.replace(pattern, form);
  return `${systemPrefix}${name.replace(/[\\/]+/g, '_')}`;
}
