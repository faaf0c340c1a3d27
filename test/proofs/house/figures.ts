import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sidewaysImports } from './imports.ts';

/** What the shape of the product's code is described by. Files are those of TypeScript below the rooms of the product. */
export interface HouseFigures {
  files: number;
  lines: number;
  medianLines: number;
  p90Lines: number;
  largest: { file: string; lines: number };
  /** Folders with more than 20 files of their own. */
  crowdedFolders: string[];
  /** Folders with fewer than 4 files of their own and no rooms below. */
  smallFolders: string[];
  /** Imports from `functions/a` to `functions/b`. */
  sidewaysImports: string[];
  wordsOfContributing: number;
  wordsOfReadmes: number;
}

export const productRooms = '{functions,shared,infra,cli}';

/** The product's TypeScript files with their texts, by path from the root. */
export async function readProductFiles(root: string): Promise<Map<string, string>> {
  const pattern = `${productRooms}/**/*.{ts,tsx,mjs}`;
  const paths = (await Array.fromAsync(glob(pattern, { cwd: root }))).filter(
    (path) => !path.endsWith('.d.ts'),
  );
  const texts = await Promise.all(paths.map((path) => readFile(join(root, path), 'utf8')));
  return new Map(paths.map((path, index) => [path.replaceAll('\\', '/'), texts[index] ?? '']));
}

/** Files of each folder, those of its rooms not counted. */
export function filesByFolder(paths: Iterable<string>): Map<string, string[]> {
  const folders = new Map<string, string[]>();
  for (const path of paths) folders.set(dirname(path), [...(folders.get(dirname(path)) ?? []), path]);
  return folders;
}

const lineCount = (text: string) => text.split('\n').length - 1;
const wordCount = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;

export async function houseFigures(root: string): Promise<HouseFigures> {
  const texts = await readProductFiles(root);
  const sizes = [...texts].map(([file, text]) => ({ file, lines: lineCount(text) }));
  const ascending = sizes.toSorted((one, other) => one.lines - other.lines);
  const at = (share: number) => ascending[Math.floor(share * (ascending.length - 1))]?.lines ?? 0;
  const folders = filesByFolder(texts.keys());
  const hasRooms = (folder: string) => [...folders.keys()].some((other) => other.startsWith(`${folder}/`));
  const readmes = await Array.fromAsync(
    glob(`{README.md,{functions,shared,infra,cli,test}/**/README.md}`, { cwd: root }),
  );
  const words = await Promise.all(
    readmes.map(async (path) => wordCount(await readFile(join(root, path), 'utf8'))),
  );
  return {
    files: sizes.length,
    lines: sizes.reduce((sum, { lines }) => sum + lines, 0),
    medianLines: at(0.5),
    p90Lines: at(0.9),
    largest: ascending.at(-1) ?? { file: '', lines: 0 },
    crowdedFolders: [...folders].filter(([, files]) => files.length > 20).map(([folder]) => folder),
    smallFolders: [...folders]
      .filter(([folder, files]) => files.length < 4 && !hasRooms(folder))
      .map(([folder]) => folder),
    sidewaysImports: sidewaysImports(texts),
    wordsOfContributing: wordCount(await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')),
    wordsOfReadmes: words.reduce((sum, count) => sum + count, 0),
  };
}
