import type { Tensor } from './tensor.ts';
import { floatsOf } from './values.ts';

/** All ones in a float32's exponent: NaN and infinity. */
const exponentBits = 0x7f800000;
/** Unaligned values are copied to be read, so many bytes at once: a tensor may fill most of the memory. */
const partBytes = 2 ** 20;

function areFinite(part: Uint8Array): boolean {
  const { buffer, byteOffset, byteLength } = part.byteOffset % 4 === 0 ? part : new Uint8Array(part);
  // As integers, which takes half the time.
  const patterns = new Int32Array(buffer, byteOffset, byteLength / 4);
  for (let at = 0; at < patterns.length; at += 1) {
    if (((patterns[at] ?? 0) & exponentBits) === exponentBits) return false;
  }
  return true;
}

function look(tensor: Tensor): boolean {
  let bytes: Uint8Array;
  if (tensor.type === 'float') bytes = tensor.bytes();
  else {
    const floats = floatsOf(tensor);
    bytes = new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength);
  }
  for (let at = 0; at < bytes.length; at += partBytes) {
    if (!areFinite(bytes.subarray(at, at + partBytes))) return false;
  }
  return true;
}

/**
 * Checks that tensors of floating-point type hold neither NaN nor infinity as float32, each once for all its users.
 * One that does hold them cannot be quantized, nor pruned by magnitude, without NaN becoming a number.
 */
export function finiteness(): (tensor: Tensor) => boolean {
  const known = new Map<Tensor, boolean>();
  return (tensor) => {
    const is = known.get(tensor) ?? look(tensor);
    known.set(tensor, is);
    return is;
  };
}
