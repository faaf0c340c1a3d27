import { existsSync } from 'node:fs';
import { glob, readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { describe, expect, test } from 'vitest';
import { finalRank, jobStatuses } from '../../../shared/data/jobs/job-status.ts';
import { fixtureFiles, loadFixture, root } from '../../integration/records/fixture-records.ts';
import { truthsTable } from '../../proofs/truths/truths.ts';
import { tableLike } from '../../support/table-like.ts';
import { strategiesTable } from './strategies-table.ts';

const read = (path: string) => readFile(join(root, path), 'utf8');

/** Houses whose every room is in the drawing. */
const roomy = ['functions', 'shared', 'infra'];
const houses = [...roomy, 'cli', 'test'];

/** Every folder in a house, as the names on the way to it. */
async function foldersIn(house: string): Promise<string[][]> {
  const entries = await readdir(join(root, house), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)).split(sep));
}

/** Anchors of the headings of a document, as GitHub makes them. */
function headingAnchors(text: string): Set<string> {
  const prose = text.replaceAll(/^```.*?^```/gms, '');
  const headings = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .replaceAll(/\]\([^)]*\)/g, '')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Every module and document, without the history of changes. */
const patterns = ['*.md', ...houses.map((house) => `${house}/**/*.{md,ts,tsx}`)];
const isInstalled = (path: string) => /node_modules|cdk\.out|CHANGELOG|RESULTS/.test(path);
/** A user's program, which is not in this repository. */
const usersOwn = new Set(['train.ts']);

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'cli/programs.md',
  'cli/README.md',
  'infra/README.md',
  'infra/local/README.md',
  'shared/data/README.md',
  'shared/README.md',
  'shared/host/README.md',
  'shared/http/README.md',
  'shared/jobs/README.md',
  'functions/console/README.md',
  'functions/service/README.md',
  'shared/accounts/README.md',
  'shared/client/README.md',
  'shared/core/README.md',
  'shared/exports/README.md',
  'shared/hooks/README.md',
  'shared/mlflow/README.md',
  'shared/onnx/README.md',
  'shared/onnx/methods/prune/README.md',
  'shared/onnx/methods/quantize/README.md',
  'shared/run-rules/README.md',
  'shared/search/README.md',
  'shared/sweeps/README.md',
  'shared/sweeps/sampling/README.md',
  'shared/serving/README.md',
  'shared/runner/README.md',
  'python/README.md',
  'test/README.md',
  'test/examples/README.md',
  'test/proofs/mlflow/README.md',
];

describe.each(documents)('%s', (path) => {
  test('links only to files that are there', async () => {
    const links = [...(await read(path)).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link);
    const missing = links.filter((link) => !existsSync(join(root, dirname(path), link)));
    expect(missing).toEqual([]);
  });

  test('links only to headings that are there', async () => {
    const text = await read(path);
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]*)#([^)]+)\)/g)].map(
      async ([, file = '', anchor = '']) => {
        const headings = headingAnchors(file === '' ? text : await read(join(dirname(path), file)));
        return headings.has(anchor) ? [] : [`${file}#${anchor}`];
      },
    );
    expect((await Promise.all(links)).flat()).toEqual([]);
  });

  test('names only npm scripts that are there', async () => {
    const { scripts } = JSON.parse(await read('package.json'));
    const named = [...(await read(path)).matchAll(/npm run ([a-z][a-z:-]*)/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  });
});

test('documents and comments name only modules that are there', async () => {
  const tracked = await Array.fromAsync(glob(patterns, { cwd: root, exclude: isInstalled }));
  const modules = tracked.map((path) => `/${path.replaceAll(sep, '/')}`);
  const missing = await Promise.all(
    tracked.map(async (path) => {
      const text = await read(path);
      const prose = path.endsWith('.md') ? [text] : (text.match(/\/\*\*.*?\*\/|\/\/[^\n]*/gs) ?? []);
      const names = prose.flatMap((part) => [...part.matchAll(/`(?:\.{1,2}\/)*([\w./-]+\.tsx?)`/g)]);
      return names.flatMap(([, name = '']) =>
        modules.some((module) => module.endsWith(`/${name}`)) || usersOwn.has(name)
          ? []
          : [`${path}: ${name}`],
      );
    }),
  );

  expect(tracked.length).toBeGreaterThan(3000);
  expect(missing.flat()).toEqual([]);
});

test('the README fits on three screens', async () => {
  expect((await read('README.md')).split('\n').length).toBeLessThanOrEqual(150);
});

test('the drawing of the house has the rooms that are there, and no others', async () => {
  const [, drawing = ''] = /## The map\n.*?```\n\n```\n(.*?)```/s.exec(await read('CONTRIBUTING.md')) ?? [];
  const named = new Set([...drawing.matchAll(/\b([a-z-]+)\/(?![a-z*])/g)].map(([, name = '']) => name));
  const folders = (await Promise.all(houses.map(foldersIn))).flat();
  const all = new Set(folders.flat());
  expect([...named].filter((name) => !all.has(name))).toEqual([]);
  const rooms = new Set(
    folders.flatMap(([house, room]) => (roomy.includes(house ?? '') ? (room ?? []) : [])),
  );
  expect([...rooms].filter((room) => !drawing.includes(room))).toEqual([]);
});

test('the data model names the partition and the kind of every stored record', async () => {
  const text = await read('shared/data/README.md');
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  for (const file of fixtureFiles) {
    const { item } = await loadFixture(file);
    const kind = String(item['record_type']);
    const [partition = ''] = item.pk.split('#');
    const isNamed = rows.some((row) => row.includes(`\`${kind}\``) && row.includes(`\`${partition}`));
    expect(isNamed, `${kind} in ${item.pk}`).toBe(true);
  }
});

test('the drawing of the data model has the record kinds of its tables', async () => {
  const text = await read('shared/data/README.md');
  const kinds = new Set<string>();
  for (const [, kind = ''] of text.matchAll(/^\|[^|]*\|[^|]*\| `([a-z-]+)` \|/gm)) kinds.add(kind);
  const [, drawing = ''] = /```mermaid\n(.*?)```/s.exec(text) ?? [];
  const lines = drawing.split('\n').filter((line) => !/^flowchart|^ *(?:subgraph|end\b)/.test(line));
  const drawn = new Set(lines.join(' ').match(/[a-z](?:-?[a-z])*/g));
  expect([...drawn].sort()).toEqual([...kinds].sort());
});

test('the life of a job shows every status, and which ones are final', async () => {
  const text = await read('shared/jobs/README.md');
  for (const [rank, status] of jobStatuses.entries()) {
    const isFinal = rank >= finalRank;
    expect(text.includes(`${status} --> [*]`), status).toBe(isFinal);
    const [from, to] = [jobStatuses[rank - 1] ?? '[*]', status];
    if (rank <= finalRank) expect(text).toContain(`${from} --> ${to}`);
  }
});

test('shared/onnx/README.md has the table that is made of the registry: else paste the expected rows', async () => {
  const table = strategiesTable();
  expect(tableLike(table, await read('shared/onnx/README.md'))).toBe(table);
});

test('README.md has the table of truths that their proof checks: else paste the expected rows', async () => {
  const table = truthsTable();
  expect(tableLike(table, await read('README.md'))).toBe(table);
});
