import packageFile from '../../package.json' with { type: 'json' };
import type { TagRule } from '../../shared/http/openapi/document.ts';
import { type OpenApiDocument, openApiDocument } from '../../shared/http/openapi/document.ts';
import { samples } from './document-samples.ts';
import type { LoadedEndpoint } from './endpoints.ts';

/** Return the OpenAPI document of the whole service, as stored next to the endpoint that serves it. */
export function serviceDocument(endpoints: readonly LoadedEndpoint[]): OpenApiDocument {
  const all = endpoints.map(({ endpoint }) => endpoint);
  return openApiDocument(all, {
    title: 'Model Project Service',
    version: packageFile.version,
    description,
    tags,
    samples,
  });
}

const description = `Machine-learning projects with their configurations, environments, experiments and trainings; users; and the pruning and quantization of models.

Sign in with \`POST /auth/token\` and send the token with every request as \`Authorization: Bearer <token>\`. Every path works with and without a trailing slash, and HEAD works wherever GET does. Times are ISO 8601 in UTC, sizes are in bytes, and durations in seconds. Unknown and repeated parameters are refused. Errors are problem documents (RFC 9457).`;

/** Groups of operations in the reference. A path outside these groups is grouped by its first segment. */
const tags: readonly TagRule[] = [
  {
    name: 'Sign-in',
    description: 'Sign-in, tokens and sessions.',
    paths: ['/auth'],
  },
  {
    name: 'Projects',
    description: 'A project has configurations, an environment, a source, data sets and experiments.',
    paths: ['/projects/'],
  },
  {
    name: 'Sharing',
    description: 'Rights in a project: its owner, and its members with their roles.',
    paths: ['/projects/{project_id}/members', '/projects/{project_id}/owner'],
  },
  {
    name: 'Configurations',
    description: 'Versioned configuration files in YAML, JSON or TOML, and graphs of them.',
    paths: ['/projects/{project_id}/configs'],
  },
  {
    name: 'Environment',
    description: 'The command of a training, and its dependencies.',
    paths: ['/projects/{project_id}/environment'],
  },
  {
    name: 'Variables',
    description: 'Environment variables and secrets for the trainings of a project.',
    paths: ['/projects/{project_id}/variables'],
  },
  {
    name: 'Source and data',
    description:
      'Uploads by presigned URL: the source archive, and data sets. Trainings find a data set read-only at DATA_DIR.',
    paths: ['/projects/{project_id}/source', '/projects/{project_id}/datasets'],
  },
  {
    name: 'Training',
    description: 'Start an experiment, on one machine or on a cluster.',
    paths: ['/projects/{project_id}/train', '/projects/{project_id}/train-remote'],
  },
  {
    name: 'Experiments',
    description: 'Runs of a project, with their logs, metrics and artifacts.',
    paths: ['/projects/{project_id}/experiments', '/projects/{project_id}/compare', '/experiments'],
  },
  {
    name: 'Links',
    description: 'Addresses that show a part of a project without an account.',
    paths: ['/links', '/projects/{project_id}/links'],
  },
  {
    name: 'Audit',
    description: 'Who changed what, when and from where.',
    paths: ['/audit', '/projects/{project_id}/audit'],
  },
  {
    name: 'Users',
    description: 'Accounts, their types and their pictures.',
    paths: ['/users'],
  },
  {
    name: 'Optimization',
    description: 'Pruning and quantization of models. Each run is recorded with its receipt.',
    paths: ['/optimization'],
  },
  {
    name: 'Serving',
    description:
      'Served models answer by the Open Inference Protocol (KServe V2): `tritonclient`, KServe’s client and curl ask them.',
    paths: ['/v2'],
  },
  {
    name: 'MLflow',
    description: "MLflow's own REST API, for its clients: set `MLFLOW_TRACKING_URI` to `$BASE/mlflow`.",
    paths: ['/mlflow'],
  },
  {
    name: 'Service',
    description: 'The service itself.',
    paths: ['/', '/health', '/openapi.json', '/docs', '/console', '/cli'],
  },
];

/** Return the document as the text of its file. */
export function documentText(document: OpenApiDocument): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
