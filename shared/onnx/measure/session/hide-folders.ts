import { realpathSync } from 'node:fs';
import { sep } from 'node:path';

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/**
 * The text with absolute paths of files in these folders replaced by their relative paths: its reader must not learn
 * where the server stores models. Links to the folders are followed.
 */
export function hideFolders(text: string, folders: Iterable<string>): string {
  const all = new Set([...folders].flatMap((folder) => [folder, realOf(folder)]));
  all.delete(sep);
  let hidden = text;
  // Those within others first.
  for (const folder of [...all].sort((a, b) => b.length - a.length)) {
    hidden = hidden
      .replaceAll(new RegExp(`(?<![\\w.-])${escaped(folder)}/+`, 'g'), '')
      .replaceAll(new RegExp(`(?<![\\w.-])${escaped(folder)}(?![\\w.-])`, 'g'), '.');
  }
  return hidden;
}
