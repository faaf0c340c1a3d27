import type { FoundRecords } from './compared-experiments.ts';

type Value = string | number | null;

/** Values by name: for those that differ one of each experiment, null where it has none; for the others the one that all have. */
export interface Compared<V extends Value> {
  differ: Record<string, (V | null)[]>;
  equal: Record<string, V | null>;
}

/** What of these named values differs and what is equal. */
export function compareValues<V extends Value>(all: readonly ReadonlyMap<string, V>[]): Compared<V> {
  const names = [...new Set(all.flatMap((values) => [...values.keys()]))].sort();
  const differ: [string, (V | null)[]][] = [];
  const equal: [string, V | null][] = [];
  for (const name of names) {
    const values = all.map((one) => one.get(name) ?? null);
    const first = values[0] ?? null;
    if (values.every((value) => Object.is(value, first))) equal.push([name, first]);
    else differ.push([name, values]);
  }
  return { differ: Object.fromEntries(differ), equal: Object.fromEntries(equal) };
}

/** What is compared of an experiment besides its params and metrics. */
export const attributesOf = ({ experiment, tracking }: FoundRecords): Map<string, Value> =>
  new Map<string, Value>(
    Object.entries({
      kind: experiment.kind,
      status: experiment.status,
      config_id: experiment.config_id,
      config_version: experiment.config_version,
      source_sha256: experiment.source_sha256,
      dataset: experiment.dataset,
      dataset_sha256: experiment.dataset_sha256,
      lock_hash: experiment.lock_hash,
      git_commit: tracking.fields?.git?.commit ?? null,
      vcpus: experiment.vcpus,
      memory: experiment.memory,
      gpus: experiment.gpus,
      nodes: experiment.nodes,
    }),
  );
