import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import type { Start } from './start-page.ts';

/** Read the size that `npm start` measured last; null if there is no file, or nothing in it yet. */
export async function readDataFolder(file: string | undefined): Promise<Start['data_folder']> {
  if (file === undefined) return null;
  try {
    const { total, limit } = Size.parse(JSON.parse(await readFile(file, 'utf8')));
    return { bytes: total, limit };
  } catch {
    return null;
  }
}

const Size = z.object({ total: z.number(), limit: z.number() });
