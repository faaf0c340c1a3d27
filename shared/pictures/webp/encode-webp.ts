import { backReferences } from './back-references.ts';
import { BitWriter } from './bit-writer.ts';
import { PrefixCode } from './prefix-code.ts';

/** Symbols of the first alphabet: green values, then prefixes of copy lengths. */
const greens = 256;
const lengthPrefixes = 24;
const distancePrefixes = 40;

/** Numbers by which the nearest pixels are known as sources of copies (RFC 9649, 3.5.2.2); small ones need no extra bits. */
const distanceNumber = { above: 1, left: 2 } as const;

interface Prefixed {
  prefix: number;
  extra: number;
  bits: number;
}

/** A copy length from 1 on as a prefix and extra bits (RFC 9649, 3.5.2.1). */
function prefixed(length: number): Prefixed {
  const value = length - 1;
  if (value < 4) return { prefix: value, extra: 0, bits: 0 };
  const bits = 30 - Math.clz32(value);
  return { prefix: 2 * bits + (value >>> bits), extra: value & ((1 << bits) - 1), bits };
}

/** A symbol of one of the five alphabets (green and lengths, red, blue, alpha, distances), with what follows it. */
interface Coded {
  alphabet: number;
  symbol: number;
  extra: number;
  bits: number;
}

const plain = (alphabet: number, symbol: number): Coded => ({ alphabet, symbol, extra: 0, bits: 0 });

function codedSymbols(pixels: Uint32Array, width: number): Coded[] {
  return backReferences(pixels, width).flatMap((step) => {
    if (step.kind === 'copy') {
      const { prefix, extra, bits } = prefixed(step.length);
      return [{ alphabet: 0, symbol: greens + prefix, extra, bits }, plain(4, distanceNumber[step.from] - 1)];
    }
    const { argb } = step;
    return [
      plain(0, (argb >>> 8) & 0xff),
      plain(1, (argb >>> 16) & 0xff),
      plain(2, argb & 0xff),
      plain(3, argb >>> 24),
    ];
  });
}

function container(stream: Uint8Array): Uint8Array {
  const padded = stream.length + (stream.length % 2);
  const file = Buffer.alloc(20 + padded);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(12 + padded, 4);
  file.write('WEBPVP8L', 8, 'latin1');
  file.writeUInt32LE(stream.length, 16);
  file.set(stream, 20);
  return file;
}

/**
 * A lossless WebP file (VP8L, RFC 9649) of a drawing: 32-bit ARGB pixels, row by row, 1 to 16,384 on a side.
 * It compresses flat shapes well, and photographs hardly, because it knows neither transforms nor a colour cache.
 */
export function encodeWebp(pixels: Uint32Array, width: number): Uint8Array {
  const symbols = codedSymbols(pixels, width);
  const counts = [greens + lengthPrefixes, 256, 256, 256, distancePrefixes].map(
    (size) => new Uint32Array(size),
  );
  for (const { alphabet, symbol } of symbols) {
    const counted = counts[alphabet];
    if (counted !== undefined) counted[symbol] = (counted[symbol] ?? 0) + 1;
  }
  const codes = counts.map((counted) => new PrefixCode(counted));

  const writer = new BitWriter();
  writer.write(0x2f, 8);
  writer.write(width - 1, 14);
  writer.write(pixels.length / width - 1, 14);
  writer.write(pixels.some((argb) => argb >>> 24 !== 0xff) ? 1 : 0, 1);
  // Version 0; then neither transforms, nor a colour cache, nor several sets of codes.
  writer.write(0, 3);
  writer.write(0, 3);
  for (const code of codes) code.writeTo(writer);
  for (const { alphabet, symbol, extra, bits } of symbols) {
    codes[alphabet]?.write(writer, symbol);
    writer.write(extra, bits);
  }
  return container(writer.finish());
}
