import { createHash } from 'node:crypto';
import * as z from 'zod';
import { Sha256 } from '../../core/formats.ts';

export const modelFileRoles = [
  'model',
  'data',
  'calibration',
  'evaluation',
  'labels',
  'preprocessing',
] as const;

const described = {
  role: z.enum(modelFileRoles),
  name: z.string(),
  size: z.number().int(),
  /** Digest that the uploader stated. */
  sha256: Sha256,
  /** Key in the bucket, chosen by the service. The object never changes. */
  object: z.string(),
};

/** File of a model. */
export const ModelFile = z.object({
  ...described,
  /**
   * Whether the SHA-256 of the bytes was verified. Storage cannot verify multipart uploads, so their readers must
   * compare it.
   */
  verified: z.boolean(),
});
export type ModelFile = z.infer<typeof ModelFile>;

/**
 * Role of a file in its model: the ONNX file itself, its external data, arrays (npz) for calibration or for the
 * evaluation of accuracy, the names of its classes, one a line, for serving, or a file that says how texts or pictures become its inputs.
 */
export type ModelFileRole = (typeof modelFileRoles)[number];

/** Fixed names of a model's files. The model itself chooses the names of external data files. */
export const modelFileNames = {
  model: 'model.onnx',
  calibration: 'calibration.npz',
  evaluation: 'evaluation.npz',
  labels: 'labels.txt',
} as const satisfies Partial<Record<ModelFileRole, string>>;

/** Whether a file can never change once the model is ready. */
export const isOwnFile = ({ role }: { role: ModelFileRole }): boolean =>
  role === 'model' || role === 'data' || role === 'preprocessing';

const dataFileName =
  /^(?!.{201})[A-Za-z0-9_][A-Za-z0-9 ._:+@=-]*(?:\/[A-Za-z0-9_][A-Za-z0-9 ._:+@=-]*){0,7}$/;

const taken: readonly string[] = Object.values(modelFileNames);

/** Path of an external data file in the model's folder. It cannot lead to another folder. */
export const DataFileName = z
  .string()
  .regex(
    dataFileName,
    'must be a path below the folder of the model, of at most 200 characters and 8 names separated by /: each a letter, digit or underscore, then letters, digits, spaces and any of . _ : + @ = -',
  )
  .refine(
    (name) => !taken.includes(name.split('/')[0] ?? ''),
    `must not be one of ${taken.join(', ')}, nor a path below one`,
  );

/** File whose upload is pending. */
export const PendingFile = z.object({
  ...described,
  /** Multipart upload, with the bytes of each part except the last. Null if the file is sent in one piece. */
  parts: z.object({ upload_id: z.string(), part_bytes: z.number().int() }).nullable(),
});
export type PendingFile = z.infer<typeof PendingFile>;

/** Whether two files have the same role and name. */
export const isSameFile = (
  one: { role: ModelFileRole; name: string },
  other: { role: ModelFileRole; name: string },
): boolean => one.role === other.role && one.name === other.name;

/**
 * Return the SHA-256 of a model with its external data, which a job pins. Without external data it is the digest
 * of the ONNX file. Otherwise it is the digest of the sorted lines `<sha256> <name>` of all its files.
 */
export function modelDigest(files: readonly ModelFile[]): string {
  const own = files.filter(({ role }) => role === 'model' || role === 'data');
  const [only] = own;
  if (only !== undefined && own.length === 1) return only.sha256;
  const lines = own.map(({ sha256, name }) => `${sha256} ${name}\n`).sort();
  return createHash('sha256').update(lines.join('')).digest('hex');
}
