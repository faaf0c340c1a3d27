import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleSources, findSources } from '../build/build-parts.ts';
import { startCapacityMeter } from './capacity-meter.ts';
import type { MeasuredRequest } from './request-cost.ts';
import { startLocalEngines } from './requests/local-engines.ts';
import { runBundles } from './requests/run-bundles.ts';

/**
 * Bundles every function and sends each a good request, on engines of its own; returns the time of each and its units
 * of DynamoDB. Sets the environment of this process.
 *
 * @param usualMemory MiB of functions without a setting of their own
 */
export async function measureRequests(root: string, usualMemory: number): Promise<MeasuredRequest[]> {
  await using started = new AsyncDisposableStack();
  await mkdir(join(root, '.build'), { recursive: true });
  // Within the project, so that this machine's own picture codec is found.
  const folder = await mkdtemp(join(root, '.build/cost-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const { environment } = started.use(await startLocalEngines());
  const meter = await startCapacityMeter(environment['DYNAMODB_ENDPOINT'] ?? '');
  started.defer(() => meter.close());
  Object.assign(process.env, environment, { DYNAMODB_ENDPOINT: meter.url });

  const sources = await findSources(root);
  await bundleSources(root, folder, sources);
  const memory = new Map(
    sources.endpoints.map(({ endpoint: { name, runtime } }) => [name, runtime?.memory ?? usualMemory]),
  );
  const measured: MeasuredRequest[] = [];
  await runBundles(
    root,
    folder,
    ({ name, status, milliseconds }) => {
      const memoryMiB = memory.get(name);
      const units = meter.take();
      if (memoryMiB !== undefined) measured.push({ name, status, milliseconds, units, memoryMiB });
    },
    () => void meter.take(),
  );
  return measured;
}
