import { join, relative } from 'node:path';
import { installWheel } from '../../../functions/service/wheel-name.ts';
import { firstAdminName } from '../../../shared/accounts/first-admin.ts';
import type { FirstAdmin } from './ensure-first-admin.ts';

/** Return the text to print when the service is ready. Programs wait for its last line. */
export function greeting(facts: Greeting): string {
  const { url, dataFolder, hasDocs, firstAdmin, warnings, jobsElsewhere } = facts;
  const isRoot = process.getuid?.() === 0;
  const lines = [
    `Model Project Service  ${url}`,
    `Console                ${url}/console`,
    ...(hasDocs ? [`Documentation          ${url}/docs`] : []),
    `Data                   ${dataFolder} (${facts.size})`,
    isRoot
      ? `Jobs run as users without rights${jobsElsewhere === undefined ? '' : `, below ${jobsElsewhere}`}.`
      : 'Jobs run with your own rights and can read your files. Train only code that you trust.',
    ...warnings.map((warning) => `WARNING: ${warning}`),
  ];
  if (firstAdmin !== undefined) {
    const { username, password, passwordFile } = firstAdmin;
    lines.push(
      '',
      password === undefined
        ? `Created the user ${username} with ADMIN_PASSWORD. To sign in:`
        : `Created the user ${username} with the password ${password} (kept in ${passwordFile}). To sign in:`,
      `  ${signInCommand(facts)}`,
      '',
    );
  }
  return [...lines, ...nextCommands(facts), `Listening on ${facts.listening ?? url}`, ''].join('\n');
}

export interface Greeting {
  /** URL for people. */
  url: string;
  /** URL for programs of this machine, which wait for it. Default: `url`. */
  listening?: string;
  /** Absolute path of the sources; undefined in the image of the service. */
  checkout: string | undefined;
  dataFolder: string;
  /** Its size and limit. */
  size: string;
  hasDocs: boolean;
  firstAdmin: FirstAdmin | undefined;
  /** File of the first admin's password, if an earlier start made it. */
  passwordFile: string | undefined;
  /** Sentences for people about isolation that this machine lacks. */
  warnings: readonly string[];
  /** Folder of the jobs if it is outside the data folder. */
  jobsElsewhere: string | undefined;
}

/**
 * Return a shell command that signs in from the current folder. The file of the first password serves later starts,
 * too: the first one may have ended before it could show the password.
 */
function signInCommand({ url, firstAdmin, passwordFile }: Greeting): string {
  const isGiven = firstAdmin !== undefined && firstAdmin.password === undefined;
  const file = isGiven ? undefined : (firstAdmin?.passwordFile ?? passwordFile);
  if (file === undefined) return `mps login ${url}${isGiven ? ` --user ${firstAdmin.username}` : ''}`;
  const near = relative(process.cwd(), file);
  return `mps login ${url} --user ${firstAdminName} < ${quoted(near.startsWith('..') ? file : near)}`;
}

const quoted = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** Next steps, for a second terminal and any folder. The package `mps` of the public registry is not ours. */
const nextCommands = (facts: Greeting): string[] => {
  const { url, checkout, dataFolder } = facts;
  return [
    'In a second terminal, install the command mps, train an example twice with different values, and compare:',
    `  npm install -g ${url}/cli/mps.tgz`,
    // In the checkout, mps finds the service and its password without a login, but only in the default data folder.
    ...(checkout !== undefined && dataFolder === join(checkout, '.data')
      ? []
      : [`  ${signInCommand(facts)}`]),
    `  cd ${quoted(join(checkout ?? '', 'test/examples/hello'))} && mps run`,
    '  mps run -S learning_rate=0.2',
    '  mps compare',
    ...(checkout === undefined
      ? []
      : [`Without an installation, "npx --prefix ${quoted(checkout)} mps" is the same command.`]),
    'If npm refuses with EACCES, add --prefix ~/.local to its command, and ~/.local/bin to the PATH.',
    'For "import mps" in notebooks and programs of Python:',
    `  ${installWheel(url)}`,
    '',
  ];
};
