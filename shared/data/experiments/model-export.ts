import * as z from 'zod';
import { FileId, Ulid } from '../../core/formats.ts';
import { storedRequest } from '../../onnx/strategies/prune-request.ts';

/** Where the model of an export comes from. */
const Source = z.union([
  z.object({
    hf: z.string().describe('Repository of the Hub, such as `OWNER/NAME`.'),
    revision: z.string().nullable().describe('As it was asked for; null for the main branch.'),
    commit: z
      .string()
      .nullable()
      .default(null)
      .describe(
        'Commit that the revision named at the request. Null if the Hub could not be asked then: the job asks it.',
      ),
  }),
  z.object({
    experiment_id: Ulid,
    path: z.string().describe('Folder of artifacts; empty for all of them.'),
  }),
]);

const shown = {
  source: Source,
  model_name: FileId.describe('Name under which the model is registered when the export has succeeded.'),
  result_name: FileId.describe('Name under which the compressed model is registered.'),
  strategy_id: Ulid.nullable().describe(
    'Compression that follows the export: a quantization. Null until it has begun.',
  ),
  reason: z
    .string()
    .nullable()
    .describe('Why the model was not registered or not compressed; null otherwise.'),
};

/** What an experiment exports, and what follows. */
export const ModelExport = z.object({
  ...shown,
  /** How the model is compressed then. */
  compression: storedRequest(),
  /** US dollars that the compression may cost. Null without a budget. */
  budget: z.number().nullable(),
});
export type ModelExport = z.infer<typeof ModelExport>;

/** The same in responses. */
export const ModelExportAnswer = z.object(shown).meta({ id: 'ModelExport' });

const always = ['HF_TOKEN', 'HF_ENDPOINT'];

const addresses = [
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_FIND_LINKS', 'PIP_TRUSTED_HOST'],
  ...['UV_DEFAULT_INDEX', 'UV_INDEX', 'UV_INDEX_URL', 'UV_EXTRA_INDEX_URL', 'UV_FIND_LINKS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

/**
 * Whether an export gets a variable of its project: the token and address of the Hub, and addresses of packages that are no
 * secrets. An export may run code of a stranger.
 */
export const reachesExport = ({ name, isSecret }: { name: string; isSecret: boolean }): boolean =>
  always.includes(name) || (!isSecret && addresses.includes(name));
