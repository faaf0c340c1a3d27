import { text } from 'node:stream/consumers';
import { isUnreadableObject } from '../../aws/unreadable-object.ts';
import type { Deadline } from '../../core/deadline.ts';
import { errorStack } from '../../core/error-text.ts';
import type { Logger } from '../../core/log.ts';
import { ServiceError } from '../../core/service-error.ts';
import { noticeWrites } from '../../data/hooks/notice.ts';
import { linksPartition } from '../../data/projects/link.ts';
import { maxMembers, membersPartition } from '../../data/projects/member.ts';
import {
  beginExport,
  exportObject,
  exportPrefix,
  exportWorkPrefix,
  findExport,
  type ProjectExport,
  saveExport,
} from '../../data/projects/project-archives.ts';
import { newPurge, type Purge, putOffPurge, recordPurge } from '../../data/projects/purge.ts';
import { readVariables } from '../../data/projects/variable.ts';
import { UnreadableRecordError } from '../../data/table/item.ts';
import type { Write } from '../../data/table/table.ts';
import { ConditionFailedError } from '../../data/table/write-label.ts';
import { keptUntil, maxPassesThatFail, mayExpire, Pass } from '../archive-limits.ts';
import { ProjectArchiveError } from '../project-archive-error.ts';
import { Collector } from './collect.ts';
import { Contained, type ExportContext } from './export-context.ts';
import { findContained } from './find-contained.ts';
import { packArchive } from './pack.ts';
import { PieceWriter } from './piece-writer.ts';

/**
 * Continue an export while there is time: read the project piece by piece, then pack the archive part by part.
 * Each step is stored when it is done, so a crash repeats at most one. Two concurrent passes do the same work; the
 * one that stores a step later stops.
 */
export async function runExport(
  context: ExportContext,
  begun: ProjectExport,
  hasTime: Deadline,
  log: Logger,
): Promise<void> {
  const { records, now } = context;
  const pass: ExportPass = new Pass(begun, (previous, change, also) =>
    saveExport(records, previous, change, ...also),
  );
  try {
    if (mayExpire(begun.expires_at, now()))
      throw new ProjectArchiveError(
        'It did not end within a day after its last step. Start the export again.',
      );
    const expires_at = keptUntil(now());
    await pass.save({ expires_at }, putOffPurge(purgeOf({ ...begun, expires_at })));
    await collect(context, pass, hasTime);
    if (pass.value.cursor.stage === 'pack' && hasTime()) await pack(context, pass, hasTime);
  } catch (error) {
    // Another pass continued the export, or the project was deleted.
    if (error instanceof ConditionFailedError) return;
    await failed(context, pass, error, log).catch((later: unknown) => {
      if (!(later instanceof ConditionFailedError)) throw later;
    });
  }
}

type ExportPass = Pass<ProjectExport>;

/** The purge of an export's objects, due when the archive expires. */
const purgeOf = (value: ProjectExport): Purge => ({
  ...newPurge(
    { newId: () => value.export_id, now: () => new Date(value.created_at) },
    {
      partitions: [],
      prefixes: [exportPrefix(value)],
      uploads: value.upload_id === null ? [] : [{ object: exportObject(value), upload_id: value.upload_id }],
    },
  ),
  again_at: value.expires_at,
});

async function collect(context: ExportContext, pass: ExportPass, hasTime: Deadline): Promise<void> {
  const contained = await containedIn(context, pass);
  const collector = new Collector(context, pass.value, contained);
  while (pass.value.cursor.stage !== 'pack' && hasTime()) {
    const { value } = pass;
    const piece = new PieceWriter(context, exportWorkPrefix(value));
    let { cursor } = value;
    try {
      do cursor = await collector.step(cursor, piece);
      while (cursor.stage !== 'pack' && !piece.isFull() && hasTime());
    } catch (error) {
      await piece.abandon();
      throw error;
    }
    const id = await piece.end();
    const pieces = id === undefined ? value.pieces : [...value.pieces, id];
    await pass.save({
      cursor,
      pieces,
      files: value.files + piece.rows.length,
      failures: 0,
    });
  }
}

/** Return the contents of the export. They are determined once. */
async function containedIn(context: ExportContext, pass: ExportPass): Promise<Contained> {
  const { objects } = context;
  const { value } = pass;
  if (value.pieces.length > 0 || value.cursor.stage !== 'project') {
    const stored = await objects.read(containedObject(value));
    if (stored === undefined) throw new Error("the list of the export's contents is missing");
    return Contained.parse(JSON.parse(await text(stored)));
  }
  const { left_out, unfinished, ...contained } = await findContained(context, value.project_id);
  await pass.save({ left_out, unfinished });
  await objects.put(containedObject(value), Buffer.from(JSON.stringify(contained)), 'application/json');
  return contained;
}

const containedObject = (value: ProjectExport): string => `${exportWorkPrefix(value)}contained.json`;

async function pack(context: ExportContext, pass: ExportPass, hasTime: Deadline): Promise<void> {
  const { objects, now } = context;
  if (pass.value.upload_id === null) {
    const { value } = pass;
    const upload_id = await objects.startParts(exportObject(value));
    try {
      await pass.save({ upload_id }, putOffPurge(purgeOf({ ...value, upload_id })));
    } catch (error) {
      await objects.abortParts(exportObject(value), upload_id);
      throw error;
    }
  }
  const { value } = pass;
  const bytes = await packArchive(objects, value, value.upload_id ?? '', hasTime);
  if (bytes === undefined) return;
  const expires_at = keptUntil(now());
  const change = { status: 'SUCCEEDED', bytes, expires_at, ended_at: now().toISOString() } as const;
  const { project_id, export_id: subject } = value;
  const told = await noticeWrites(
    context.records,
    { type: 'export.ready', project_id, subject, facts: { export_id: subject, bytes, expires_at } },
    now(),
  );
  await pass.save(change, putOffPurge(purgeOf({ ...value, expires_at })), ...told);
}

/**
 * Mark an export as failed if it cannot continue. For an unknown error, count the failed pass; other passes retry.
 */
async function failed({ now }: ExportContext, pass: ExportPass, error: unknown, log: Logger) {
  const { value } = pass;
  const failures = value.failures + 1;
  const known = reasonOf(error);
  if (known === undefined)
    log.error('export-failed', {
      export_id: value.export_id,
      stack: errorStack(error),
    });
  const isOver = known !== undefined || failures >= maxPassesThatFail;
  const status_reason = known ?? 'It failed unexpectedly. The log of the service has the reason.';
  await pass.save(
    isOver ? { status: 'FAILED', status_reason, ended_at: now().toISOString(), failures } : { failures },
  );
}

const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof ProjectArchiveError) return error.message;
  if (error instanceof UnreadableRecordError)
    return `The project contains a record that this version of the service cannot read: ${error.message}`;
  if (isUnreadableObject(error)) return `Storage cannot read a file of the project. ${error.message}`;
  if (error instanceof ServiceError && error.kind === 'not-found')
    return `${error.message} It was deleted during the export. Start the export again.`;
  return undefined;
};

/**
 * Start the export of a project.
 * @param also further writes of the same transaction, by the id of the export
 * @returns undefined while another export is running
 * @throws ConditionFailedError if another one began at the same moment, or the project was deleted
 */
export async function startExport(
  context: ExportContext,
  project_id: string,
  also: (export_id: string) => Write[],
): Promise<ProjectExport | undefined> {
  const { records, newId, now } = context;
  const previous = await findExport(records, project_id);
  if (previous?.status === 'RUNNING') return undefined;
  const { variables } = await readVariables(records, project_id);
  const value: ProjectExport = {
    export_id: newId(),
    project_id,
    status: 'RUNNING',
    status_reason: null,
    created_at: now().toISOString(),
    ended_at: null,
    expires_at: keptUntil(now()),
    cursor: { stage: 'project', number: 1 },
    pieces: [],
    files: 0,
    bytes: 0,
    upload_id: null,
    failures: 0,
    left_out: 0,
    unfinished: [],
    members: await records.count(membersPartition(project_id), maxMembers),
    links: await records.count(linksPartition(project_id), maxCountedLinks),
    secrets: variables.filter((variable) => variable.value === null).map(({ name }) => name),
    version: 1,
  };
  await beginExport(records, value, previous, [recordPurge(purgeOf(value)), ...also(value.export_id)]);
  return value;
}

/** Maximum number of links that the receipt of an export counts. */
const maxCountedLinks = 1000;
