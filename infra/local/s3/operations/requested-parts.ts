import { checksumAlgorithms, checksumElement } from '../integrity/checksum.ts';
import { childText, malformed, type XmlElement } from '../protocol/read-xml.ts';
import { S3Error } from '../protocol/s3-error.ts';
import type { Part, UploadChecksum } from '../store/upload-store.ts';
import { unquote } from './conditions.ts';

/** All parts but the last must be at least this large. */
const minPartBytes = 5 * 1024 * 1024;

/**
 * The parts a CompleteMultipartUpload document names, in its order, each checked against what arrived.
 * @throws S3Error MalformedXML, InvalidPart, InvalidPartOrder, EntityTooSmall, InvalidRequest
 */
export function requestedParts(
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
