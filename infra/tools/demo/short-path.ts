import { relative } from 'node:path';

/** The path relative to the current folder if it lies below it, else the path unchanged. */
export const shortPath = (file: string): string => {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
};
