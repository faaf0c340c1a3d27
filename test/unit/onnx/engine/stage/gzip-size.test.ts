import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  gzipBytes,
  isSampled,
  sampledGzipBytes,
  sizeStage,
} from '../../../../../shared/onnx/engine/stage/size-stage.ts';
import { testFolder } from '../../../../support/onnx/stage-program.ts';
import { seededRandom } from '../../../../support/seeded-random.ts';

test('a large file is measured by samples, a small one whole, and neither where nothing is to be measured', async () => {
  const folder = await testFolder();
  const [large, small] = [join(folder, 'large'), join(folder, 'small')];
  const random = seededRandom(4);
  const page = Float32Array.from({ length: 2 ** 16 }, () => Math.round(random() * 100) / 100);
  writeFileSync(large, Buffer.concat(Array.from({ length: 40 }, () => Buffer.from(page.buffer))));
  writeFileSync(small, Buffer.from(page.buffer));
  const bytes = 40 * 2 ** 18;
  expect(isSampled(bytes)).toBe(true);
  const whole = await gzipBytes(large, 1, () => {});
  expect(Math.abs(sampledGzipBytes(large, bytes, 1) / whole - 1)).toBeLessThan(0.02);
  const task = { kind: 'size', before: [large], after: [small] } as const;
  const quick = await sizeStage(
    { ...task, before: [large], after: [small], measure: 'quick' },
    { progress: () => {} },
  );
  expect(quick).toMatchObject({ gzip_sampled: true, file_bytes: { before: bytes, after: 2 ** 18 } });
  const none = await sizeStage(
    { ...task, before: [large], after: [small], measure: 'none' },
    { progress: () => {} },
  );
  expect(none).toMatchObject({ gzip_bytes: null, gzip_sampled: false });
});
