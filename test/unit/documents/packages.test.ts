import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../integration/records/fixture-records.ts';

// `mps` of the public registry is a package of somebody else: npx fetches and runs it in any folder but the checkout.

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Commands of our own tools, which are installed wherever one of these lines is followed. */
const tools = /^(?:vitest|tsc|biome|cdk)\b/;
/** A package by its name and version, that of a deployment, and the command of a checkout by its path. */
const exact = /^(?:--yes --package wabt@[\d.]+ |--yes "\$MPS_URL\/cli\/mps\.tgz"|--prefix \S)/;

/** What is printed or read: programs, and the documents of every folder. */
const texts = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((path) => /\.(?:md|tsx?|mjs|sh)$/.test(path) && (!path.startsWith('test/') || path.endsWith('.md')))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** What is handed to a command, up to the end of its line. */
const after = (command: RegExp) =>
  texts.flatMap(({ path, text }) => [...text.matchAll(command)].map(([, rest = '']) => ({ path, rest })));

test('npx runs what is installed here, or what a checkout has by its path', () => {
  const found = after(/\bnpx[ \t]+([^\n]*)/g);
  expect(found.length).toBeGreaterThan(5);
  expect(found.filter(({ rest }) => !tools.test(rest) && !exact.test(rest))).toEqual([]);
});

test('npm installs a global command by its address alone', () => {
  const found = after(/\bnpm[ \t]+(?:install|i|add|exec)[ \t]+(?:-g|--global)[ \t]+([^\n]*)/g);
  expect(found.length).toBeGreaterThan(3);
  expect(
    found.filter(({ rest }) => !/^"?(?:https?:\S+|<address>|\$\{?\w+\}?)\/cli\/mps\.tgz\b/.test(rest)),
  ).toEqual([]);
});

test('a checkout has the command under the name that npx looks for', () => {
  expect(manifest.bin).toEqual({ mps: 'cli/mps.mjs' });
});
