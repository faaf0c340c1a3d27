import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import { readProjectObjects } from '../../../shared/aws/needs.ts';
import { Ulid } from '../../../shared/core/formats.ts';
import { inLanes } from '../../../shared/core/in-lanes.ts';
import { type Artifact, findArtifacts } from '../../../shared/data/experiments/artifact.ts';
import { requireExperiment } from '../../../shared/data/experiments/experiment.ts';
import { ArtifactPath } from '../../../shared/data/projects/upload-rules.ts';
import { readRecords } from '../../../shared/data/table/needs.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';

const maxFiles = 200;
/** Bytes of all files of an answer. In base64 they fit into a payload of Lambda. */
const maxBytes = 3_000_000;
/** Files that are read at once. */
const atOnce = 24;

const Asked = z.strictObject({ experiment_id: Ulid, path: ArtifactPath });

const ReadArtifact = z.object({
  experiment_id: Ulid,
  path: z.string(),
  state: z
    .enum(['read', 'missing', 'too-large', 'left'])
    .describe(
      `\`too-large\`: above ${maxBytes.toLocaleString('en')} bytes; download it. \`left\`: did not fit into this answer; ask again.`,
    ),
  media_type: z.string().nullable(),
  content: z.string().nullable().describe('The bytes in base64, if `state` is `read`.'),
});

type Answer = z.infer<typeof ReadArtifact>;

export const endpoint = defineEndpoint({
  name: 'readArtifacts',
  method: 'POST',
  path: '/projects/{project_id}/artifacts/read',
  summary: 'Read several small artifacts at once',
  description: `For pictures of many experiments or steps. Up to ${maxFiles} files of together ${maxBytes.toLocaleString('en')} bytes, in the order of the request. Download larger files one by one.`,
  allow: 'viewer',
  project: 'viewer',
  right: 'read',
  needs: { records: readRecords, objects: readProjectObjects },
  input: {
    path: projectPath,
    body: fields(
      z.strictObject({
        artifacts: z
          .array(Asked)
          .min(1)
          .max(maxFiles, `has more than ${maxFiles} artifacts`)
          .describe('The files, the most wanted first.'),
      }),
      512 * 1024,
    ),
  },
  work: 'heavy: 200 files of together 3 MB',
  reads: true,
  output: { 200: z.object({ artifacts: z.array(ReadArtifact) }) },
  problems: ['not-found', 'too-large', 'unsupported-media-type'],
  isHeavy: () => true,

  async handle({ path: { project_id }, body }, { records, objects }) {
    const ids = new Set(body.artifacts.map(({ experiment_id }) => experiment_id));
    await inLanes(ids, atOnce, (id) => requireExperiment(records, project_id, id));
    const found = await findArtifacts(records, body.artifacts);
    let bytes = 0;
    const planned = body.artifacts.map((asked, index) => {
      const artifact = found[index];
      const state = stateOf(artifact, bytes);
      if (state === 'read') bytes += artifact?.size ?? 0;
      return { asked, artifact, state };
    });
    const artifacts = await inLanes(planned, atOnce, async ({ asked, artifact, state }): Promise<Answer> => {
      const media_type = artifact?.media_type ?? null;
      if (artifact === undefined || state !== 'read') return { ...asked, state, media_type, content: null };
      const stream = await objects.read(artifact.object);
      // The file was replaced or deleted since its record was read.
      if (stream === undefined) return { ...asked, state: 'missing', media_type, content: null };
      return { ...asked, state, media_type, content: (await buffer(stream)).toString('base64') };
    });
    return { artifacts };
  },
});

function stateOf(artifact: Artifact | undefined, bytes: number): Answer['state'] {
  if (artifact === undefined) return 'missing';
  if (artifact.size > maxBytes) return 'too-large';
  return bytes + artifact.size > maxBytes ? 'left' : 'read';
}
