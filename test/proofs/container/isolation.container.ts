import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { endpoint as downloadArtifact } from '../../../functions/experiments/artifacts/download-artifact.endpoint.ts';
import { endpoint as listArtifacts } from '../../../functions/experiments/artifacts/list-artifacts.endpoint.ts';
import { endpoint as train } from '../../../functions/projects/training/train-project.endpoint.ts';
import { listArtifacts as artifactsOf } from '../../../shared/data/experiments/artifact.ts';
import { testBucket, testCredentials } from '../../support/emulators.ts';
import type { TrainingService } from '../../support/training.ts';
import { containerTraining } from './container-jobs.ts';

const marker = 'the-weights-of-somebody-else';

async function trained(service: TrainingService, project_id: string) {
  const query = { config: 'train.yaml' };
  const begun = await service.call(train, { path: { project_id }, query, as: service.developer });
  expect(begun.status, begun.text).toBe(200);
  const { experiment_id } = begun.json;
  const ended = await service.ended(project_id, experiment_id);
  return { path: { project_id, experiment_id }, ended, log: await service.log(project_id, experiment_id) };
}

/** Keys of what another project has stored. */
async function victim(service: TrainingService): Promise<string[]> {
  const command = `sh -c "printf ${marker} > $OUTPUT_DIR/model.bin; printf ${marker} > $CHECKPOINT_DIR/last.bin"`;
  const project_id = await service.project({ command, files: { 'secret.txt': marker } });
  const { path, ended, log } = await trained(service, project_id);
  expect(ended, log).toMatchObject({ status: 'SUCCEEDED', artifacts: 1 });
  const pages = await Promise.all(
    (['artifact', 'checkpoint'] as const).map((kind) =>
      artifactsOf(service.records, path.experiment_id, { after: undefined }, kind),
    ),
  );
  return pages.flatMap(({ items }) => items.map(({ object }) => `${testBucket}/${object}`));
}

test('a hostile command gets nothing: no credentials, no environment of others, no foreign object', async () => {
  const service = await containerTraining();
  const foreign = await victim(service);
  expect(foreign).toHaveLength(2);
  const secrets = [testCredentials.secretAccessKey, inject('credentialsPath').slice(-36), marker].join(',');
  const project_id = await service.project({
    command: `python3 hostile.py ${secrets} ${inject('s3Url')} ${foreign.join(',')} /var/jobs/work`,
    files: { 'hostile.py': await readFile(join(import.meta.dirname, 'hostile.py'), 'utf8') },
  });
  const { path, ended, log } = await trained(service, project_id);
  expect(ended, log).toMatchObject({ status: 'SUCCEEDED' });
  expect(log.split('\n').filter((line) => line.startsWith('GOT'))).toEqual([]);
  // It did try, to the end: what the answers mean shows in these.
  expect(Number(/^tried (\d+) things$/m.exec(log)?.[1])).toBeGreaterThan(500);
  for (const refused of [
    'process /proc/1/environ PermissionError',
    'process /proc/1/mem PermissionError',
    'hard link /etc/shadow PermissionError',
    `object ${foreign[0]} HTTPError`,
  ]) {
    expect(log).toContain(`refused ${refused}`);
  }

  // Nothing but the honest file came home, from neither folder.
  const listed = await service.call(listArtifacts, { path, as: service.developer });
  expect(listed.json, listed.text).toMatchObject([{ path: 'honest.txt', size: 6 }]);
  const kept = await artifactsOf(service.records, path.experiment_id, { after: undefined }, 'checkpoint');
  expect(kept.items.map((item) => item.path)).toEqual(['honest.txt']);
  const answer = await service.call(downloadArtifact, {
    path: { ...path, path: 'honest.txt' },
    as: service.developer,
  });
  expect(await (await fetch(answer.headers['location'] ?? '')).text()).toBe('honest');
  expect(log).toContain('OUTPUT_DIR: "symlink-0" is not kept: it is a link.');
  expect(log).toContain('OUTPUT_DIR: "pipe" is not kept: it is not a regular file.');
});
