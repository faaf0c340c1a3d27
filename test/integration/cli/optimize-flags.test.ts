import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runMps } from '../../support/mps.ts';
import { json, served } from '../client/served.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-optimize-flags-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a command line asks the service for, and what it says itself. */
async function asked(...args: readonly string[]) {
  const { url, received } = await served(json({ strategy_id: '01m81vnz70vmqzhdpxra5dgmp0' }));
  const environment = { MPS_URL: url, MPS_TOKEN: 'a.b' };
  const ended = await runMps([...args, '-d'], { folder, home: folder, environment });
  const { url: path = '' } = received.find(({ method }) => method === 'POST') ?? {};
  return { ...ended, query: Object.fromEntries(new URL(path, url).searchParams) };
}

test.each([
  { strategy: 'auto', precision: '4' },
  { strategy: 'float16', precision: '16' },
  { strategy: 'dynamic', precision: '8' },
  { strategy: 'weight_only', precision: undefined },
])(
  'mps quantize with $strategy takes precision $precision where none is given',
  async ({ strategy, precision }) => {
    expect((await asked('quantize', 'm', '-s', strategy)).query['precision']).toBe(precision);
    expect((await asked('quantize', 'm', '-s', strategy, '--precision', '3')).query['precision']).toBe('3');
  },
);

test('mps prune with a compression of 1 says what that does, and starts it where that is asked for', async () => {
  const { code, query, stderr } = await asked('prune', 'm', '-s', 'magnitude_global', '--compression', '1');
  expect({ code, query }).toMatchObject({ code: 0, query: { compression: '1' } });
  expect(stderr).toContain('compression 1 keeps all weights');
  expect((await asked('prune', 'm', '-s', 'auto')).stderr).not.toContain('keeps all weights');
});
