import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stageFolders } from '../../../shared/onnx/engine/process/stage-launch.ts';
import { hideFolders } from '../../../shared/onnx/measure/session/hide-folders.ts';

test('files go by what they are called within the folders', () => {
  const folders = ['/srv/job (1)', '/srv/job (1)/work', '/'];
  expect(hideFolders('Load /srv/job (1)/work/model.onnx failed, in "/srv/job (1)".', folders)).toBe(
    'Load model.onnx failed, in ".".',
  );
  for (const other of ['/srv/job (1)0/a', '/model/layer/Conv', 'a/srv/job (1)/b', ''])
    expect(hideFolders(other, folders)).toBe(other);
});

test('also behind a link', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hide-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'real'));
  symlinkSync('real', join(folder, 'link'));
  expect(hideFolders(`open '${folder}/real/a.onnx'`, [join(folder, 'link')])).toBe("open 'a.onnx'");
});

test('only what is a path in a task counts, not the names of nodes', () => {
  const feed = { inputs: [], set: '/sets/a.npz', source: 'synthetic' as const, samples: 1, seed: 0 };
  const compare = { kind: 'compare' as const, before: '/b/m.onnx', after: '/a/m.onnx', feed };
  expect(stageFolders(compare)).toEqual(['/b', '/a', '/sets']);
  const request = { exclude: ['/model/Conv'] };
  const transform = {
    kind: 'transform',
    model: '/b/m.onnx',
    request,
    exclude: ['/x/y'],
    observed: null,
  } as const;
  expect(stageFolders({ ...transform, exclude: ['/x/y'], out: '/w/out' })).toEqual(['/b', '/w']);
  expect(stageFolders({ kind: 'size', before: ['/b/m', 'rel'], after: ['/w/r'] })).toEqual(['/b', '/w']);
});
