import type { ConfigScalar } from '../../config/config-value.ts';
import { maskedCrc32c } from './crc32c.ts';
import { type HistogramBin, readHistogram, readHistogramTensor } from './histogram.ts';
import { readHparams } from './hparams.ts';
import { protobufFields } from './protobuf-fields.ts';

/** A scalar of an event file. */
export interface ScalarEvent {
  tag: string;
  value: number;
  step: number;
  /** Milliseconds since 1970. */
  time: number;
}

/** A picture of an event file. */
export interface PictureEvent {
  tag: string;
  step: number;
  /** A PNG, JPEG or GIF file. */
  file: Uint8Array;
}

/** A sound of an event file. */
export interface SoundEvent {
  tag: string;
  step: number;
  /** A WAV file. */
  file: Uint8Array;
}

/** A text of an event file. */
export interface TextEvent {
  tag: string;
  step: number;
  text: string;
}

/** A histogram of an event file. */
export interface HistogramEvent {
  tag: string;
  step: number;
  bins: HistogramBin[];
}

interface Reading {
  /** Called for each hyperparameter of a session. */
  onParam?: (name: string, value: ConfigScalar) => void;
  /** Called when a writer starts at a step: scalars of its folder from that step on, which it knows, are void. */
  onStart?: (step: number) => void;
  /** Called for each picture. Without it, records that are as large as pictures are passed over. */
  onPicture?: (picture: PictureEvent) => void;
  /** Called for each sound. */
  onSound?: (sound: SoundEvent) => void;
  /** Called for each text. */
  onText?: (text: TextEvent) => void;
  /**
   * Called for each value that none of the others is called for, and that is no scalar, with the plugin that shows it, and
   * with `graphs` for a graph of TensorFlow.
   */
  onOther?: (plugin: string | undefined) => void;
  /** Called for each histogram. */
  onHistogram?: (histogram: HistogramEvent) => void;
}

/** Larger records hold pictures, graphs and sounds. They are passed over without being kept. */
const maxRecordBytes = 256 * 1024;
const maxPictureBytes = 64 * 1024 * 1024;

/** Fields of an `Event` with a graph of TensorFlow or what is measured of one. */
const graphFields: ReadonlySet<number> = new Set([4, 8, 9]);

/** No record is larger. A greater length is damage. */
const maxLength = 2n ** 40n;

const headerBytes = 12;
const checksumBytes = 4;

/**
 * Reads the scalars of a TensorBoard event file as it grows: TFRecords of `Event` messages. Every checksum is
 * verified, and reading ends at a damaged length, because no later record can be found. It runs in containers and
 * browsers.
 */
export class EventFile {
  readonly #plugins = new Map<string, string>();
  readonly #onPicture: Reading['onPicture'];
  readonly #onSound: Reading['onSound'];
  readonly #onText: Reading['onText'];
  readonly #onHistogram: Reading['onHistogram'];
  readonly #onStart: Reading['onStart'];
  readonly #onParam: Reading['onParam'];
  readonly #onOther: Reading['onOther'];
  readonly #maxBytes: number;
  #rest = new Uint8Array();
  #skipped = 0;
  #isDamaged = false;
  #damagedRecords = 0;
  #largeRecords = 0;

  constructor({ onPicture, onSound, onText, onHistogram, onStart, onParam, onOther }: Reading = {}) {
    this.#onPicture = onPicture;
    this.#onSound = onSound;
    this.#onText = onText;
    this.#onHistogram = onHistogram;
    this.#onStart = onStart;
    this.#onParam = onParam;
    this.#onOther = onOther;
    this.#maxBytes = onPicture === undefined ? maxRecordBytes : maxPictureBytes;
  }

  /** Whether the file is no event file, or is damaged from some place on. */
  get isDamaged(): boolean {
    return this.#isDamaged;
  }

  /** Number of records whose checksum is wrong. They are passed over. */
  get damagedRecords(): number {
    return this.#damagedRecords;
  }

  /** Number of records that were passed over because of their size. */
  get largeRecords(): number {
    return this.#largeRecords;
  }

  /** Whether the bytes so far end within a record. */
  get isTorn(): boolean {
    return this.#rest.length > 0 || this.#skipped > 0;
  }

  /** Return the scalars that more bytes complete. */
  read(bytes: Uint8Array): ScalarEvent[] {
    if (this.#isDamaged) return [];
    const found: ScalarEvent[] = [];
    let data = this.#rest.length === 0 ? bytes : joined(this.#rest, bytes);
    for (;;) {
      if (this.#skipped > 0) {
        const passed = Math.min(this.#skipped, data.length);
        this.#skipped -= passed;
        data = data.subarray(passed);
      }
      if (data.length < headerBytes) break;
      const header = viewOf(data);
      const length = header.getBigUint64(0, true);
      if (length > maxLength || maskedCrc32c(data.subarray(0, 8)) !== header.getUint32(8, true)) {
        this.#isDamaged = true;
        data = new Uint8Array();
        break;
      }
      if (length > this.#maxBytes) {
        this.#largeRecords += 1;
        this.#skipped = headerBytes + Number(length) + checksumBytes;
        continue;
      }
      const end = headerBytes + Number(length);
      if (data.length < end + checksumBytes) break;
      const record = data.subarray(headerBytes, end);
      if (maskedCrc32c(record) === header.getUint32(end, true))
        for (const scalar of this.#scalarsOf(record)) found.push(scalar);
      else this.#damagedRecords += 1;
      data = data.subarray(end + checksumBytes);
    }
    // Copy the rest: a part of the chunk would keep the whole chunk.
    this.#rest = data.slice();
    return found;
  }

  #scalarsOf(event: Uint8Array): ScalarEvent[] {
    let time = 0;
    let step = 0;
    let isStart = false;
    const values: Uint8Array[] = [];
    for (const { number, integer, bytes } of protobufFields(event)) {
      if (number === 1 && bytes.length === 8) time = viewOf(bytes).getFloat64(0, true) * 1000;
      else if (number === 2) step = Number(BigInt.asIntN(64, integer));
      else if (number === 5) {
        for (const protobufField of protobufFields(bytes))
          if (protobufField.number === 1) values.push(protobufField.bytes);
      } else if (number === 7) isStart = startsSession(bytes);
      else if (graphFields.has(number)) this.#onOther?.('graphs');
    }
    if (isStart) this.#onStart?.(step);
    return values.flatMap((bytes) => {
      const { tag, value, pictures, sounds, textValue, bins } = this.#valueOf(bytes);
      if (bins !== undefined) this.#onHistogram?.({ tag, step, bins });
      else if (pictures !== undefined && this.#onPicture)
        for (const file of pictures) this.#onPicture({ tag, step, file });
      else if (sounds !== undefined && this.#onSound)
        for (const file of sounds) this.#onSound({ tag, step, file });
      else if (textValue !== undefined && this.#onText) this.#onText({ tag, step, text: textValue });
      else if (value === undefined) this.#onOther?.(this.#plugins.get(tag));
      return value === undefined ? [] : [{ tag, value, step, time }];
    });
  }

  /** Return the scalar, pictures, sounds, text or histogram of a `Summary.Value`. TensorFlow 2 writes all as tensors of a plugin. */
  #valueOf(message: Uint8Array): {
    tag: string;
    value?: number | undefined;
    pictures?: readonly Uint8Array[] | undefined;
    sounds?: readonly Uint8Array[] | undefined;
    textValue?: string | undefined;
    bins?: HistogramBin[] | undefined;
  } {
    let tag = '';
    let simple: number | undefined;
    let picture: Uint8Array | undefined;
    let sound: Uint8Array | undefined;
    let histogram: Uint8Array | undefined;
    let tensor: Uint8Array | undefined;
    let plugin: string | undefined;
    for (const { number, bytes } of protobufFields(message)) {
      if (number === 1) tag = text.decode(bytes);
      else if (number === 2 && bytes.length === 4) simple = viewOf(bytes).getFloat32(0, true);
      else if (number === 4) picture = lastField(bytes, encodedFile);
      else if (number === 5) histogram = bytes;
      else if (number === 6) sound = lastField(bytes, encodedFile);
      else if (number === 8) tensor = bytes;
      else if (number === 9) {
        const { name, content } = pluginOf(bytes);
        plugin = name ?? plugin;
        if (name === 'hparams' && this.#onParam !== undefined)
          for (const [param, one] of readHparams(content)) this.#onParam(param, one);
      }
    }
    // Only the first value of a tag names its plugin.
    if (plugin !== undefined && this.#plugins.size < maxTags) this.#plugins.set(tag, plugin);
    if (simple !== undefined) return { tag, value: shortest(simple) };
    if (picture !== undefined) return { tag, pictures: [picture] };
    if (sound !== undefined) return { tag, sounds: [sound] };
    if (histogram !== undefined)
      return { tag, ...(this.#onHistogram !== undefined && { bins: readHistogram(histogram) }) };
    if (tensor === undefined) return { tag };
    const known = this.#plugins.get(tag);
    if (known === 'scalars') return { tag, value: numberOfTensor(tensor) };
    if (known === 'histograms')
      return { tag, ...(this.#onHistogram !== undefined && { bins: readHistogramTensor(tensor) }) };
    const strings = stringsOfTensor(tensor);
    // Each sound may have a label after it.
    if (known === 'audio') return { tag, sounds: someOf(strings.filter(isWave)) };
    if (known === 'text') return { tag, textValue: strings.map((bytes) => text.decode(bytes)).join('\n') };
    // Width and height come before the encoded pictures.
    return { tag, ...(known === 'images' && { pictures: someOf(strings.slice(2)) }) };
  }
}

const someOf = <T>(list: readonly T[]): readonly T[] | undefined => (list.length === 0 ? undefined : list);

const isWave = (file: Uint8Array): boolean => text.decode(file.subarray(0, 4)) === 'RIFF';

/** Whether a `SessionLog` has the status START, as that of `SummaryWriter(purge_step=…)`. */
function startsSession(log: Uint8Array): boolean {
  for (const { number, integer } of protobufFields(log)) if (number === 1) return integer === 1n;
  return false;
}

const text = new TextDecoder();

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** Field `encoded_image_string` of a `Summary.Image`, and `encoded_audio_string` of a `Summary.Audio`. */
const encodedFile = 4;

function lastField(message: Uint8Array, wanted: number): Uint8Array | undefined {
  let found: Uint8Array | undefined;
  for (const { number, bytes } of protobufFields(message)) if (number === wanted) found = bytes;
  return found;
}

const maxTags = 10_000;

/** The name of the plugin in a `SummaryMetadata`, and what it says for itself. */
function pluginOf(metadata: Uint8Array): { name: string | undefined; content: Uint8Array } {
  let name: string | undefined;
  let content = new Uint8Array();
  for (const data of protobufFields(metadata))
    if (data.number === 1)
      for (const { number, bytes } of protobufFields(data.bytes)) {
        if (number === 1) name = text.decode(bytes);
        else if (number === 2) content = new Uint8Array(bytes);
      }
  return { name, content };
}

const dtypes = { float: 1n, double: 2n };

/** Return the number of a `TensorProto` of one float or double. */
function numberOfTensor(tensor: Uint8Array): number | undefined {
  let dtype = 0n;
  let content: Uint8Array | undefined;
  for (const { number, integer, bytes } of protobufFields(tensor)) {
    if (number === 1) dtype = integer;
    // `tensor_content`, `float_val` and `double_val` have the same bytes for one number.
    else if (number === 4 || number === 5 || number === 6) content = bytes;
  }
  if (content === undefined) return undefined;
  if (dtype === dtypes.float && content.length === 4) return shortest(viewOf(content).getFloat32(0, true));
  if (dtype === dtypes.double && content.length === 8) return viewOf(content).getFloat64(0, true);
  return undefined;
}

/** Return the strings of a `TensorProto`. */
function stringsOfTensor(tensor: Uint8Array): Uint8Array[] {
  const strings: Uint8Array[] = [];
  for (const { number, bytes } of protobufFields(tensor)) if (number === 8) strings.push(bytes);
  return strings;
}

/** Return a 32-bit float as its author wrote it: 0.1 and not 0.10000000149011612. */
const shortest = (value: number): number => {
  if (!Number.isFinite(value) || Number.isSafeInteger(value)) return value;
  for (let digits = 6; digits <= 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
};
