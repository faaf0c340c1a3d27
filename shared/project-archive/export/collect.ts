import { readUsernames } from '../../data/accounts/user.ts';
import { type Artifact, type ArtifactKind, listArtifacts } from '../../data/experiments/artifact.ts';
import { listClientArtifacts } from '../../data/experiments/client-artifact.ts';
import { requireExperiment } from '../../data/experiments/experiment.ts';
import { findLoggedModel } from '../../data/experiments/logged-model.ts';
import { findFields } from '../../data/experiments/tracking.ts';
import { readJobConfig } from '../../data/jobs/job-config.ts';
import { logChunks } from '../../data/jobs/job-log.ts';
import { metricChunks, pointsIn } from '../../data/metrics/job-metrics.ts';
import { listConfigs, oldestKept, readConfigVersion } from '../../data/projects/config.ts';
import type { ExportCursor, ProjectExport } from '../../data/projects/project-archives.ts';
import { listAccepted, uploadObject } from '../../data/projects/upload.ts';
import { readScheduleConfig, requireSchedule } from '../../data/schedules/schedule.ts';
import { pagesOf } from '../../data/table/pages-of.ts';
import { readTexts } from '../../experiments/dataset-texts.ts';
import { canonicalJson } from '../canonical-json.ts';
import { Digest } from '../digest.ts';
import { logLine, pointLine } from '../lines.ts';
import { type IndexRow, paths } from '../manifest.ts';
import { ProjectArchiveError } from '../project-archive-error.ts';
import { type Names, namesOf } from '../references.ts';
import type { Contained, ExportContext } from './export-context.ts';
import type { PieceWriter } from './piece-writer.ts';
import {
  changed,
  experimentDocument,
  modelDocument,
  readProjectDocument,
  registeredDocument,
  reportDocument,
  scheduleDocument,
  versionLines,
} from './read-documents.ts';

/** Read one part of a project. A part begins at a cursor and returns the cursor of the next part. */
export class Collector {
  readonly #context: ExportContext;
  readonly #project_id: string;
  readonly #contained: Contained;
  readonly #names: Names;

  constructor(context: ExportContext, { project_id }: ProjectExport, contained: Contained) {
    this.#context = context;
    this.#project_id = project_id;
    this.#contained = contained;
    this.#names = namesOf({ project_id, ...contained });
  }

  async step(cursor: ExportCursor, piece: PieceWriter): Promise<ExportCursor> {
    switch (cursor.stage) {
      case 'project':
        await this.#project(piece);
        return { stage: 'sources', number: 1 };
      case 'sources':
        return this.#uploads('source', cursor, piece, { stage: 'datasets', number: 1 });
      case 'datasets':
        return this.#uploads('dataset', cursor, piece, { stage: 'experiments', number: 1 });
      case 'experiments':
        return this.#experiment(cursor, piece);
      case 'models':
        return this.#model(cursor, piece);
      case 'registry':
        return this.#registered(cursor, piece);
      case 'reports':
        return this.#report(cursor, piece);
      case 'schedules':
        return this.#schedule(cursor, piece);
      case 'pack':
        return cursor;
    }
  }

  async #project(piece: PieceWriter): Promise<void> {
    const { records } = this.#context;
    const project_id = this.#project_id;
    const document = await readProjectDocument(records, project_id, this.#names);
    await piece.document(paths.project, [canonicalJson(document)]);
    for await (const page of pagesOf((after) => listConfigs(records, project_id, { after }))) {
      for (const error of page.unreadable ?? []) throw error;
      for (const config of page.items) {
        const { config_id, format, created_at, updated_at, version, versions_before } = config;
        const document = { format, created_at, updated_at, version, versions_before };
        await piece.document(paths.config(config_id), [canonicalJson(document)]);
        for (let number = oldestKept(config); number <= version; number += 1) {
          const kept = await readConfigVersion(records, config, number);
          if (kept === undefined) throw changed(`Version ${number} of ${config_id}`);
          const at = kept.updated_at === null ? {} : { created_at: kept.updated_at };
          await piece.document(paths.configVersion(config_id, number), [kept.content], at);
        }
      }
    }
  }

  /** Add an object of the bucket as a file. Reads it for its checksum. */
  async #file(
    piece: PieceWriter,
    path: string,
    object: string,
    known: { size?: number; sha256: string | null },
    attributes: Pick<IndexRow, 'media_type' | 'created_at'> = {},
  ): Promise<void> {
    const bytes = await this.#context.objects.read(object);
    if (bytes === undefined) throw changed(path);
    const digest = new Digest();
    for await (const chunk of bytes) digest.add(chunk);
    const read = digest.end();
    const isSame =
      (known.sha256 === null || known.sha256 === read.sha256) &&
      (known.size === undefined || known.size === read.size);
    if (!isSame)
      throw new ProjectArchiveError(`The stored file ${path} is damaged: it differs from its record.`);
    piece.rows.push({ path, ...read, ...attributes, object, offset: 0 });
  }

  async #uploads(
    kind: 'source' | 'dataset',
    cursor: ExportCursor,
    piece: PieceWriter,
    then: ExportCursor,
  ): Promise<ExportCursor> {
    const { after } = cursor;
    const page = await listAccepted(this.#context.records, kind, this.#project_id, { limit: 100, after });
    for (const sha256 of page.items) {
      const object = uploadObject(kind, this.#project_id, sha256);
      await this.#file(piece, paths.upload(kind, sha256), object, { sha256 });
      if (piece.isFull()) return { ...cursor, after: sha256 };
    }
    return page.next === undefined ? then : { ...cursor, after: page.next };
  }

  async #files(
    cursor: ExportCursor,
    piece: PieceWriter,
    page: { items: Artifact[]; next: string | undefined; unreadable?: readonly Error[] },
    pathOf: (file: Artifact) => string,
    then: ExportCursor,
  ): Promise<ExportCursor> {
    for (const error of page.unreadable ?? []) throw error;
    for (const file of page.items) {
      const { media_type, created_at } = file;
      await this.#file(piece, pathOf(file), file.object, file, { media_type, created_at });
      if (piece.isFull()) return { ...cursor, after: file.path };
    }
    return page.next === undefined ? then : { ...cursor, after: page.next };
  }

  async #experiment(cursor: ExportCursor, piece: PieceWriter): Promise<ExportCursor> {
    const { records } = this.#context;
    const { number, kind, after } = cursor;
    const experiment_id = this.#contained.experiments[number - 1];
    if (experiment_id === undefined) return { stage: 'models', number: 1 };
    if (kind === undefined) {
      await this.#experimentDocuments(number, experiment_id, piece);
      return { stage: 'experiments', number, kind: 'artifact' };
    }
    const next: Record<ArtifactKind, ExportCursor> = {
      artifact: { stage: 'experiments', number, kind: 'checkpoint' },
      checkpoint: { stage: 'experiments', number: number + 1 },
    };
    const page = await listArtifacts(records, experiment_id, { limit: 100, after }, kind);
    return this.#files(cursor, piece, page, ({ path }) => paths.file(number, kind, path), next[kind]);
  }

  async #experimentDocuments(number: number, experiment_id: string, piece: PieceWriter): Promise<void> {
    const { records, accounts } = this.#context;
    const project_id = this.#project_id;
    const experiment = await requireExperiment(records, project_id, experiment_id);
    const fields = await findFields(records, project_id, experiment_id);
    if (fields?.datasets !== undefined)
      fields.datasets = await readTexts(this.#context.objects, experiment, fields.datasets);
    const { user_id } = experiment;
    const user = (await readUsernames(accounts, [user_id])).get(user_id) ?? null;
    const document = experimentDocument(experiment, fields, user, this.#names);
    await piece.document(paths.experiment(number), [canonicalJson(document)]);
    const config = await readJobConfig(records, experiment_id);
    if (config !== undefined) await piece.document(paths.experimentConfig(number), [config]);
    await piece.document(paths.metrics(number), this.#pointLines(experiment_id));
    for (let node = 0; node < experiment.nodes; node += 1)
      await piece.document(paths.log(number, node), this.#logLines(experiment_id, node));
  }

  async *#pointLines(experiment_id: string): AsyncGenerator<string> {
    for await (const chunk of metricChunks(this.#context.records, experiment_id, undefined))
      yield pointsIn(await chunk.read())
        .map(pointLine)
        .join('');
  }

  async *#logLines(experiment_id: string, node: number): AsyncGenerator<string> {
    for await (const lines of logChunks(this.#context.records, experiment_id, node))
      yield lines.map(logLine).join('');
  }

  async #model(cursor: ExportCursor, piece: PieceWriter): Promise<ExportCursor> {
    const { records } = this.#context;
    const project_id = this.#project_id;
    const { number, kind, after } = cursor;
    const model_id = this.#contained.models[number - 1];
    if (model_id === undefined) return { stage: 'registry', number: 1 };
    if (kind === undefined) {
      const model = await findLoggedModel(records, project_id, model_id);
      if (model === undefined) throw changed(`A logged model`);
      await piece.document(paths.model(number), [canonicalJson(modelDocument(model, this.#names))]);
      return { stage: 'models', number, kind: 'artifact' };
    }
    const home = { of: 'model', project_id, model_id } as const;
    const page = await listClientArtifacts(records, home, '', { limit: 100, after });
    const then: ExportCursor = { stage: 'models', number: number + 1 };
    return this.#files(cursor, piece, page, ({ path }) => paths.modelFile(number, path), then);
  }

  async #registered({ number }: ExportCursor, piece: PieceWriter): Promise<ExportCursor> {
    const { records } = this.#context;
    const contained = this.#contained.registered[number - 1];
    if (contained === undefined) return { stage: 'reports', number: 1 };
    const document = await registeredDocument(records, contained, this.#names);
    if (document === undefined) throw changed(`The registered model ${contained.name}`);
    await piece.document(paths.registered(number), [canonicalJson(document)]);
    await piece.document(paths.versions(number), versionLines(records, contained, this.#names));
    return { stage: 'registry', number: number + 1 };
  }

  async #report({ number }: ExportCursor, piece: PieceWriter): Promise<ExportCursor> {
    const report_id = this.#contained.reports[number - 1];
    if (report_id === undefined) return { stage: 'schedules', number: 1 };
    const ids = { project_id: this.#project_id, report_id };
    const document = await reportDocument(this.#context.records, ids, this.#names);
    await piece.document(paths.report(number), [canonicalJson(document)]);
    return { stage: 'reports', number: number + 1 };
  }

  async #schedule({ number }: ExportCursor, piece: PieceWriter): Promise<ExportCursor> {
    const { records } = this.#context;
    const schedule_id = this.#contained.schedules[number - 1];
    if (schedule_id === undefined) return { stage: 'pack', number: 1 };
    const schedule = await requireSchedule(records, { project_id: this.#project_id, schedule_id });
    await piece.document(paths.schedule(number), [canonicalJson(scheduleDocument(schedule))]);
    await piece.document(paths.scheduleConfig(number), [await readScheduleConfig(records, schedule)]);
    return { stage: 'schedules', number: number + 1 };
  }
}
