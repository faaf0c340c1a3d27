import { glob, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampled } from '../../support/samples.ts';
import { proofFolder, shortForm } from '../../support/short-form.ts';
import { proof as events } from './events.proof.ts';
import { planVariable } from './injection/plan.ts';
import { proof as killDelete } from './kill-delete.proof.ts';
import { proof as killImport } from './kill-import.proof.ts';
import { proof as killJob } from './kill-job.proof.ts';
import { proof as killRequests } from './kill-requests.proof.ts';
import { proof as outages } from './outages.proof.ts';
import { proof as superseded } from './superseded.proof.ts';
import { proof as upgrade } from './upgrade.proof.ts';
import { buildProgram, type Program } from './world/build-program.ts';

describe('short form of', () => {
  let folder: string;
  let program: Program;
  beforeAll(async () => {
    folder = await proofFolder();
    program = await buildProgram({ folder });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const proofs = [events, killDelete, killRequests, superseded, killJob, outages, killImport, upgrade];

  test.each(sampled(proofs, 8))('$title', async (proof) => {
    const { missed, output } = await shortForm(proof, { program });
    expect(missed, output).toEqual([]);
  });
});

test('nothing of the service knows of the injection of faults', async () => {
  const root = join(import.meta.dirname, '../../..');
  const files = await Array.fromAsync(glob(['{functions,shared,infra}/**/*.{ts,mjs}'], { cwd: root }));
  expect(files.length).toBeGreaterThan(300);
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  const isKnowing = (text = ''): boolean =>
    text.includes(planVariable) || text.includes('test/proofs/faults');
  expect(files.filter((_, index) => isKnowing(texts[index]))).toEqual([]);
});
