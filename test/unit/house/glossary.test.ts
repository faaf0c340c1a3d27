import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** A word of a table "Words", with the README that has it. */
interface Word {
  term: string;
  meaning: string;
  readme: string;
}

/** Rows of the section "Words" of a README. A row may explain several terms: `line, ticket`. */
function wordsOf(readme: string, text: string): Word[] {
  const [, section = ''] = text.split(/^## Words$/m);
  const [table = ''] = section.split(/^## /m);
  return table.split('\n').flatMap((line) => {
    const [, terms = '', meaning = ''] = /^\| ([^|]+) \| (.+) \|$/.exec(line) ?? [];
    if (terms === '' || terms === 'word') return [];
    return terms.split(', ').map((term) => ({ term, meaning, readme }));
  });
}

let words: Word[];
beforeAll(async () => {
  const readmes = await Array.fromAsync(
    glob('{functions,shared,infra,cli,test}/**/README.md', { cwd: root }),
  );
  const texts = await Promise.all(readmes.map((readme) => readFile(join(root, readme), 'utf8')));
  words = readmes.flatMap((readme, index) => wordsOf(readme, texts[index] ?? ''));
});

test('each word has one meaning in the whole house', () => {
  expect(words.length).toBeGreaterThan(40);
  const twice = [...Map.groupBy(words, ({ term }) => term)].filter(([, same]) => same.length > 1);
  expect(twice.map(([term, same]) => `${term}: ${same.map(({ readme }) => readme).join(', ')}`)).toEqual([]);
});

test('a word that the glossary explains is used in the code or the documents', async () => {
  const files = await Array.fromAsync(glob('{functions,shared,infra,cli}/**/*.{ts,tsx,md}', { cwd: root }));
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  const all = texts
    .join('\n')
    .replaceAll(/^\|.*$/gm, '')
    .toLowerCase();
  const unused = words.filter(({ term }) => !all.includes(term.toLowerCase()));
  expect(unused.map(({ term, readme }) => `${term} (${readme})`)).toEqual([]);
});
