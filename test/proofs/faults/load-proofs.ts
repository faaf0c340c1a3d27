import { glob } from 'node:fs/promises';
import type { Proof } from './proof.ts';

const ending = '.proof.ts';

/** The names of all proofs, which are those of their files. */
export async function proofNames(): Promise<string[]> {
  const files = await Array.fromAsync(glob(`*${ending}`, { cwd: import.meta.dirname }));
  return files.map((file) => file.slice(0, -ending.length)).sort();
}

/** Imports one proof; with all that they need, the others take longer than help or a wrong flag is worth. */
export async function loadProof(name: string): Promise<Proof> {
  return (await import(`./${name}${ending}`)).proof as Proof;
}
