import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import type { Receipt } from './receipt.ts';

/** The machine that measures: its processor, and those of its instruction sets that matter. */
export function hardware(): Receipt['hardware'] {
  const flags = processorFlags();
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    architecture: process.arch,
    flags: telling.filter((flag) => flags.has(flag)),
    threads: 1,
  };
}

function processorFlags(): ReadonlySet<string> {
  try {
    const text = readFileSync('/proc/cpuinfo', 'utf8');
    return new Set((/^(?:flags|Features)\s*:\s*(.*)$/m.exec(text)?.[1] ?? '').split(/\s+/));
  } catch {
    return new Set();
  }
}

/** Instruction sets that decide how fast, and how exactly, products of 8 bits and of floats are computed. */
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
