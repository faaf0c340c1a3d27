import { parseOverride } from '../run/override-config.ts';
import { datasetNames } from './live-names.ts';

/** Sizes and inputs of a training, as flags say them. */
export interface SizeFlags {
  nodes?: number;
  gpus?: number;
  vcpus?: number;
  memory?: number;
  timeout?: number;
  dataset?: string;
}

function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new Error('must be a number');
  return value;
}

const size = (brief: string) =>
  ({ kind: 'parsed', parse: number, placeholder: 'N', brief, optional: true }) as const;

export const sizes = {
  nodes: size('Nodes; a cluster from 2 on'),
  gpus: size('GPUs of each node'),
  vcpus: size('vCPUs of each node'),
  memory: size('Memory of each node in MiB'),
  timeout: size('Seconds after which the command is stopped'),
  dataset: {
    kind: 'parsed',
    parse: String,
    proposeCompletions: datasetNames,
    placeholder: 'NAME',
    brief: 'Data set to lay out at DATA_DIR',
    optional: true,
  },
} as const;

export const overrides = {
  kind: 'parsed',
  parse: parseOverride,
  placeholder: 'NAME=VALUE',
  brief: 'Another value of the configuration, such as optimizer.lr=0.01; may be repeated',
  variadic: true,
  optional: true,
} as const;
