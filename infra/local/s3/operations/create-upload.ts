import { checksumHeader, crcShapes, parseAlgorithm } from '../integrity/checksum.ts';
import { sendEmpty, sendXml } from '../protocol/answer.ts';
import { S3Error } from '../protocol/s3-error.ts';
import { tag, xmlDocument } from '../protocol/write-xml.ts';
import type { UploadChecksum } from '../store/upload-store.ts';
import { keptHeaders } from './object-headers.ts';
import type { Exchange } from './s3-exchange.ts';
import { stageBody } from './stage-body.ts';

const maxPartNumber = 10_000;

/** CreateMultipartUpload. */
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

/** The number of a part. @throws S3Error InvalidArgument */
export function partNumber(query: ReadonlyMap<string, string>): number {
  const text = query.get('partNumber') ?? '';
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= maxPartNumber) return number;
  throw new S3Error('InvalidArgument', `Part number must be an integer between 1 and ${maxPartNumber}`, {
    ArgumentName: 'partNumber',
  });
}

/** UploadPart: one part, whose checksum must be of the algorithm the upload was created with. */
export async function uploadPart(exchange: Exchange): Promise<void> {
  const { request, response, store } = exchange;
  const number = partNumber(request.query);
  const upload = store.uploads.require(request.query.get('uploadId') ?? '', request);
  // Of a full-object checksum S3 computes the parts' share itself; a composite one the client must give.
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
