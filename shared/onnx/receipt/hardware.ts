import { cpus } from 'node:os';
import { thisHost } from '../../host/this-host.ts';
import type { Receipt } from './receipt.ts';

/** Return the processor of this machine and its relevant instruction sets. */
export function hardware(): Receipt['hardware'] {
  const flags = thisHost.processorFlags();
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    architecture: process.arch,
    flags: telling.filter((flag) => flags.has(flag)),
    threads: 1,
  };
}

/** Instruction sets that affect the speed and exactness of 8-bit and float products. */
const telling = [
  'avx2',
  'fma',
  'f16c',
  'avx512f',
  'avx512bw',
  'avx512_vnni',
  'avx_vnni',
  'avx512_bf16',
  'amx_int8',
  'amx_bf16',
  'asimd',
  'asimddp',
  'asimdhp',
  'i8mm',
  'bf16',
  'sve',
];
