import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Say that a file of this command is missing, as after an installation that was interrupted or of which another one replaced
 * a part, and how to get the whole. Return undefined for another error.
 */
export function incompleteText(error: unknown): string | undefined {
  const { code, message = '' } = (error ?? {}) as { code?: unknown; message?: string };
  const isOfOtherVersion = error instanceof SyntaxError && message.includes('does not provide an export');
  if (code !== 'ERR_MODULE_NOT_FOUND' && !isOfOtherVersion) return undefined;
  const [, path = ''] = /'([^']+)'/.exec(message) ?? [];
  return `mps is incomplete: its file ${basename(path)} is missing or of another version. ${wholeText()}`;
}

/** Say how to get the whole command. */
export function wholeText(): string {
  const folder = dirname(fileURLToPath(import.meta.url));
  // The bundle of a checkout is made anew if it is gone.
  if (folder.endsWith('/.build/cli')) return `Make it anew: rm -r ${folder}, then the same command again.`;
  const url = (process.env['MPS_URL'] || 'http://ADDRESS-OF-YOUR-SERVICE').replace(/\/+$/, '');
  return `Install the whole: npm install -g ${url}/cli/mps.tgz`;
}
