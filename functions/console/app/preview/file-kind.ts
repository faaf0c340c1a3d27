import { isEventFile, mediaKindOf } from '../../../../shared/experiments/media-series.ts';

/** What an artifact's kind is told by. */
export interface NamedFile {
  path: string;
  media_type: string;
  size: number;
}

/** How a file is shown. No content ever runs. */
export type FileKind =
  | 'picture'
  | 'audio'
  | 'table'
  | 'parquet'
  | 'json'
  | 'html'
  | 'pdf'
  | 'events'
  | 'markdown'
  | 'text'
  | 'none';

const byEnding: Readonly<Record<string, FileKind>> = {
  ...{ json: 'json', jsonl: 'json', ndjson: 'json', csv: 'table', tsv: 'table', parquet: 'parquet' },
  ...{ html: 'html', htm: 'html', pdf: 'pdf', md: 'markdown' },
};
const textEndings = /\.(?:txt|log|ya?ml|toml|ini|cfg|py|js|ts|sh|xml|css|rst|sql|out|err|conf|lock)$/i;

/** Return how to show a file, by its name and its media type. */
export function fileKind({ path, media_type }: Pick<NamedFile, 'path' | 'media_type'>): FileKind {
  if (isEventFile(path)) return 'events';
  const media = mediaKindOf(path);
  if (media !== undefined) return media;
  const ending = (/\.(\w+)$/.exec(path)?.[1] ?? '').toLowerCase();
  const known = Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined;
  if (known !== undefined) return known;
  return textEndings.test(path) || media_type.startsWith('text/') ? 'text' : 'none';
}
