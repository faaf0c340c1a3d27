import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import { tryParseJson } from '../../../core/text/try-parse-json.ts';
import { normalName } from '../dependencies/python-requirements.ts';
import type { IndexRelay } from '../downloads/index-relay.ts';
import { readSmall } from '../install/installed-list.ts';
import type { RunCommand } from '../install/installer.ts';

/** What an installation needs of the store of wheels. */
export interface InstallWheels {
  relay: IndexRelay;
  /** pip's words for the whole installation. */
  command: Argv;
  env: Readonly<Record<string, string>>;
  /** Device and inode of files that the virtual environment already shares with others. */
  linked: ReadonlySet<string>;
  /** Compile all modules below a folder, as the user of the build. */
  compile(folder: string): Promise<void>;
}

/** What pip would do to an environment. */
export interface WheelPlan {
  /** Packages that are installed and stay. */
  satisfied: ReadonlySet<string>;
  missing: readonly PlannedPackage[];
}

export interface PlannedPackage {
  name: string;
  version: string;
  url: string;
}

const Report = z.object({
  install: z.array(
    z.object({
      metadata: z.object({ name: z.string(), version: z.string() }),
      download_info: z.object({ url: z.string() }),
    }),
  ),
});

type Argv = readonly [string, ...string[]];

const largestReport = 64 * 1024 * 1024;

/**
 * Ask pip what an installation would add to an environment, as if all its packages were to be upgraded. Null if this pip
 * cannot tell (before 22.2), or if the requirements cannot be met; an installation then tells why.
 *
 * @param command arguments of `pip install`, without `--dry-run`
 * @param env variables of the installer; its TMPDIR gets two files
 */
export async function planWheels(
  probe: RunCommand,
  command: Argv,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<WheelPlan | null> {
  const file = join(env['TMPDIR'] ?? cwd, `plan-${randomUUID().slice(0, 8)}`);
  const trial = ['--dry-run', '--upgrade', '--upgrade-strategy', 'eager'];
  const argv = [
    ...command,
    ...trial,
    '--report',
    `${file}.json`,
    '--log',
    `${file}.log`,
  ] as const satisfies Argv;
  const { exitCode } = await probe({ argv, cwd, env });
  if (exitCode !== 0) return null;
  const [report, log] = await Promise.all(
    ['json', 'log'].map((kind) => readSmall(`${file}.${kind}`, largestReport)),
  );
  const parsed = Report.safeParse(tryParseJson(report ?? ''));
  if (!parsed.success || log == null) return null;
  const missing = parsed.data.install.map(({ metadata: { name, version }, download_info: { url } }) => ({
    name: normalName(name),
    version,
    url,
  }));
  const names = [...log.matchAll(/ Requirement already satisfied: ([A-Za-z0-9._-]+)/g)];
  return { satisfied: new Set(names.map(([, name = '']) => normalName(name))), missing };
}
