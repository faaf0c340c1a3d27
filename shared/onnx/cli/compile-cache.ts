import { join } from 'node:path';

/** Folder where Node keeps compiled code between runs of the command and its stages: half of their start. */
export const compileCache = join(import.meta.dirname, '../../../node_modules/.cache/optimize');
