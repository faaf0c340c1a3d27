import { readSync, writeSync } from 'node:fs';
import * as z from 'zod';
import { ImageSettings } from '../../data/models/image-settings.ts';
import { TextSettings } from '../../data/models/text-settings.ts';

/**
 * Messages between a function and the process of a session: the lengths of header and body in 4 bytes each, the header
 * as JSON, and the tensors of the body one after the other.
 */
export interface Frame {
  header: unknown;
  body: Uint8Array;
}

const prefixBytes = 8;

/** Bytes of a body that are copied behind the header, because one write is cheaper than two. */
const maxCopied = 64 * 1024;

/** Encode a frame. The parts of a large body are not copied. */
export function frameParts(header: unknown, body: readonly Uint8Array[] = []): Uint8Array[] {
  const json = Buffer.from(JSON.stringify(header));
  // Typed arrays view a body that begins at a multiple of eight in place.
  const text = Buffer.alloc(Math.ceil(json.length / 8) * 8, ' ');
  json.copy(text);
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  const isCopied = bytes <= maxCopied;
  const head = Buffer.allocUnsafe(prefixBytes + text.length + (isCopied ? bytes : 0));
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(bytes, 4);
  text.copy(head, prefixBytes);
  if (!isCopied) return [head, ...body];
  let at = prefixBytes + text.length;
  for (const part of body) {
    head.set(part, at);
    at += part.length;
  }
  return [head];
}

/** Write a frame and wait until it is written. */
export function writeFrame(descriptor: number, header: unknown, body: readonly Uint8Array[] = []): void {
  for (const part of frameParts(header, body)) {
    for (let done = 0; done < part.length; ) done += writeSync(descriptor, part, done);
  }
}

/** Reads frames from a descriptor. A body is valid until the next frame is asked for. */
export class FrameInput {
  readonly #descriptor: number;
  #room = roomOf(usualRoom);
  /** Bytes of the room that hold something, and those of the last frame. */
  #held = 0;
  #last = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Wait for a frame; undefined at the end. */
  next(): Frame | undefined {
    const left = this.#room.subarray(this.#last, this.#held);
    if (this.#room.length > usualRoom && left.length <= usualRoom) this.#room = roomOf(usualRoom);
    this.#room.set(left);
    this.#held = left.length;
    if (!this.#fill(prefixBytes)) return undefined;
    const body = prefixBytes + this.#room.readUInt32LE(0);
    const end = body + this.#room.readUInt32LE(4);
    if (!this.#fill(end)) return undefined;
    this.#last = end;
    return {
      header: JSON.parse(this.#room.toString('utf8', prefixBytes, body)),
      body: this.#room.subarray(body, end),
    };
  }

  /** Read until the room holds so many bytes, and whatever else is there; false at the end. */
  #fill(bytes: number): boolean {
    if (bytes > this.#room.length) {
      const larger = roomOf(bytes);
      larger.set(this.#room.subarray(0, this.#held));
      this.#room = larger;
    }
    while (this.#held < bytes) {
      const count = readSync(this.#descriptor, this.#room, this.#held, this.#room.length - this.#held, null);
      if (count === 0) return false;
      this.#held += count;
    }
    return true;
  }
}

/** Bytes of most frames, with some to spare. */
const usualRoom = 256 * 1024;

/** Memory of its own, which begins where typed arrays may. */
const roomOf = (bytes: number): Buffer<ArrayBuffer> => Buffer.from(new ArrayBuffer(bytes));

/** Joins the pieces of a stream to frames. */
export class FrameReader {
  readonly #heard: (frame: Frame) => void;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #wanted = prefixBytes;

  constructor(heard: (frame: Frame) => void) {
    this.#heard = heard;
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    while (this.#bytes >= this.#wanted) {
      const [only] = this.#pieces;
      const all = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
      const head = all.readUInt32LE(0);
      const end = prefixBytes + head + all.readUInt32LE(4);
      this.#pieces = [all];
      if (all.length < end) {
        this.#wanted = end;
        return;
      }
      const text = all.toString('utf8', prefixBytes, prefixBytes + head);
      this.#heard({ header: JSON.parse(text), body: all.subarray(prefixBytes + head, end) });
      this.#pieces = [all.subarray(end)];
      this.#bytes = all.length - end;
      this.#wanted = prefixBytes;
    }
  }
}

const Datatype = z.enum([
  'BOOL',
  'UINT8',
  'UINT16',
  'UINT32',
  'UINT64',
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'FP16',
  'FP32',
  'FP64',
  'BYTES',
]);

/** A tensor of a frame; its elements are `bytes` long in the body. */
const FrameTensor = z.object({
  name: z.string(),
  datatype: Datatype,
  shape: z.array(z.number()),
  bytes: z.number(),
});

/** Tasks of a session's process: open the model first, then run it. */
export const SessionTask = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('open'), path: z.string() }),
  z.object({
    kind: z.literal('run'),
    inputs: z.array(FrameTensor),
    outputs: z.array(z.string()),
    /** The inputs are texts, which the model answers by these settings. */
    texts: TextSettings.optional(),
    /** The inputs are files of pictures, likewise. */
    images: ImageSettings.optional(),
  }),
]);
export type SessionTask = z.infer<typeof SessionTask>;
export type RunTask = Extract<SessionTask, { kind: 'run' }>;

/** Answers of a session's process, one to each task. `fault` is the reason of ONNX Runtime. */
export const SessionAnswer = z.union([
  z.object({ fault: z.string() }),
  z.object({ outputs: z.array(FrameTensor) }),
]);
export type SessionAnswer = z.infer<typeof SessionAnswer>;
