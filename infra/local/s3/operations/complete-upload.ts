import { createHash } from 'node:crypto';
import { encodePath } from '../../access/sigv4.ts';
import { checksumElement } from '../integrity/checksum.ts';
import { headerChecksum } from '../integrity/expected-checksum.ts';
import { compositeChecksum, fullObjectChecksum } from '../integrity/join-checksums.ts';
import { receiveDocument } from '../integrity/receive-document.ts';
import { sendEmpty, sendXml } from '../protocol/answer.ts';
import type { Authenticated } from '../protocol/authenticate-request.ts';
import { childText, type XmlElement } from '../protocol/read-xml.ts';
import { S3Error } from '../protocol/s3-error.ts';
import { tag, xmlDocument } from '../protocol/write-xml.ts';
import type { StoredChecksum, StoredObject } from '../store/stored-object.ts';
import type { Part, UploadChecksum } from '../store/upload-store.ts';
import { unquote, writeCondition } from './conditions.ts';
import { requestedParts } from './requested-parts.ts';
import type { Exchange } from './s3-exchange.ts';

const maxParts = 10_000;

type Completed = Pick<StoredObject, 'etag' | 'checksum'>;

/** CompleteMultipartUpload: the named parts become the object, at once and without being copied. */
export async function completeUpload(exchange: Exchange): Promise<void> {
  const { request, store } = exchange;
  const id = request.query.get('uploadId') ?? '';
  store.objects.requireBucket(request.bucket);
  if (store.objects.find(request)?.content !== id) store.uploads.require(id, request);
  const document = await receiveDocument(request, withoutObjectChecksum(exchange), 'CompleteMultipartUpload');
  const before = store.objects.find(request);
  // A client whose answer got lost asks again. As on S3 that succeeds, if it names the same parts.
  const repeated = before?.content === id && joinEtags(namedEtags(document)) === before.etag;
  answerCompleted(exchange, repeated ? before : complete(exchange, document, id));
}

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

/** AbortMultipartUpload: the parts are removed. */
export function abortUpload({ request, response, store }: Exchange): void {
  store.uploads.abort(request.query.get('uploadId') ?? '', request);
  sendEmpty(response, 204);
}

/** Here, and only here, `x-amz-checksum-*` is about the object and not about the body of the request. */
function withoutObjectChecksum({ authenticated }: Exchange): Authenticated {
  const names = [...authenticated.headers].filter(([name]) => !name.startsWith('x-amz-checksum-'));
  return { ...authenticated, headers: new Map(names) };
}

function namedEtags(document: XmlElement): string[] {
  return document.children.map((part) => unquote(childText(part, 'ETag') ?? ''));
}

/** MD5 over the MD5s of the parts, and their number. */
function joinEtags(etags: readonly string[]): string {
  const md5 = createHash('md5');
  for (const etag of etags) md5.update(etag, 'hex');
  return `${md5.digest('hex')}-${etags.length}`;
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
