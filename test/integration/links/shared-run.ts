import { endpoint as putArtifact } from '../../../functions/experiments/artifacts/put-artifact.endpoint.ts';
import { endpoint as requestArtifactUpload } from '../../../functions/experiments/artifacts/request-artifact-upload.endpoint.ts';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as createExperiment } from '../../../functions/experiments/records/create-experiment.endpoint.ts';
import { endpoint as createLink } from '../../../functions/links/create-link.endpoint.ts';
import { endpoint as openLink } from '../../../functions/links/open-link.endpoint.ts';
import type { AnyEndpoint } from '../../../shared/http/definition/middleware.ts';
import type { PeopledService, Person } from '../access/people.ts';
import { send, sha256 } from '../projects/upload-file.ts';
import { json } from '../users/body.ts';

/** Records an experiment with a curve. */
export async function recordedRun(
  service: PeopledService,
  as: Person,
  project_id: string,
  body: object = { name: 'baseline', params: { lr: '0.1' } },
): Promise<string> {
  const made = await service.call(createExperiment, { as, path: { project_id }, ...json(body) });
  const { experiment_id } = made.json;
  const metrics = [1, 2, 3].map((step) => ({ name: 'loss', value: 1 / step, step }));
  await service.call(logMetrics, { as, path: { project_id, experiment_id }, ...json({ metrics }) });
  return experiment_id;
}

/** Sends a file of an experiment. */
export async function sentFile(
  service: PeopledService,
  as: Person,
  path: { project_id: string; experiment_id: string; path: string },
): Promise<void> {
  const bytes = Buffer.from('a file');
  const query = { sha256: sha256(bytes), size: String(bytes.length) };
  const asked = await service.call(requestArtifactUpload, { as, path, query });
  await send(asked.json.upload, bytes);
  await service.call(putArtifact, { as, path, query: { upload_id: asked.json.upload_id } });
}

/** Makes a link. */
export async function madeLink(
  service: PeopledService,
  as: Person,
  project_id: string,
  body: object,
): Promise<{ link_id: string; secret: string }> {
  const made = await service.call(createLink, { as, path: { project_id }, ...json(body) });
  if (made.status !== 201) throw new Error(made.text);
  return made.json;
}

/** Exchanges the secret of a link, and asks with its session. */
export async function reader(service: PeopledService, secret: string) {
  const { json: opened } = await service.call(openLink, json({ secret }));
  const headers = { Authorization: `Link ${opened.session}` };
  return (
    endpoint: AnyEndpoint,
    query: Record<string, string> = {},
    path: Record<string, string> = {},
    environment = service.environment,
  ) => service.call(endpoint, { headers, query, path, environment });
}
