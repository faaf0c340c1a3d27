import { type FileKind, fileKind, type NamedFile } from './file-kind.ts';

/** Kinds by how much a look at a file tells of a run, the most first. */
const kinds: readonly FileKind[] = [
  'html',
  'markdown',
  'picture',
  'table',
  'parquet',
  'json',
  'text',
  'events',
  'audio',
];

/** Bytes up to which a file is opened without being asked for. */
const maxBytes = 4_000_000;

/** Order of names in which `epoch_2` comes before `epoch_10`. */
export const byName = new Intl.Collator('en', { numeric: true }).compare;

/** Return the file that tells the most of a run: a report, a picture, a table, then the rest, the topmost first. */
export function previewFile(artifacts: readonly NamedFile[]): string | undefined {
  const ranked = artifacts
    .filter(({ size }) => size > 0 && size <= maxBytes)
    .map((artifact) => ({
      path: artifact.path,
      kind: kinds.indexOf(fileKind(artifact)),
      depth: artifact.path.split('/').length,
    }))
    .filter(({ kind }) => kind >= 0)
    .sort((a, b) => a.kind - b.kind || a.depth - b.depth || byName(a.path, b.path));
  // Of a series of pictures the last one shows what the run has come to.
  const [first] = ranked;
  const folder = (path: string) => path.slice(0, path.lastIndexOf('/') + 1);
  const alike = ranked.filter(
    ({ kind, path }) => first !== undefined && kind === first.kind && folder(path) === folder(first.path),
  );
  const isSeries = first !== undefined && first.kind === kinds.indexOf('picture');
  const chosen = (isSeries ? alike.at(-1) : first)?.path;
  return chosen ?? artifacts.find(({ path }) => /\.onnx$/i.test(path))?.path ?? only(artifacts);
}

const only = (artifacts: readonly NamedFile[]): string | undefined =>
  artifacts.length === 1 ? artifacts[0]?.path : undefined;
