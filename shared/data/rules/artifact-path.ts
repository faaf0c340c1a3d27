import * as z from 'zod';
import { artifactPathMaxBytes } from '../experiments/artifact.ts';

/** Whether a path leads down from its folder, and is the only one that means its file. */
export const isSafePath = (path: string): boolean =>
  path.isWellFormed() &&
  !/[\\\0]/.test(path) &&
  path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');

/** Path of a file of an experiment. */
export const ArtifactPath = z
  .string()
  .refine(
    (path) => Buffer.byteLength(path) <= artifactPathMaxBytes,
    `is longer than ${artifactPathMaxBytes} bytes`,
  )
  .refine(isSafePath, 'must be relative, without "..", "\\" and empty parts');

/** Bytes of a path that the key of a file has room for, beside the id of a model. */
export const clientPathMaxBytes = artifactPathMaxBytes - 30;
