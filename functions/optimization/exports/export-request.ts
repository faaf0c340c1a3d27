import * as z from 'zod';
import { FileId, Ulid } from '../../../shared/core/formats.ts';
import { StoredPath } from '../../../shared/data/experiments/tracking-rules.ts';
import { exportTasks } from '../../../shared/exports/program/export-settings.ts';
import { decimalAbove, flag } from '../../../shared/http/definition/parameters.ts';
import { sizeBounds } from '../../../shared/jobs/size.ts';
import { quantizeParameters } from '../../../shared/onnx/strategies/quantize-strategies.ts';
import { named } from '../compressions/compression-query.ts';

/** A part of a repository's name, as the Hub allows it. */
const part = '[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?';

const hf = z
  .string()
  .regex(
    new RegExp(`^(?!.*(?:--|\\.\\.))${part}(?:/${part})?$`),
    'must be the name of a model of the Hub, such as sentence-transformers/all-MiniLM-L6-v2',
  )
  .describe('Model of the Hugging Face Hub, such as `sentence-transformers/all-MiniLM-L6-v2`.');

const revision = z
  .string()
  .regex(
    /^(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/,
    'must be a branch, tag or commit of at most 100 letters, digits and any of . _ / -',
  )
  .describe('Branch, tag or commit. The request resolves it to a commit, once. Default: `main`.');

const folder = StoredPath.refine(
  (path) => path === '' || path.split('/').every((name) => !['', '.', '..'].includes(name)),
  'must be a path of folders separated by /, without . and .., such as best/model',
).describe(
  'Folder among the artifacts with the files of the model, such as `best`; empty if they are not in a folder.',
);

/** A request for an export. */
export const ExportRequest = z
  .strictObject({
    project_id: Ulid.optional().describe(
      'Project in which the export runs. Default: that of the experiment; required with `source.hf`.',
    ),
    source: z
      .union(
        [
          z.strictObject({ hf, revision: revision.optional() }),
          z.strictObject({ experiment_id: Ulid, path: folder.default('') }),
        ],
        { error: 'must be {"hf": "OWNER/NAME", "revision": "…"} or {"experiment_id": "…", "path": "…"}' },
      )
      .describe('A model of the Hub, or a folder among the artifacts of an experiment.'),
    name: FileId.optional().describe(
      'Name under which to register the model. The compressed one gets this name with `-small`. Default: that of the repository or folder.',
    ),
    task: z
      .enum(exportTasks, `must be one of ${exportTasks.join(', ')}`)
      .optional()
      .describe('What the model does. Default: as its files say.'),
    for: named(quantizeParameters.for.values).optional().describe(quantizeParameters.for.description),
    max_loss: decimalAbove(0, 1)
      .optional()
      .describe(
        'Loss of quality that the compressed model may have, such as `0.01`. Default: as quantize has it.',
      ),
    data: FileId.optional().describe(
      'Data set of the project with one text a line, by which quality is measured. Default: texts of the card, and a built-in list.',
    ),
    trust_remote_code: flag
      .default(false)
      .describe('Whether code of the repository may run, such as `true`. It is refused otherwise.'),
    vcpus: sizeBounds.vcpus.optional().describe('vCPUs of the export. Default: `2`.'),
    memory: sizeBounds.memory.optional().describe('Memory of the export in MiB. Default: `8192`.'),
    timeout: sizeBounds.timeout
      .optional()
      .describe('Seconds after which the export is stopped. Default: `3600`.'),
    budget: decimalAbove(0, 1_000_000)
      .optional()
      .describe('US$ that each of the two jobs may cost. Default: up to its timeout.'),
  })
  .meta({
    examples: [
      {
        project_id: '01m7zd37c8sw33pd33t8h6rtmj',
        source: { hf: 'sentence-transformers/all-MiniLM-L6-v2' },
        for: 'lambda',
        max_loss: 0.01,
      },
    ],
  });
export type ExportRequest = z.output<typeof ExportRequest>;
