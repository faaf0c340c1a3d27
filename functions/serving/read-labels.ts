import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { ObjectReader } from '../../shared/aws/objects.ts';
import type { ServedFile } from '../../shared/data/models/serving.ts';

/** Labels by the digest of their file. */
const known = new Map<string, readonly string[]>();

const maxKnown = 50;

/** Return the names of the classes, one a line; undefined if the file was deleted or is damaged. */
export async function readLabels(
  objects: Pick<ObjectReader, 'read'>,
  { object, sha256 }: ServedFile,
): Promise<readonly string[] | undefined> {
  const present = known.get(sha256);
  if (present !== undefined) return present;
  const source = await objects.read(object);
  if (source === undefined) return undefined;
  const bytes = await buffer(source);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256) return undefined;
  const labels = bytes
    .toString('utf8')
    .replace(/\r?\n$/, '')
    .split(/\r?\n/);
  if (known.size >= maxKnown) known.clear();
  known.set(sha256, labels);
  return labels;
}
