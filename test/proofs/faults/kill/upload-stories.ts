import { createHash } from 'node:crypto';
import {
  type ArtifactHome,
  listClientArtifacts,
} from '../../../../shared/data/experiments/client-artifact.ts';
import type { Service } from '../world/service.ts';
import { experimentIn, projectOf } from './recorded.ts';
import { asking, mlflowCall, type Story, type StoryGround, told, unless } from './request-story.ts';

const artifacts = 'mlflow-artifacts/artifacts';
const bytesOf = (text: string) => ({
  sha256: createHash('sha256').update(text).digest('hex'),
  size: String(text.length),
});

/** What the files of an experiment are differs from this. */
async function fileFaults(
  { records, objects }: Service,
  home: ArtifactHome,
  expected: Record<string, string>,
) {
  const { items } = await listClientArtifacts(records, home, '', {});
  const found = await Promise.all(
    items.map(async ({ path, object }) => {
      const stream = await objects.read(object);
      return [path, Buffer.concat((await stream?.toArray()) ?? []).toString()];
    }),
  );
  return unless('files', Object.fromEntries(found), expected);
}

/** An experiment with these files, and where they are. */
async function filesIn(ground: StoryGround, files: Record<string, string>) {
  const { path, run_id } = await experimentIn(ground);
  const location = `${path.project_id}/${run_id}/artifacts`;
  const put = (name: string, body: string) => {
    const asked = mlflowCall(ground, 'PUT', `${artifacts}/${location}/${name}`);
    return { ...asked, question: { ...asked.question, body } };
  };
  for (const [name, body] of Object.entries(files)) await told(ground, put(name, body));
  return { path, location, put, home: { of: 'experiment', ...path } as const };
}

export const uploadStories: readonly Story[] = [
  {
    name: 'an artifact is announced and accepted',
    async prepare(ground) {
      const { service, token } = ground;
      const { path, home } = await filesIn(ground, { 'a.txt': 'former' });
      const of = { path: { ...path, path: 'a.txt' }, token };
      const ticket = await told(ground, asking('requestArtifact', { ...of, query: bytesOf('newer') }));
      const { url, method, headers } = ticket.upload;
      const { 'content-length': _, ...sent } = headers;
      const answer = await fetch(url, { method, headers: sent, body: 'newer' });
      if (!answer.ok) throw new Error(await answer.text());
      const { upload_id } = ticket;
      return {
        deed: { request: asking('putArtifact', { ...of, query: { upload_id } }) },
        faults: () => fileFaults(service, home, { 'a.txt': 'newer' }),
      };
    },
  },
  {
    name: 'an artifact is sent by an MLflow client',
    async prepare(ground) {
      const { put, home } = await filesIn(ground, { 'a.txt': 'former' });
      return {
        deed: { request: put('a.txt', 'newer') },
        faults: () => fileFaults(ground.service, home, { 'a.txt': 'newer' }),
      };
    },
  },
  {
    name: 'parts of an artifact are joined',
    async prepare(ground) {
      const { location, home } = await filesIn(ground, {});
      const name = { path: 'large.bin' };
      const begun = await told(
        ground,
        mlflowCall(ground, 'POST', `mlflow-artifacts/mpu/create/${location}`, { ...name, num_parts: 1 }),
      );
      for (const { url } of begun.credentials) {
        const answer = await fetch(url, { method: 'PUT', body: 'all of it' });
        if (!answer.ok) throw new Error(await answer.text());
      }
      const { upload_id } = begun;
      const body = { ...name, upload_id, parts: [{ part_number: 1 }] };
      return {
        deed: { request: mlflowCall(ground, 'POST', `mlflow-artifacts/mpu/complete/${location}`, body) },
        faults: () => fileFaults(ground.service, home, { 'large.bin': 'all of it' }),
      };
    },
  },
  {
    name: 'a folder of artifacts is deleted',
    async prepare(ground) {
      const { location, home } = await filesIn(ground, { kept: '1', 'a/b': '2', 'a/c/d': '3' });
      return {
        deed: { request: mlflowCall(ground, 'DELETE', `${artifacts}/${location}/a`) },
        faults: () => fileFaults(ground.service, home, { kept: '1' }),
      };
    },
  },
  {
    name: 'an upload in parts is begun',
    async prepare(ground) {
      const { service, token } = ground;
      const project_id = await projectOf(ground);
      const query = { sha256: bytesOf('all of it').sha256, size: '9', multipart: 'true' };
      const asked = asking('requestDataset', { path: { project_id, dataset: 'digits' }, query, token });
      return {
        deed: { request: asked },
        async faults() {
          const { parts } = await told({ service }, asked);
          return unless('parts to send', parts.length, 1);
        },
      };
    },
  },
];
