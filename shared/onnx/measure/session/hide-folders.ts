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
 * Replace absolute paths of files in these folders by relative paths. Readers must not learn the server's storage
 * locations. Also covers the targets of links to the folders.
 */
export function hideFolders(text: string, folders: Iterable<string>): string {
  const all = new Set([...folders].flatMap((folder) => [folder, realOf(folder)]));
  all.delete(sep);
  let hidden = text;
  // Replace nested folders first.
  for (const folder of [...all].sort((a, b) => b.length - a.length)) {
    hidden = hidden
      .replaceAll(new RegExp(`(?<![\\w.-])${escaped(folder)}/+`, 'g'), '')
      .replaceAll(new RegExp(`(?<![\\w.-])${escaped(folder)}(?![\\w.-])`, 'g'), '.');
  }
  return hidden;
}
