import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Sha256 } from '../../core/formats.ts';

export const modelFileRoles = ['model', 'data', 'calibration', 'evaluation'] as const;

const described = {
  role: z.enum(modelFileRoles),
  name: z.string(),
  size: z.number().int(),
  /** As the uploader stated it. */
  sha256: Sha256,
  /** Key in the bucket, made by the service; what lies there never changes. */
  object: z.string(),
};

/** A file that belongs to a model. */
export const ModelFile = z.object({
  ...described,
  /**
   * Whether the bytes are known to have this SHA-256. Storage cannot tell it of what came in parts: there whoever
   * reads the file compares.
   */
  verified: z.boolean(),
});
export type ModelFile = z.infer<typeof ModelFile>;

/**
 * What a file is to its model: the ONNX file itself, external data of it, or arrays (npz) by which it is calibrated or
 * its accuracy is measured.
 */
export type ModelFileRole = (typeof modelFileRoles)[number];

/** Names that the files of a model have beside each other; those of external data are the model's own choice. */
export const modelFileNames = {
  model: 'model.onnx',
  calibration: 'calibration.npz',
  evaluation: 'evaluation.npz',
} as const satisfies Partial<Record<ModelFileRole, string>>;

const dataFileName = /^[A-Za-z0-9_][A-Za-z0-9 ._:+@=-]{0,199}$/;

const taken: readonly string[] = Object.values(modelFileNames);

/** Name of an external data file. The file lies beside the model. The name cannot lead to another folder. */
export const DataFileName = z
  .string()
  .regex(
    dataFileName,
    'must be the plain name of a file beside the model: a letter, digit or underscore, then at most 199 letters, digits, spaces and any of . _ : + @ = -',
  )
  .refine((name) => !taken.includes(name), `must not be one of ${taken.join(', ')}`);

/** A file on its way. */
export const PendingFile = z.object({
  ...described,
  /** The multipart upload, and the bytes of each part except the last; null if the file is sent in one piece. */
  parts: z.object({ upload_id: z.string(), part_bytes: z.number().int() }).nullable(),
});
export type PendingFile = z.infer<typeof PendingFile>;

/** Whether two files stand in the same place of a model. */
export const isSameFile = (
  one: { role: ModelFileRole; name: string },
  other: { role: ModelFileRole; name: string },
): boolean => one.role === other.role && one.name === other.name;

/**
 * SHA-256 of a model with its external data, which a job pins: that of the ONNX file where there is nothing else,
 * otherwise of the lines `<sha256> <name>`, sorted, of all its files.
 */
export function modelDigest(files: readonly ModelFile[]): string {
  const own = files.filter(({ role }) => role === 'model' || role === 'data');
  const [only] = own;
  if (only !== undefined && own.length === 1) return only.sha256;
  const lines = own.map(({ sha256, name }) => `${sha256} ${name}\n`).sort();
  return createHash('sha256').update(lines.join('')).digest('hex');
}
