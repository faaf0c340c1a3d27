import { expect, test } from 'vitest';
import { endpoint as downloadArtifact } from '../../../functions/experiments/artifacts/download-artifact.endpoint.ts';
import { endpoint as listMedia } from '../../../functions/experiments/artifacts/list-media.endpoint.ts';
import { endpoint as putArtifact } from '../../../functions/experiments/artifacts/put-artifact.endpoint.ts';
import { endpoint as readArtifacts } from '../../../functions/experiments/artifacts/read-artifacts.endpoint.ts';
import { endpoint as requestUpload } from '../../../functions/experiments/artifacts/request-artifact-upload.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import type { AnswerOf } from '../../../shared/client/route.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import { type TestUser, testService } from '../../support/service.ts';
import { newProject } from '../projects/new-project.ts';
import { send, sha256 } from '../projects/upload-file.ts';
import { json } from '../users/body.ts';

const service = await testService();
const as: TestUser = await service.user('developer');
const project_id = await newProject(service, as);

/** The JSON of a request that must succeed. */
async function must<E extends AnyEndpoint>(endpoint: E, asked: Parameters<typeof service.call>[1]) {
  const { status, json, text } = await service.call(endpoint, asked);
  expect(status, text).toBeLessThan(300);
  return json as AnswerOf<E>;
}

async function newExperiment(files: Readonly<Record<string, string>>): Promise<string> {
  const { experiment_id } = await must(createExperiment, { path: { project_id }, ...json({}), as });
  for (const [name, text] of Object.entries(files)) {
    const bytes = Buffer.from(text);
    const path = { project_id, experiment_id, path: name };
    const query = { sha256: sha256(bytes), size: String(bytes.length) };
    const asked = await must(requestUpload, { path, query, as });
    await send(asked.upload, bytes);
    await must(putArtifact, { path, query: { upload_id: asked.upload_id }, as });
  }
  return experiment_id;
}

test('pictures of several experiments are listed by key and step, and read with one request', async () => {
  const one = await newExperiment({ 'epoch_2.png': 'two', 'epoch_10.png': 'ten', 'notes.txt': 'x' });
  const other = await newExperiment({ 'epoch_2.png': 'other two' });

  const listed = await must(listMedia, {
    path: { project_id },
    query: { experiments: [one, other].join(',') },
    as,
  });
  const read = await must(readArtifacts, {
    path: { project_id },
    ...json({
      artifacts: [
        { experiment_id: one, path: 'epoch_10.png' },
        { experiment_id: other, path: 'epoch_2.png' },
        { experiment_id: other, path: 'epoch_10.png' },
      ],
    }),
    as,
  });

  expect(listed.left).toEqual([]);
  expect(
    listed.experiments.map(({ experiment_id, series }) => [
      experiment_id,
      series.map(({ key, items }) => [key, items.map(({ step }) => step)]),
    ]),
  ).toEqual([
    [one, [['epoch', [2, 10]]]],
    [other, [['epoch', [2]]]],
  ]);
  expect(
    read.artifacts.map(({ state, media_type, content }) => [state, media_type, content && atob(content)]),
  ).toEqual([
    ['read', 'image/png', 'ten'],
    ['read', 'image/png', 'other two'],
    ['missing', null, null],
  ]);
});

test('files that do not fit into an answer are left, in the order of the request', async () => {
  const large = 'x'.repeat(1_600_000);
  const experiment_id = await newExperiment({
    'a.png': large,
    'b.png': large,
    'c.png': 'small',
    'd.png': 'x'.repeat(3_000_001),
  });
  const artifacts = ['a.png', 'b.png', 'c.png', 'd.png'].map((path) => ({ experiment_id, path }));

  const read = await must(readArtifacts, { path: { project_id }, ...json({ artifacts }), as });

  expect(read.artifacts.map(({ state }) => state)).toEqual(['read', 'left', 'read', 'too-large']);
});

test('an experiment of another project is not found, whatever the file', async () => {
  const elsewhere = await newProject(service, as);
  const experiment_id = await newExperiment({ 'a_1.png': 'x' });
  const path = { project_id: elsewhere };

  const [listed, read] = [
    await service.call(listMedia, { path, query: { experiments: experiment_id }, as }),
    await service.call(readArtifacts, {
      path,
      ...json({ artifacts: [{ experiment_id, path: 'a_1.png' }] }),
      as,
    }),
  ];

  expect([listed.status, read.status]).toEqual([404, 404]);
});

test('a browser shows a PDF, and saves all other files', async () => {
  const experiment_id = await newExperiment({ 'report.pdf': '%PDF-1.4', 'page.html': '<script></script>' });
  const dispositionOf = async (path: string) => {
    const answer = await service.call(downloadArtifact, {
      path: { project_id, experiment_id, path },
      query: { disposition: 'inline' },
      as,
    });
    return new URL(answer.headers['location'] ?? '').searchParams.get('response-content-disposition');
  };

  expect(await dispositionOf('report.pdf')).toMatch(/^inline; filename="report.pdf"/);
  expect(await dispositionOf('page.html')).toMatch(/^attachment; /);
});
