import { encodePath } from '../../access/sigv4.ts';
import { sendEmpty, sendXml } from '../protocol/answer.ts';
import type { Authenticated } from '../protocol/authenticate-request.ts';
import {
  checksumAlgorithms,
  checksumElement,
  checksumHeader,
  compositeChecksum,
  crcShapes,
  fullObjectChecksum,
  parseAlgorithm,
} from '../protocol/checksum.ts';
import { headerChecksum, receiveDocument } from '../protocol/receive-body.ts';
import { S3Error } from '../protocol/s3-error.ts';
import { childText, malformed, tag, type XmlElement, xmlDocument } from '../protocol/xml.ts';
import { joinEtags, type StoredChecksum, type StoredObject } from '../store/stored-object.ts';
import type { Part, UploadChecksum } from '../store/upload-store.ts';
import { unquote, writeCondition } from './conditions.ts';
import { keptHeaders } from './object-headers.ts';
import { stageBody } from './put-object.ts';
import type { Exchange } from './s3-exchange.ts';

/** CompleteMultipartUpload: make the named parts the object, atomically and without copying. */
export async function completeUpload(exchange: Exchange): Promise<void> {
  const { request, store } = exchange;
  const id = request.query.get('uploadId') ?? '';
  store.objects.requireBucket(request.bucket);
  if (store.objects.find(request)?.content !== id) store.uploads.require(id, request);
  const document = await receiveDocument(request, withoutObjectChecksum(exchange), 'CompleteMultipartUpload');
  const before = store.objects.find(request);
  // A client that lost the response repeats the request. It succeeds if it names the same parts, as on S3.
  const repeated = before?.content === id && joinEtags(namedEtags(document)) === before.etag;
  answerCompleted(exchange, repeated ? before : complete(exchange, document, id));
}

/**
 * Remove the `x-amz-checksum-*` headers. Only in this operation they describe the object, not the request body.
 */
function withoutObjectChecksum({ authenticated }: Exchange): Authenticated {
  const names = [...authenticated.headers].filter(([name]) => !name.startsWith('x-amz-checksum-'));
  return { ...authenticated, headers: new Map(names) };
}

function namedEtags(document: XmlElement): string[] {
  return document.children.map((part) => unquote(childText(part, 'ETag') ?? ''));
}

function answerCompleted({ request, response, headers }: Exchange, { etag, checksum }: Completed): void {
  sendXml(
    response,
    xmlDocument(
      'CompleteMultipartUploadResult',
      tag('Location', `http://${headers.get('host') ?? ''}${encodePath(request.path)}`),
      tag('Bucket', request.bucket),
      tag('Key', request.key),
      tag('ETag', `"${etag}"`),
      ...(checksum === undefined
        ? []
        : [tag('ChecksumType', checksum.type), tag(checksumElement(checksum.algorithm), checksum.value)]),
    ),
  );
}

type Completed = Pick<StoredObject, 'etag' | 'checksum'>;

const maxParts = 10_000;

function complete({ request, headers, store }: Exchange, document: XmlElement, id: string): Completed {
  const upload = store.uploads.require(id, request);
  const parts = requestedParts(document, store.uploads.parts(id, 0, maxParts), upload.checksum);
  const size = parts.reduce((sum, part) => sum + part.size, 0);
  const announced = headers.get('x-amz-mp-object-size');
  if (announced !== undefined && announced !== String(size)) {
    throw new S3Error('InvalidRequest', `The parts have ${size} bytes, x-amz-mp-object-size says otherwise.`);
  }
  const checksum = joinChecksums(upload.checksum, parts);
  const given = headerChecksum(headers);
  if (given !== undefined && (given.algorithm !== checksum?.algorithm || given.value !== checksum.value)) {
    throw new S3Error('BadDigest', `The ${given.algorithm} you specified did not match the parts' checksum.`);
  }
  const etag = joinEtags(parts.map((part) => part.etag));
  const object = { size, etag, modified: Date.now(), headers: upload.headers, checksum };
  const numbers = parts.map((part) => part.number);
  store.uploads.complete(upload, numbers, object, writeCondition(headers));
  return object;
}

/** Minimum size of every part but the last. */
const minPartBytes = 5 * 1024 * 1024;

/**
 * Return the parts that a CompleteMultipartUpload document names, in its order. Check each against the received
 * part.
 * @throws S3Error MalformedXML, InvalidPart, InvalidPartOrder, EntityTooSmall, InvalidRequest
 */
function requestedParts(
  document: XmlElement,
  arrived: readonly Part[],
  checksum: UploadChecksum | undefined,
): Part[] {
  if (document.children.some(({ name }) => name !== 'Part')) throw malformed();
  const byNumber = new Map(arrived.map((part) => [part.number, part]));
  const parts = document.children.map((element) => requestedPart(element, byNumber, checksum));
  if (parts.length === 0) throw malformed();
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1];
    if (next === undefined) break;
    if (next.number <= part.number) {
      throw new S3Error('InvalidPartOrder', 'The list of parts was not in ascending order.');
    }
    if (part.size < minPartBytes) {
      throw new S3Error('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size', {
        ProposedSize: String(part.size),
        MinSizeAllowed: String(minPartBytes),
        PartNumber: String(part.number),
        ETag: part.etag,
      });
    }
  }
  return parts;
}

function requestedPart(
  element: XmlElement,
  arrived: ReadonlyMap<number, Part>,
  checksum: UploadChecksum | undefined,
): Part {
  const number = childText(element, 'PartNumber')?.trim() ?? '';
  const etag = childText(element, 'ETag');
  if (!/^\d{1,5}$/.test(number) || etag === undefined) throw malformed();
  const part = arrived.get(Number(number));
  const wrong = part === undefined || unquote(etag) !== part.etag || otherChecksum(element, part);
  if (wrong) {
    throw new S3Error(
      'InvalidPart',
      'One or more of the specified parts could not be found, or its entity tag or checksum differs.',
      { PartNumber: number, ETag: unquote(etag) },
    );
  }
  if (
    checksum?.type === 'COMPOSITE' &&
    childText(element, checksumElement(checksum.algorithm)) === undefined
  ) {
    const name = checksum.algorithm.toLowerCase();
    throw new S3Error(
      'InvalidRequest',
      `The upload was created using a ${name} checksum. The complete request must include the checksum for each part. It was missing for part ${number} in the request.`,
    );
  }
  return part;
}

function otherChecksum(element: XmlElement, part: Part): boolean {
  return checksumAlgorithms.some((algorithm) => {
    const given = childText(element, checksumElement(algorithm))?.trim();
    if (given === undefined) return false;
    return part.checksum?.algorithm !== algorithm || part.checksum.value !== given;
  });
}

function joinChecksums(
  checksum: UploadChecksum | undefined,
  parts: readonly Part[],
): StoredChecksum | undefined {
  if (checksum === undefined) return undefined;
  const shares = parts.map((part) => ({ value: part.checksum?.value ?? '', size: part.size }));
  const value =
    checksum.type === 'FULL_OBJECT'
      ? fullObjectChecksum(checksum.algorithm, shares)
      : compositeChecksum(
          checksum.algorithm,
          shares.map((share) => share.value),
        );
  return { ...checksum, value };
}

export function createUpload({ request, response, headers, store }: Exchange): void {
  const checksum = uploadChecksum(headers);
  const upload = store.uploads.create(request, {
    initiated: Date.now(),
    headers: keptHeaders(headers),
    checksum,
  });
  sendXml(
    response,
    xmlDocument(
      'InitiateMultipartUploadResult',
      tag('Bucket', request.bucket),
      tag('Key', request.key),
      tag('UploadId', upload.id),
    ),
    checksum === undefined
      ? {}
      : { 'x-amz-checksum-algorithm': checksum.algorithm, 'x-amz-checksum-type': checksum.type },
  );
}

function uploadChecksum(headers: ReadonlyMap<string, string>): UploadChecksum | undefined {
  const name = headers.get('x-amz-checksum-algorithm');
  const type = headers.get('x-amz-checksum-type')?.toUpperCase();
  if (name === undefined) {
    if (type === undefined) return undefined;
    throw new S3Error('InvalidRequest', 'x-amz-checksum-type needs x-amz-checksum-algorithm.');
  }
  const algorithm = parseAlgorithm(name);
  const chosen = type ?? (algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE');
  const possible =
    chosen === 'FULL_OBJECT'
      ? crcShapes[algorithm] !== undefined
      : chosen === 'COMPOSITE' && algorithm !== 'CRC64NVME';
  if (!possible || (chosen !== 'FULL_OBJECT' && chosen !== 'COMPOSITE')) {
    throw new S3Error(
      'InvalidRequest',
      `The ${chosen} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
    );
  }
  return { algorithm, type: chosen };
}

const maxPartNumber = 10_000;

/** Parse the number of a part. @throws S3Error InvalidArgument */
export function partNumber(query: ReadonlyMap<string, string>): number {
  const text = query.get('partNumber') ?? '';
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= maxPartNumber) return number;
  throw new S3Error('InvalidArgument', `Part number must be an integer between 1 and ${maxPartNumber}`, {
    ArgumentName: 'partNumber',
  });
}

/** UploadPart: receive one part. Its checksum must use the algorithm of the upload. */
export async function uploadPart(exchange: Exchange): Promise<void> {
  const { request, response, store } = exchange;
  const number = partNumber(request.query);
  const upload = store.uploads.require(request.query.get('uploadId') ?? '', request);
  // For a full-object checksum, S3 computes the checksum of a part itself. For a composite one, the client must
  // send it.
  const wanted = upload.checksum;
  const fallback = wanted?.type === 'FULL_OBJECT' ? wanted.algorithm : undefined;
  const { md5, checksum } = await stageBody(exchange, fallback, (blob, body) => {
    if (wanted?.algorithm !== body.checksum?.algorithm) {
      throw new S3Error(
        'InvalidRequest',
        `Checksum Type mismatch occurred, expected checksum Type: ${wanted?.algorithm.toLowerCase() ?? 'null'}, actual checksum Type: ${body.checksum?.algorithm.toLowerCase() ?? 'null'}`,
      );
    }
    const part = { number, size: body.size, etag: body.md5, modified: Date.now(), checksum: body.checksum };
    store.uploads.putPart(upload, part, blob);
    return body;
  });
  sendEmpty(response, 200, {
    etag: `"${md5}"`,
    ...(checksum === undefined ? {} : { [checksumHeader(checksum.algorithm)]: checksum.value }),
  });
}

/** AbortMultipartUpload: remove the parts. */
export function abortUpload({ request, response, store }: Exchange): void {
  store.uploads.abort(request.query.get('uploadId') ?? '', request);
  sendEmpty(response, 204);
}
