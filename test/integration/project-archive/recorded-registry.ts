import { newId } from '../../../shared/core/new-id.ts';
import {
  latestOf,
  type ModelVersion,
  putModelVersion,
  putRegisteredModel,
  type RegisteredModel,
} from '../../../shared/data/models/registered-model.ts';
import { artifactUriOf, type RunKey, runIdOf } from '../../../shared/mlflow/protocol/ids.ts';
import type { ArchiveTools } from './archive-lab.ts';

const at = '2026-02-03T04:05:06.007Z';

type Versions = readonly (Pick<ModelVersion, 'number' | 'stage'> & { run: RunKey | undefined })[];

/** Record a registered model and its versions. */
export async function recordRegistered(
  { records, user }: ArchiveTools,
  name: string,
  versions: Versions,
  aliases: RegisteredModel['aliases'],
): Promise<string> {
  const registration_id = newId();
  const common = { created_at: at, updated_at: at, version: 1 };
  for (const { run, ...one } of versions) {
    const location = run === undefined ? 's3://elsewhere/model' : `${artifactUriOf(run)}/model`;
    const run_id = run === undefined ? '' : runIdOf(run);
    const value: ModelVersion = {
      ...common,
      ...one,
      registration_id,
      description: `version ~${one.number}`,
      user_id: user.user_id,
      username: user.username,
      source: location,
      location,
      run_id,
      run_link: '',
      model_id: '',
      tags: { made_by: run_id, checked: 'yes' },
    };
    await records.write(putModelVersion(value, undefined));
  }
  const model: RegisteredModel = {
    ...common,
    registration_id,
    name,
    description: 'Reads digits',
    owner_id: user.user_id,
    tags: { team: 'vision' },
    aliases,
    latest: latestOf(versions),
    versions: Math.max(...versions.map(({ number }) => number)),
  };
  await records.write(putRegisteredModel(model, undefined));
  return registration_id;
}

/** Two registered models with versions of an experiment, one of which has others, and one with none of it. */
export async function recordRegistry(lab: ArchiveTools, run: RunKey): Promise<void> {
  const end = newId();
  const mixed: Versions = [
    { number: 1, stage: 'Archived', run },
    { number: 2, stage: 'Production', run: undefined },
    { number: 4, stage: 'Production', run },
  ];
  await recordRegistered(lab, `mixed ${end}`, mixed, { champion: 4, theirs: 2 });
  await recordRegistered(lab, `pure ${end}`, [{ number: 1, stage: 'None', run }], {});
  await recordRegistered(lab, `foreign ${end}`, [{ number: 1, stage: 'None', run: undefined }], { a: 1 });
}
