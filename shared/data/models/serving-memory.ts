import type { ServedVersion, Serving } from './serving.ts';

const mebibyte = 2 ** 20;

/** MiB of Node and ONNX Runtime in the process of a session, with the address space of its libraries. */
const processMebibytes = 160;

/** Bytes in memory for each byte of a model: its file while it is read, its weights, and copies that kernels pack. */
const timesBytes = 2.2;

/** Estimate the MiB that the process of a model of so many bytes takes. */
export const estimatedMemory = (bytes: number): number =>
  Math.ceil(processMebibytes + (timesBytes * bytes) / mebibyte);

/** MiB that the function itself takes, beside the processes of sessions. */
export const functionMemory = 192;

/** Return the bytes that the process of a version may take. */
export const servingBytes = (
  { memory }: Pick<Serving, 'memory'>,
  { bytes }: Pick<ServedVersion, 'bytes'>,
): number => (memory ?? estimatedMemory(bytes)) * mebibyte;
