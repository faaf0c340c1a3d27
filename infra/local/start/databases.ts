import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import * as z from 'zod';
import { tryParseJson } from '../../../shared/core/text/try-parse-json.ts';
import { hasCode } from '../../../shared/host/has-code.ts';
import { CommandError } from '../../command/command-error.ts';
import { writeDurably } from '../batch/durable-file.ts';
import type { DataFolder } from './data-folder.ts';

/**
 * Check the databases of a data folder before its emulators open them and write. A database that was in use must
 * exist, be complete, and match its seal from the last stop. After a kill there is no seal, and SQLite checks the
 * file.
 * @throws CommandError naming the file, the fault, and the remedy
 */
export async function openDatabases(
  data: Pick<DataFolder, 'path' | 'within'>,
  names: readonly DatabaseName[],
): Promise<OpenDatabases> {
  const state = await readState(data, names);
  for (const name of names) if (state.in_use.includes(name)) await check(data, name, state.sealed[name]);
  // Remove the seals before the first write: after a change, an old seal would look like damage.
  await writeState(data, { ...state, sealed: {} });
  const { in_use } = state;
  return {
    async noteInUse() {
      const added = names.filter((name) => !in_use.includes(name));
      in_use.push(...added);
      if (added.length > 0) await writeState(data, { in_use, sealed: {} });
    },
    async seal() {
      const sealed: State['sealed'] = {};
      for (const name of names) {
        const file = data.within(databaseFiles[name].name);
        // A remaining write-ahead log means that the emulator was killed.
        if (in_use.includes(name) && ((await sizeOf(`${file}-wal`)) ?? 0) === 0)
          sealed[name] = await sealOf(file);
      }
      await writeState(data, { in_use, sealed });
    },
  };
}

export type DatabaseName = keyof typeof databaseFiles;

/** Database files of the embedded emulators. Without them the data folder is unreadable. */
export const databaseFiles = {
  tables: { name: 'dynamodb/records.db', holds: 'accounts, projects and all other records' },
  files: { name: 's3/index.sqlite', holds: 'the index of all sources, data sets, models and artifacts' },
} as const;

/** The databases of a running service. */
interface OpenDatabases {
  /** Record that the emulators have created their files. */
  noteInUse(): Promise<void>;
  /** Record the seals of the files after the emulators have ended. Any later change counts as damage. */
  seal(): Promise<void>;
}

const stateFile = 'databases.json';

async function readState(
  { within }: Pick<DataFolder, 'within'>,
  names: readonly DatabaseName[],
): Promise<State> {
  const text = await readFile(within(stateFile), 'utf8').catch(() => undefined);
  if (text === undefined) return { in_use: await usedBefore(within, names), sealed: {} };
  return State.safeParse(tryParseJson(text)).data ?? { in_use: [...names], sealed: {} };
}

const Seal = z.object({ bytes: z.number().int(), crc32: z.number().int() });
type Seal = z.infer<typeof Seal>;

const State = z.object({
  /** Databases that were created. If one is missing later, it is lost. */
  in_use: z.array(z.enum(['tables', 'files'])),
  /** Seals from the last stop; empty while the service runs and after a kill. */
  sealed: z.partialRecord(z.enum(['tables', 'files']), Seal),
});
type State = z.infer<typeof State>;

/**
 * Return the databases that an earlier release created without recording them. A release that has listened once
 * has created every database whose folder exists.
 */
async function usedBefore(
  within: DataFolder['within'],
  names: readonly DatabaseName[],
): Promise<DatabaseName[]> {
  if ((await sizeOf(within('service.json'))) === undefined) return [];
  const isThere = async (name: DatabaseName) =>
    (await sizeOf(within(join(databaseFiles[name].name, '..')))) !== undefined;
  const found = await Promise.all(names.map(isThere));
  return names.filter((_, index) => found[index]);
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

async function check(
  { path, within }: Pick<DataFolder, 'path' | 'within'>,
  name: DatabaseName,
  seal: Seal | undefined,
): Promise<void> {
  const { name: relative, holds } = databaseFiles[name];
  const file = within(relative);
  const fault = await faultOf(file, seal);
  if (fault === undefined) return;
  throw new CommandError(
    `${file} ${fault}. It contains ${holds}, so the service does not start. It has changed nothing. ` +
      `Restore the whole data folder ${path} from a copy made while the service was stopped, or choose another folder with --data.`,
  );
}

const headerBytes = 100;

const magic = 'SQLite format 3\0';

/** Return the fault of a database as the predicate of a sentence, or undefined if it has none. */
async function faultOf(file: string, seal: Seal | undefined): Promise<string | undefined> {
  const size = await sizeOf(file);
  if (size === undefined) return 'is missing';
  if (size === 0) return 'is empty';
  const header = await firstBytes(file);
  if (header.length < headerBytes || header.toString('latin1', 0, magic.length) !== magic)
    return 'is damaged: it does not begin like an SQLite database';
  if (seal === undefined) return checkFaults(file, size);
  if (size !== seal.bytes)
    return `is damaged: it has ${size} bytes, but had ${seal.bytes} when the service stopped`;
  const found = await sealOf(file);
  return found.crc32 === seal.crc32
    ? undefined
    : 'is damaged: its bytes have changed since the service stopped';
}

async function firstBytes(file: string): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Announce the check of a file from this size on, because it takes long. */
const announcedBytes = 256 * 1024 * 1024;

/** Let SQLite check every page after a kill of the service or a crash of the machine. */
function checkFaults(file: string, size: number): string | undefined {
  if (size >= announcedBytes) process.stderr.write(`The service was killed. Checking ${file}.\n`);
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const rows = database.prepare('PRAGMA quick_check(1)').all();
      const found = String(rows[0]?.['quick_check'] ?? '').replaceAll(/\s+/g, ' ');
      return found === 'ok' ? undefined : `is damaged (${found})`;
    } finally {
      database.close();
    }
  } catch (error) {
    return `is damaged (${error instanceof Error ? error.message : String(error)})`;
  }
}

async function sealOf(file: string): Promise<Seal> {
  const handle = await open(file, 'r');
  try {
    const buffer = Buffer.allocUnsafe(1024 * 1024);
    let [bytes, value] = [0, 0];
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, bytes);
      if (bytesRead === 0) return { bytes, crc32: value };
      value = crc32(buffer.subarray(0, bytesRead), value);
      bytes += bytesRead;
    }
  } finally {
    await handle.close();
  }
}

const writeState = ({ within }: Pick<DataFolder, 'within'>, state: State): Promise<void> =>
  writeDurably(within(stateFile), JSON.stringify(state));

/** Remove the seals of a stopped service before a program changes its databases. */
export async function unsealDatabases(data: Pick<DataFolder, 'within'>): Promise<void> {
  const { in_use } = await readState(data, ['tables', 'files']);
  await writeState(data, { in_use, sealed: {} });
}
