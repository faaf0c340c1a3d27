import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { runMps } from '../../support/mps.ts';
import { json, served } from '../client/served.ts';

const strategy = '01m81vnz70vmqzhdpxra5dgmp2';
const counters = { requests: 0, errors: 0, cold_starts: 0, p50_ms: null, p95_ms: null, cost: null };
const version = (name: string, withdrawn: string | null = null) => ({
  version: name,
  bytes: 1000,
  withdrawn,
  counters,
});
const serving = {
  model_name: 'digits',
  access: 'viewer',
  versions: [version(strategy), version('original'), version('other', 'crashed three times')],
  month: '2026-11',
  estimate: { month: null, million_requests: null },
};

test.each([
  { default_version: strategy, aliases: {} },
  { default_version: 'champion', aliases: { champion: strategy } },
])('mps serve --show names the one version that answers: $default_version', async (chosen) => {
  const { url } = await served(json({ ...serving, ...chosen }));
  const { stdout } = await runMps(['serve', 'digits', '--show'], {
    folder: tmpdir(),
    home: tmpdir(),
    environment: { MPS_URL: url, MPS_TOKEN: 'a' },
  });
  const states = stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t').at(-1));
  expect(states).toEqual(['answers', 'ready', 'crashed three times']);
});
