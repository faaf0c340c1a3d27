/**
 * Prefix of metrics of the machine instead of the model: those that the service samples, and those that MLflow's
 * clients log by the same names. Only who asks for them gets them.
 */
export const systemPrefix = 'system/';

export const isSystemMetric = (name: string): boolean => name.startsWith(systemPrefix);

/** Return the metrics of the model among all metrics of a run. The map stays as it is if it has no others. */
export function withoutSystem<V>(metrics: ReadonlyMap<string, V>): ReadonlyMap<string, V> {
  for (const name of metrics.keys())
    if (isSystemMetric(name)) return new Map([...metrics].filter(([one]) => !isSystemMetric(one)));
  return metrics;
}
