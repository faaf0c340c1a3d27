import { readFile } from 'node:fs/promises';

/** Return the parsed content of a file, or undefined if the file is missing or does not match the schema. */
export async function readJson<T>(
  file: string,
  schema: { parse(value: unknown): T },
): Promise<T | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}
