import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { badRequest, ServiceError } from '../../core/service-error.ts';
import { isDeepJson, maxJsonDepth } from '../../http/body/json-depth.ts';

/** Parts of an HTTP request that the protocol uses. */
export interface InferMessage {
  bytes: Uint8Array;
  /** `Inference-Header-Content-Length`: bytes of the JSON before the binary tensors. */
  headerLength: string | undefined;
  /** `Content-Encoding` of the body. */
  encoding: string | undefined;
}

/**
 * Return the JSON of a message, and the binary tensors behind it.
 *
 * @throws ServiceError if the body cannot be decompressed, or is shorter than its header says
 */
export async function messageParts(message: InferMessage): Promise<{ json: Uint8Array; binary: Uint8Array }> {
  return split(await decoded(message), message.headerLength);
}

/** Bytes of a body after decompression. */
const maxDecodedBytes = 64 * 2 ** 20;

async function decoded({ bytes, encoding }: InferMessage): Promise<Uint8Array> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return bytes;
  const decompress = decoders[name];
  if (decompress === undefined) {
    const detail = `Content-Encoding: must be gzip, deflate or identity, not ${JSON.stringify(name)}.`;
    throw new ServiceError('unsupported-media-type', detail);
  }
  try {
    return await decompress(bytes, { maxOutputLength: maxDecodedBytes });
  } catch (cause) {
    if (cause instanceof RangeError)
      throw new ServiceError(
        'too-large',
        `The body has more than ${maxDecodedBytes} bytes after decompression.`,
      );
    throw badRequest([{ in: 'body', name: 'body', message: `is not compressed with ${name}` }]);
  }
}

const decoders: Readonly<Record<string, typeof gunzip.__promisify__>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
};

function split(
  bytes: Uint8Array,
  headerLength: string | undefined,
): { json: Uint8Array; binary: Uint8Array } {
  if (headerLength === undefined) return { json: bytes, binary: new Uint8Array() };
  const length = /^\d{1,10}$/.test(headerLength) ? Number(headerLength) : Number.NaN;
  if (!(length > 0 && length <= bytes.length)) {
    const message = `must be the number of bytes of the JSON, from 1 to ${bytes.length}, the bytes of the body`;
    throw badRequest([{ in: 'header', name: 'Inference-Header-Content-Length', message }]);
  }
  return { json: bytes.subarray(0, length), binary: bytes.subarray(length) };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parse the JSON of a message.
 *
 * @param isExact whether an input takes whole numbers of 64 bits
 * @throws ServiceError `bad-request`
 */
export function parseJson(json: Uint8Array | string, isExact: boolean): unknown {
  let fault = 'is not valid JSON in UTF-8; binary tensors need the header Inference-Header-Content-Length';
  try {
    const text = typeof json === 'string' ? json : utf8.decode(json);
    // Numbers lose digits above 2^53. Only texts with such whole numbers pay for their exact reading.
    if (!isDeepJson(text))
      return isExact && hasLongInteger.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text);
    fault = `is nested deeper than ${maxJsonDepth} levels`;
  } catch {
    // The fault says it.
  }
  throw badRequest([{ in: 'body', name: 'body', message: fault }]);
}

const hasLongInteger = /(?<![.\d])\d{16,}(?![.\deE])/;
const integerText = /^-?\d+$/;

function exactInteger(_: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value;
  return integerText.test(source) ? BigInt(source) : value;
}
