import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { commandName, proofs } from './proofs.ts';

/**
 * `npm run proof -- <name> [flags]`: runs one of the long proofs and benchmarks that `proofs.ts` lists, with its
 * own flags. Without a name it lists them. Exits with the code of what it ran, and with 2 for an unknown name.
 */
const root = join(import.meta.dirname, '../..');
const [name, ...flags] = process.argv.slice(2);
const proof = proofs.find((one) => one.name === name);

if (proof === undefined) {
  const width = Math.max(...proofs.map((one) => one.name.length));
  const isAsked = name === undefined || name === '--help' || name === '-h';
  const print = isAsked ? console.log : console.error;
  print(
    isAsked ? 'Usage: npm run proof -- <name> [flags]\n' : `There is no proof "${name}". These are there:\n`,
  );
  for (const one of proofs) print(`  ${one.name.padEnd(width)}  ${one.about}`);
  print('\nMost of them list their flags with --help.');
  process.exit(isAsked ? 0 : 2);
}

const [program, args] = commandName(proof.program);
const { status, error } = spawnSync(program, [...args, ...flags], { cwd: root, stdio: 'inherit' });
if (error !== undefined) throw error;
process.exit(status ?? 1);
