import { type Experiment, parseExperiment } from '../../../../shared/data/experiments/experiment.ts';
import { type Compression, parseCompression } from '../../../../shared/data/models/compression.ts';
import { type Model, parseModel } from '../../../../shared/data/models/model.ts';
import { packObject } from '../../../../shared/data/projects/environment.ts';
import { type Project, parseProject } from '../../../../shared/data/projects/project.ts';
import { type Purge, parsePurge } from '../../../../shared/data/projects/purge.ts';
import { datasetObject, sourceObject } from '../../../../shared/data/projects/upload.ts';
import type { Item } from '../../../../shared/data/table/table.ts';
import type { Inventory } from '../../../support/inventory.ts';

/** The records to which everything else belongs, and the objects that records name. */
interface Belongings {
  projects: ReadonlyMap<string, Project>;
  experiments: ReadonlyMap<string, Experiment>;
  compressions: ReadonlyMap<string, Compression>;
  models: ReadonlyMap<string, Model>;
  /** Ids. */
  users: ReadonlySet<string>;
  purges: readonly Purge[];
  /** Keys in the bucket that some record names. */
  named: ReadonlySet<string>;
}

const isOf =
  (...kinds: string[]) =>
  ({ record_type }: Item): boolean =>
    kinds.includes(String(record_type));

function blobObject({ pk, sk }: Item): string {
  const [, project_id = ''] = pk.split('#');
  const [kind, sha256 = ''] = sk.split('#');
  return kind === 'source' ? sourceObject(project_id, sha256) : datasetObject(project_id, sha256);
}

/** Classify a stored item. @throws UnreadableRecordError for a record that this version cannot read */
export function belongingsOf({ records, accounts }: Inventory): Belongings {
  const all = <T>(kind: string, parse: (item: Item) => T): T[] => records.filter(isOf(kind)).map(parse);
  const compressions = all('strategy', parseCompression);
  const models = all('model', parseModel);
  return {
    projects: new Map(all('project', parseProject).map((one) => [one.project_id, one])),
    experiments: new Map(all('experiment', parseExperiment).map((one) => [one.experiment_id, one])),
    compressions: new Map(compressions.map((one) => [one.strategy_id, one])),
    models: new Map(models.map((one) => [one.model_id, one])),
    users: new Set(accounts.filter(({ pk }) => pk === 'USERS').map(({ sk }) => sk)),
    purges: all('purge', parsePurge),
    named: new Set([
      ...records.filter(isOf('artifact', 'checkpoint')).map(({ object }) => String(object)),
      ...records.filter(isOf('blob')).map(blobObject),
      // The only host stores lists of packages without packs.
      ...records
        .filter((record) => isOf('environment-pack')(record) && record['bytes'] !== 0)
        .map(({ pk, sk }) => packObject(pk.split('#')[1] ?? '', sk)),
      ...models.flatMap(({ files, pending }) => [...files, ...pending].map(({ object }) => object)),
      ...compressions.flatMap(({ result }) => result.map(({ object }) => object)),
    ]),
  };
}
