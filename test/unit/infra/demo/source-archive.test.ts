import { cp, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { Parser } from 'tar';
import { expect, onTestFinished, test } from 'vitest';
import { packSource } from '../../../proofs/bench/upload-source.ts';

const digits = join(import.meta.dirname, '../../../examples/digits');

async function names(bytes: Uint8Array): Promise<string[]> {
  const found: string[] = [];
  const parser = new Parser({
    onReadEntry(entry) {
      found.push(entry.path);
      entry.resume();
    },
  });
  await new Promise((resolve, reject) => {
    parser.on('end', resolve).on('error', reject);
    Readable.from([Buffer.from(bytes)])
      .on('data', (chunk) => parser.write(chunk))
      .on('end', () => parser.end());
  });
  return found;
}

test('the same files make the same archive, whatever lies beside them and whenever they were written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mps-digits-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(digits, folder, { recursive: true });
  await writeFile(join(folder, 'notes.md'), 'not part of it');
  await utimes(join(folder, 'train.py'), 1, 1);
  const [one, other] = [await packSource(digits), await packSource(folder)];
  expect(other.sha256).toBe(one.sha256);
  expect(await names(one.bytes)).toEqual([
    'cluster.py',
    'network.py',
    'requirements.txt',
    'stages.py',
    'train.py',
  ]);
});
