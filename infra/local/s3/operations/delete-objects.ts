import { sendEmpty, sendXml } from '../protocol/answer.ts';
import { receiveDocument } from '../protocol/receive-body.ts';
import { S3Error } from '../protocol/s3-error.ts';
import { childText, group, malformed, tag, type XmlElement, xmlDocument } from '../protocol/xml.ts';
import type { Deletion } from '../store/object-store.ts';
import { unquote, writeCondition } from './conditions.ts';
import type { Exchange } from './s3-exchange.ts';

/** DeleteObjects: delete up to 1000 keys in one transaction, with an outcome for each. */
export async function deleteObjects({
  request,
  response,
  authenticated,
  store,
  access,
}: Exchange): Promise<void> {
  store.objects.requireBucket(request.bucket);
  const headers = [...authenticated.headers.keys()];
  if (!headers.some((name) => name === 'content-md5' || /^x-amz-(?:checksum-|trailer)/.test(name))) {
    throw new S3Error('InvalidRequest', 'Missing required header for this request: Content-MD5');
  }
  const document = await receiveDocument(request, authenticated, 'Delete');
  const entries = document.children.filter(({ name }) => name === 'Object').map(parseEntry);
  if (entries.length === 0 || entries.length > maxKeys) throw malformed();
  const quiet = childText(document, 'Quiet') === 'true';
  const refusals = entries.map(({ key, version }) => {
    const action = version === undefined ? 's3:DeleteObject' : 's3:DeleteObjectVersion';
    return access.refusal(action, { bucket: request.bucket, key });
  });
  const allowed = entries.filter((_, index) => refusals[index] === undefined);
  const outcome = store.objects.delete(request.bucket, allowed).values();
  const results = entries.flatMap(({ key, version }, index) => {
    const error = refusals[index] ?? outcome.next().value;
    const names = [tag('Key', key), ...(version === undefined ? [] : [tag('VersionId', version)])];
    if (error !== undefined) {
      return [group('Error', ...names, tag('Code', error.code), tag('Message', error.message))];
    }
    return quiet ? [] : [group('Deleted', ...names)];
  });
  sendXml(response, xmlDocument('DeleteResult', ...results));
}

const entryElements = ['Key', 'ETag', 'VersionId'];

function parseEntry(element: XmlElement): Deletion {
  const key = childText(element, 'Key');
  const etag = childText(element, 'ETag');
  const unknown = element.children.some(({ name }) => !entryElements.includes(name));
  if (key === undefined || key === '' || unknown) throw malformed();
  const condition = etag === undefined ? {} : { ifMatch: unquote(etag) };
  return { key, condition, version: childText(element, 'VersionId') };
}

const maxKeys = 1000;

/** DeleteObject: return 204 whether or not the key existed, unless `If-Match` requires it. */
export function deleteObject({ request, response, headers, store }: Exchange): void {
  const [error] = store.objects.delete(request.bucket, [
    { key: request.key, condition: writeCondition(headers), version: request.query.get('versionId') },
  ]);
  if (error !== undefined) throw error;
  sendEmpty(response, 204);
}
