import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { bundleOptions } from '../../../../../infra/service/bundle-options.ts';

const report =
  "console.log(http.METHODS.length > 0, process.moduleLoadList.some((name) => name.includes('undici')));";

test.each([
  ['by name', "import { METHODS } from 'http'; const http = { METHODS };"],
  ['as a whole', "import http from 'node:http';"],
  ['when it is needed', "const http = await import('node:http');"],
  [
    "when it is needed, as the SDK's clients do",
    "const { Agent, METHODS } = await import('node:http'); const http = { METHODS, Agent };",
  ],
])('a bundle that imports node:http %s does not load the implementation of fetch', async (_, imported) => {
  const folder = await mkdtemp(join(tmpdir(), 'lean-http-'));
  try {
    const entry = join(folder, 'entry.mjs');
    await writeFile(entry, `${imported}\n${report}\n`);
    const outfile = join(folder, 'bundle.mjs');
    await build({ ...bundleOptions, splitting: false, sourcemap: false, entryPoints: [entry], outfile });
    expect(execFileSync(process.execPath, [outfile], { encoding: 'utf8' })).toBe('true false\n');
  } finally {
    await rm(folder, { recursive: true });
  }
});
