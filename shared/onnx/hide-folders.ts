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
 * A text in which files of these folders, given by absolute paths, go by what they are called within them: where a
 * model lies on a server is nothing that its owner is told. Links to the folders are followed.
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
