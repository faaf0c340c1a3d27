import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readProductFiles } from '../../proofs/house/figures.ts';

/** Files that run before anything is installed, so they can import nothing. */
const beforeEverything = ['infra/install.mjs'];

const ofTheSystem =
  /\/proc\b|\/sys\/|\b(?:unshare|setpriv|nsenter|prlimit)\b|\bprocess\.platform\b|\bplatform\(\)|['"]ps['"]/;

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/(?<!:)\/\/.*$/gm, '');

test('only the room of the host asks the operating system', async () => {
  const texts = await readProductFiles(join(import.meta.dirname, '../../..'));
  const outside = [...texts].filter(
    ([path]) => !path.startsWith('shared/host/') && !beforeEverything.includes(path),
  );

  const asking = outside.flatMap(([path, text]) => {
    const [found] = ofTheSystem.exec(withoutComments(text)) ?? [];
    return found === undefined ? [] : [`${path}: ${found}`];
  });

  expect(asking).toEqual([]);
});

test('the portable host asks nothing that only Linux has', async () => {
  const texts = await readProductFiles(join(import.meta.dirname, '../../..'));
  const portable = [...texts].filter(([path]) => path.startsWith('shared/host/portable/'));

  const asking = portable.filter(([, text]) =>
    /\/proc\b|\/sys\/|\b(?:unshare|setpriv|nsenter|prlimit)\b/.test(withoutComments(text)),
  );

  expect(portable.length).toBeGreaterThan(2);
  expect(asking).toEqual([]);
});
