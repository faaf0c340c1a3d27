import { formats, markups, queries } from './documents.ts';
import { lines, prototypes, shells, unicode } from './texts.ts';
import { traversals } from './traversal.ts';

/** A user whose records must not change. */
export interface Neighbour {
  user_id: string;
  username: string;
  project_id: string;
}

/** The delimiters and words of which the service makes its own keys, with what they would lead to. */
function keys({ user_id, username, project_id }: Neighbour): string[] {
  const partitions = [
    `PROJECT#${project_id}`,
    `CONFIGS#${project_id}`,
    `ENVIRONMENT#${project_id}`,
    `ENVIRONMENT_PACKS#${project_id}`,
    `SOURCE#${project_id}`,
    `DATASETS#${project_id}`,
    `BLOBS#${project_id}`,
    `EXPERIMENTS#${project_id}`,
    `USER#${user_id}`,
    `USERNAME#${username}`,
    `IDEMPOTENCY#${user_id}`,
    `TOKEN#${user_id}`,
    `TOKEN_ID#${user_id}`,
  ];
  const words = [
    'PROJECTS',
    'USERS',
    'POPULATION',
    'UNFINISHED_JOBS',
    'LOG#',
    'LOG#0#0',
    'METRIC#',
    'ARTIFACT#',
    'CHECKPOINT#',
    'LEASE#',
    'SIGN-IN#',
    'ATTEMPTS',
    'PASSWORD',
    'PROFILE',
    'pk',
    'sk',
    'ttl',
    'record_type',
    'schema_version',
    '#',
    '##',
    'a#b',
    'after:',
    'YWZ0ZXI6',
  ];
  return [
    ...partitions,
    ...partitions.map((partition) => `x\n${partition}`),
    ...partitions.map((partition) => `#${partition}#`),
    ...words,
    `${project_id}/`,
    `${project_id}#`,
    `${project_id}\u0000`,
    `../${project_id}`,
    `..%2f${project_id}%2fconfigs`,
    `projects/${project_id}/`,
    `../../projects/${project_id}/sources/`,
    `/${project_id}/../`,
    `${username}\u0000`,
    `${username}/../admin`,
    `${username} `,
    `${user_id}.`,
    `${user_id}.${'A'.repeat(43)}`,
    Buffer.from(`after:${project_id}`).toString('base64url'),
    Buffer.from(`after:CONFIG#${project_id}`).toString('base64url'),
    Buffer.from('after:\u0000').toString('base64url'),
    Buffer.from(`after:${'z'.repeat(1000)}`).toString('base64url'),
  ];
}

/** Several hundred hostile strings, each once. */
export function corpus(neighbour: Neighbour): readonly string[] {
  const all = [traversals, keys(neighbour), prototypes, unicode, shells, lines, queries, markups, formats];
  return [...new Set(all.flat())];
}
