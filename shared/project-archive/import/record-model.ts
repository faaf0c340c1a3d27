import { artifactItem } from '../../data/experiments/artifact.ts';
import { findLoggedModel, loggedModelFileKey, putLoggedModel } from '../../data/experiments/logged-model.ts';
import { count, projectExists } from '../../data/projects/project.ts';
import { importUnmoved } from '../../data/projects/project-archives.ts';
import type { Write } from '../../data/table/table.ts';
import { tryWrite } from '../../data/table/write-label.ts';
import { type Ids, resolver, withTexts } from '../references.ts';
import { type ImportContext, type ImportPass, importedModelFile, saveWith } from './import-context.ts';
import type { OpenArchive } from './open-archive.ts';
import { fileAt, readModel } from './read-document.ts';

/**
 * Record a logged model: its files, then the model itself with its counts, in one transaction with the progress of
 * the import.
 * @param done number of finished steps afterwards
 * @returns false if the project was deleted or is full
 * @throws ConditionFailedError if another pass continued the import
 */
export async function recordModel(
  { records, projectBytes, now }: ImportContext,
  pass: ImportPass,
  archive: OpenArchive,
  ids: Ids,
  number: number,
  done: number,
): Promise<boolean> {
  const { value } = pass;
  const { project_id, user_id } = value;
  const group = archive.contents.models[number - 1];
  const model_id = ids.models[number - 1];
  if (group === undefined || model_id === undefined) throw new Error(`no model ${number}`);
  if ((await findLoggedModel(records, project_id, model_id)) !== undefined) {
    // An earlier release recorded it apart from the progress.
    await pass.save({ done, failures: 0 });
    return true;
  }
  const document = await readModel(
    archive,
    archive.read(group.document),
    fileAt(archive.files, group.document),
  );
  const { source_experiment, ...said } = document;
  let bytes = 0;
  const puts = group.rest.map((index): Write => {
    const { placed, size, sha256, media_type, created_at } = fileAt(archive.files, index);
    const path = placed.of === 'model-file' ? placed.path : '';
    bytes += size;
    return {
      put: artifactItem(loggedModelFileKey(project_id, model_id, path), {
        path,
        size,
        sha256,
        media_type: media_type ?? 'application/octet-stream',
        object: importedModelFile(value, model_id, index),
        created_at: created_at ?? now().toISOString(),
      }),
    };
  });
  for (let from = 0; from < puts.length; from += filesAtOnce) {
    const isThere = await tryWrite(
      records.write(importUnmoved(value), projectExists(project_id), ...puts.slice(from, from + filesAtOnce)),
    );
    if (!isThere) return false;
  }
  const model = {
    ...withTexts(
      { ...said, metrics: said.metrics.map((metric) => ({ ...metric, value: Number(metric.value) })) },
      resolver(ids),
    ),
    model_id,
    project_id,
    user_id,
    source_experiment_id:
      source_experiment === null ? null : (ids.experiments[source_experiment - 1] ?? null),
    version: 1,
  };
  return saveWith(
    pass,
    done,
    projectExists(project_id),
    putLoggedModel(model, undefined),
    count(project_id, { objects: puts.length, bytes }, projectBytes),
  );
}

const filesAtOnce = 50;
