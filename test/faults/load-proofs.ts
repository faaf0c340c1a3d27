import { glob } from 'node:fs/promises';
import type { Proof } from './proof.ts';

/** All proofs, by the names of their files. */
export async function loadProofs(): Promise<Proof[]> {
  const files = (await Array.fromAsync(glob('*.proof.ts', { cwd: import.meta.dirname }))).sort();
  return Promise.all(files.map(async (file) => (await import(`./${file}`)).proof as Proof));
}
