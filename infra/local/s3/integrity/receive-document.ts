import type { Authenticated } from '../protocol/authenticate-request.ts';
import { malformed, readXml, type XmlElement } from '../protocol/read-xml.ts';
import { S3Error } from '../protocol/s3-error.ts';
import type { S3Request } from '../protocol/s3-request.ts';
import { receiveBody } from './receive-body.ts';

/** Ten thousand parts with their SHA-256 checksums, the largest document there is, come to 2.2 MB. */
const maxDocumentBytes = 3 * 1024 * 1024;

/**
 * Receives a small XML body whose root is `root`.
 * @throws S3Error MalformedXML, MaxMessageLengthExceeded and those of receiveBody
 */
export async function receiveDocument(
  request: S3Request,
  authenticated: Authenticated,
  root: string,
): Promise<XmlElement> {
  const pieces: Buffer[] = [];
  const tooLarge = () => new S3Error('MaxMessageLengthExceeded', 'Your request was too large.');
  await receiveBody(request, authenticated, { limit: maxDocumentBytes, tooLarge }, async (piece) => {
    pieces.push(piece);
  });
  const document = readXml(decodeText(Buffer.concat(pieces)));
  if (document.name !== root) throw malformed();
  return document;
}

function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw malformed();
  }
}
