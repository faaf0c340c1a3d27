import { relative } from 'node:path';

/** A path as a person would type it: relative where it lies below the current folder. */
export const shortPath = (file: string): string => {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file : path;
};
