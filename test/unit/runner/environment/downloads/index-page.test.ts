import { describe, expect, test } from 'vitest';
import {
  type IndexedFile,
  placeFiles,
} from '../../../../../shared/runner/environment/downloads/index-page.ts';

const hash = 'A'.repeat(64);
const url = 'https://index.example/simple/tiny/';

function placed(text: string, isJson = false) {
  const files: IndexedFile[] = [];
  const page = placeFiles({ text, isJson, url }, (file) => {
    files.push(file);
    return file.url.includes('refused') ? null : `/f/${files.length}`;
  });
  return { files, page };
}

describe('index pages', () => {
  test('files of HTML get other URLs, and keep their hashes and what else is said of them', () => {
    const { files, page } = placed(
      `<a class=x href="../../files/tiny-1.0.whl#sha256=${hash}" data-requires-python="&gt;=3.9">tiny-1.0.whl</a>
<A HREF='https://files.example/tiny%2B-2.0.whl?a=1&amp;b=2'>tiny-2.0.whl</A>`,
    );
    expect(files).toEqual([
      { url: 'https://index.example/files/tiny-1.0.whl', sha256: hash.toLowerCase() },
      { url: 'https://files.example/tiny%2B-2.0.whl?a=1&b=2', sha256: undefined },
    ]);
    expect(page).toBe(
      `<a class=x href="/f/1#sha256=${hash.toLowerCase()}" data-requires-python="&gt;=3.9">tiny-1.0.whl</a>
<A HREF="/f/2">tiny-2.0.whl</A>`,
    );
  });

  test('files of JSON likewise; one that is refused is left out', () => {
    const { files, page } = placed(
      JSON.stringify({
        meta: { 'api-version': '1.1' },
        files: [
          { filename: 'a.whl', url: '/a.whl', hashes: { sha256: hash }, 'requires-python': '>=3' },
          { filename: 'refused.whl', url: 'http://refused/', hashes: {} },
          { filename: 'b.whl', url: 'b.whl', hashes: { md5: 'x', sha256: 'not a hash' } },
        ],
      }),
      true,
    );
    expect(files.map(({ sha256 }) => sha256)).toEqual([hash.toLowerCase(), undefined, undefined]);
    expect(JSON.parse(page)).toEqual({
      meta: { 'api-version': '1.1' },
      files: [
        { filename: 'a.whl', url: '/f/1', hashes: { sha256: hash }, 'requires-python': '>=3' },
        { filename: 'b.whl', url: '/f/3', hashes: { md5: 'x', sha256: 'not a hash' } },
      ],
    });
  });

  test('a page that is none is refused', () => {
    expect(() => placed('<html>', true)).toThrow();
    expect(() => placed('{"files": 3}', true)).toThrow();
  });
});
