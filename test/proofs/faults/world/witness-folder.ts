import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface WitnessFolder {
  folder: string;
  /** Where commands of jobs say that they ran: a line for each time. */
  witness: string;
  /** Where processes note their calls. */
  trace: string;
}

/** A new folder, its path beginning with `prefix`, whose witness users of jobs may write to as well. */
export async function witnessFolder(prefix: string): Promise<WitnessFolder> {
  const folder = await mkdtemp(prefix);
  // As root, jobs run as users of their own, who have to pass through.
  await chmod(folder, 0o711);
  const witness = join(folder, 'ran');
  const trace = join(folder, 'trace');
  for (const file of [witness, trace]) await writeFile(file, '');
  await chmod(witness, 0o666);
  return { folder, witness, trace };
}
