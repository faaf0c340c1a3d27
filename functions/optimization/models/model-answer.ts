import * as z from 'zod';
import { FileId, Sha256, Timestamp, Ulid } from '../../../shared/core/formats.ts';
import { type Model, ModelOrigin, TensorSummary } from '../../../shared/data/models/model.ts';
import { modelFileRoles } from '../../../shared/data/models/model-file.ts';
import { ModelLineage } from '../../../shared/data/models/model-lineage.ts';

const count = z.number().int();

/** A model in a list. Fields from the inspection are null while the model is being uploaded. */
export const ModelRow = z
  .object({
    model_id: Ulid,
    model_name: FileId,
    owner: z.string().nullable(),
    owner_id: Ulid,
    status: z.enum(['uploading', 'ready']),
    origin: ModelOrigin,
    /** SHA-256 of the ONNX file. With external data: SHA-256 of the list of all its files. */
    digest: Sha256.nullable(),
    /** Bytes of the ONNX file and its external data. */
    bytes: count,
    has_calibration: z.boolean(),
    has_evaluation: z.boolean(),
    opset: count.nullable(),
    nodes: count.nullable(),
    parameters: z.number().nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Model' });

const FileAnswer = z.object({
  role: z.enum(modelFileRoles),
  name: z.string(),
  size: count,
  sha256: Sha256,
});

/** A model with its inspection. */
export const ModelDetails = ModelRow.extend({
  files: z.array(FileAnswer.extend({ verified: z.boolean() })),
  /** Announced files that have not been accepted yet. */
  pending: z.array(FileAnswer),
  shapes: z.object({ inputs: z.string().nullable(), outputs: z.string().nullable() }),
  inspection: z
    .object({
      ir_version: count,
      producer: z.string(),
      opsets: z.record(z.string(), z.number()),
      inputs: z.array(TensorSummary),
      outputs: z.array(TensorSummary),
      operators: z.record(z.string(), z.number()),
      nodes: count,
      initializers: count,
      parameters: z.number(),
      initializer_bytes: z.number(),
      external_files: z.array(z.string()),
      has_control_flow: z.boolean(),
      functions: count,
    })
    .nullable(),
  lineage: ModelLineage.nullable().describe('Where an exported model comes from; null for others.'),
}).meta({ id: 'ModelDetails' });

export function showModelRow(model: Model): z.input<typeof ModelRow> {
  const { files, summary } = model;
  const own = files.filter(({ role }) => role === 'model' || role === 'data');
  const has = (wanted: string) => files.some(({ role }) => role === wanted);
  return {
    ...model,
    bytes: own.reduce((sum, { size }) => sum + size, 0),
    has_calibration: has('calibration'),
    has_evaluation: has('evaluation'),
    opset: summary?.opsets['ai.onnx'] ?? null,
    nodes: summary?.nodes ?? null,
    parameters: summary?.parameters ?? null,
  };
}

/** Sort the keys. The table does not keep their order, but the response and its ETag must be stable. */
const inOrder = (counts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).sort(([one], [other]) => (one < other ? -1 : 1)));

/** A model in a response of its own. */
export const showModel = (model: Model): z.input<typeof ModelDetails> => ({
  ...model,
  ...showModelRow(model),
  lineage: model.lineage ?? null,
  inspection: model.summary && {
    ...model.summary,
    opsets: inOrder(model.summary.opsets),
    operators: inOrder(model.summary.operators),
  },
});
