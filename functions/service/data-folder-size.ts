import * as z from 'zod';
import { readJson } from '../../shared/core/text/read-json.ts';
import type { Start } from './start-page.ts';

/** Read the size that `npm start` measured last; null if there is no file, or nothing in it yet. */
export async function readDataFolder(file: string | undefined): Promise<Start['data_folder']> {
  const size = file === undefined ? undefined : await readJson(file, Size);
  return size === undefined ? null : { bytes: size.total, limit: size.limit };
}

const Size = z.object({ total: z.number(), limit: z.number() });
