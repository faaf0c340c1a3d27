import { deflateRawSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { headBytes, uploadedFormat } from '../../../../functions/projects/uploads/uploaded-format.ts';
import { tar, tarEntry } from '../../../integration/archive/archive-bytes.ts';
import { seededBytes } from '../../../support/seeded-bytes.ts';

const randomBytes = seededBytes(13);

const small = tar(tarEntry('train.py', { content: 'print("hello")\n' }));
const large = tar(tarEntry('data.bin', { content: randomBytes(50_000) }));
const head = (bytes: Buffer) => bytes.subarray(0, headBytes);

describe('archive format', () => {
  test.each([
    ['tar', small, 'tar'],
    ['a large tar', large, 'tar'],
    ['tar.gz', gzipSync(small), 'tar.gz'],
    ['a large tar.gz that does not compress', gzipSync(large), 'tar.gz'],
    ['zip', Buffer.from('PK\x03\x04rest', 'latin1'), 'zip'],
    ['empty zip', Buffer.from('PK\x05\x06rest', 'latin1'), 'zip'],
    ['nothing', Buffer.alloc(0), undefined],
    ['text', Buffer.from('a,b\n1,2\n'), undefined],
    ['a compressed table', gzipSync(Buffer.from('a,b\n1,2\n'.repeat(1000))), undefined],
    ['a compressed table that is long', gzipSync(randomBytes(50_000)), undefined],
    ['damaged gzip', Buffer.concat([Buffer.of(0x1f, 0x8b), randomBytes(100)]), undefined],
    ['only the signature of gzip', Buffer.of(0x1f, 0x8b), undefined],
    ['zeros', Buffer.alloc(512), undefined],
    ['raw deflate', deflateRawSync(small), undefined],
    ['a tar cut short', small.subarray(0, 511), undefined],
  ])('%s', (_, bytes, format) => {
    expect(uploadedFormat(head(bytes))).toBe(format);
  });
});
