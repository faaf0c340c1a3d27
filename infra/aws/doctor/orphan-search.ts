import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { downloadsPrefix } from '../../../shared/aws/needs.ts';
import { objectReader } from '../../../shared/aws/objects.ts';
import { isAuditItem } from '../../../shared/data/accounts/audit.ts';
import { parseUser } from '../../../shared/data/accounts/user.ts';
import { parseArtifact } from '../../../shared/data/experiments/artifact.ts';
import { parseExperiment } from '../../../shared/data/experiments/experiment.ts';
import { parseLoggedModel } from '../../../shared/data/experiments/logged-model.ts';
import { clusterClaimKey } from '../../../shared/data/jobs/cluster-claim.ts';
import { jobPartition, unfinishedJobs } from '../../../shared/data/jobs/job.ts';
import { isShare, shareIndex } from '../../../shared/data/jobs/vcpu-shares.ts';
import { parseCompression } from '../../../shared/data/models/compression.ts';
import { parseModel } from '../../../shared/data/models/model.ts';
import { parseModelVersion, parseRegisteredModel } from '../../../shared/data/models/registered-model.ts';
import { parseConfig } from '../../../shared/data/projects/config.ts';
import { packObject, packsPrefix, parseEnvironment } from '../../../shared/data/projects/environment.ts';
import { parseMember } from '../../../shared/data/projects/member.ts';
import { parseCounters, parseProject } from '../../../shared/data/projects/project.ts';
import { parsePurge } from '../../../shared/data/projects/purge.ts';
import { datasetObject, parseUpload, sourceObject } from '../../../shared/data/projects/upload.ts';
import { UnreadableRecordError } from '../../../shared/data/table/item.ts';
import type { Item } from '../../../shared/data/table/table.ts';
import { datasetTextsObject } from '../../../shared/experiments/dataset-texts.ts';
import { eachItem, eachObject, type StoredObject } from './inventory.ts';
import { findingsOf } from './orphan-findings.ts';
import { OrphanStore } from './orphan-store.ts';
import { ownersOfItem, ownersOfObject } from './owners.ts';
import type { Finding } from './report-orphans.ts';

/**
 * The search for orphans: one pass over the tables and the bucket, in any order, and then the findings. It stores
 * its notes on each item in a temporary file.
 */
export class OrphanSearch implements Disposable {
  readonly #store = new OrphanStore();
  #items = 0;
  #objects = 0;

  /** Number of items and objects so far. */
  get counts(): { items: number; objects: number } {
    return { items: this.#items, objects: this.#objects };
  }

  addAccount(item: Item): void {
    this.#items += 1;
    this.#addAny(item);
    if (item.pk === 'USERS') this.#store.add('owner', 'user', item.sk);
  }

  addRecord(item: Item): void {
    this.#items += 1;
    this.#addAny(item);
    if (isAuditItem(item)) return;
    const { pk, sk } = item;
    for (const { kind, id } of ownersOfItem(item)) this.#store.add('item', pk, sk, kind, id);
    if (unfinishedJobs.partitions.includes(pk)) this.#store.add('unfinished', sk, pk);
    if (pk === 'LIMITS') this.#keep(item, 'unfinished');
    if (pk === clusterClaimKey.pk && sk === clusterClaimKey.sk) this.#keep(item, 'clusters');
    if (isShare(item)) {
      this.#keep(item, 'free');
      this.#store.add('kept', pk, sk, 'capacity', numberOf(item['capacity']));
      this.#store.add('kept', pk, sk, 'index', shareIndex(item));
    }
    this.#addByKind(item);
  }

  addObject({ key }: StoredObject): void {
    this.#objects += 1;
    // Downloads have no owner, and expire.
    if (key.startsWith(downloadsPrefix)) return;
    const { holder, child } = ownersOfObject(key);
    this.#store.add('object', key, holder.kind, holder.id, child?.kind ?? null, child?.id ?? null);
  }

  hasProject(id: string): boolean {
    return this.#store.has("SELECT 1 FROM owner WHERE kind = 'project' AND id = ?", id);
  }

  /** Add a finding of another search. */
  addFinding({ kind, where, why }: Finding): void {
    this.#store.add('finding', kind, where, why);
  }

  findings(): Generator<Finding> {
    return findingsOf(this.#store);
  }

  [Symbol.dispose](): void {
    this.#store[Symbol.dispose]();
  }

  #keep({ pk, sk, ...attributes }: Item, attribute: string): void {
    this.#store.add('kept', pk, sk, attribute, numberOf(attributes[attribute]));
  }

  #addAny(item: Item): void {
    const { pk, sk, set_aside_at, set_aside_reason } = item;
    if (set_aside_at !== undefined) {
      const why = `since ${String(set_aside_at)}: ${String(set_aside_reason)}`;
      this.#store.add('finding', 'set-aside', `${pk}/${sk}`, why);
    }
    try {
      parsers[textOf(item['record_type'])]?.(item);
    } catch (error) {
      if (!(error instanceof UnreadableRecordError)) throw error;
      this.#store.add('finding', 'unreadable', error.key, error.reason);
    }
  }

  /** Count an object of a project or job in the bucket. */
  #addStored(kind: 'project' | 'job', owner: string, bytes: unknown): void {
    this.#store.run(
      'INSERT INTO stored VALUES (?, ?, 1, ?) ON CONFLICT DO UPDATE SET objects = objects + 1, bytes = bytes + excluded.bytes',
      kind,
      owner,
      numberOf(bytes),
    );
  }

  #addNamed(...records: object[]): void {
    for (const record of records) {
      if ('object' in record) this.#store.add('named', textOf(record.object));
    }
  }

  /** Read single attributes, because the objects that an unreadable record names are not orphans either. */
  #addByKind(item: Item): void {
    const { pk, sk, record_type } = item;
    const store = this.#store;
    switch (record_type) {
      case 'project':
        store.add('owner', 'project', sk);
        break;
      case 'counters':
        for (const attribute of ['configs', 'experiments', 'unfinished', 'objects', 'bytes', 'members'])
          this.#keep(item, attribute);
        break;
      case 'config':
        store.run(
          'INSERT INTO configs VALUES (?, 1) ON CONFLICT DO UPDATE SET number = number + 1',
          idIn(item),
        );
        break;
      case 'member':
        store.add('member', idIn(item), sk);
        break;
      case 'experiment':
        store.add('owner', 'experiment', sk);
        store.add('experiment', sk, idIn(item));
        this.#addJob(item, idIn(item));
        break;
      case 'experiment-fields':
        this.#addTexts(item);
        break;
      case 'logged-model':
        store.add('owner', 'logged-model', sk);
        break;
      case 'registered-model':
        store.add('owner', 'registration', textOf(item['registration_id']));
        break;
      case 'strategy':
        store.add('owner', 'strategy', sk);
        this.#addJob(item, null);
        this.#addNamed(...listOf(item['result']));
        break;
      case 'model':
        store.add('owner', 'model', sk);
        store.add('owner', 'model-id', textOf(item['model_id']));
        this.#addNamed(...listOf(item['files']), ...listOf(item['pending']));
        break;
      case 'artifact':
      case 'checkpoint':
        this.#addNamed(item);
        // A file of a logged model counts only for the project.
        this.#addStored(pk === jobPartition(idIn(item)) ? 'job' : 'project', idIn(item), item['size']);
        break;
      case 'blob': {
        const [kind, sha256 = ''] = sk.split('#');
        const objectOf = kind === 'source' ? sourceObject : datasetObject;
        store.add('named', objectOf(idIn(item), sha256));
        this.#addStored('project', idIn(item), item['size']);
        break;
      }
      case 'environment-pack':
        store.add('named', packObject(idIn(item), sk));
        this.#addStored('project', idIn(item), item['bytes']);
        break;
      case 'waiting-job':
        store.add('unfinished', textOf(Object(item['job']).job_id), pk);
        break;
      case 'purge':
        this.#addPurge(item);
        break;
      default:
        if (pk === 'USERS') store.add('owner', 'user', sk);
    }
  }

  /** Texts of data sets are objects that belong to no counter. */
  #addTexts(item: Item): void {
    const key = { project_id: idIn(item), experiment_id: item.sk.split('#')[0] ?? '' };
    for (const dataset of listOf(item['datasets'])) {
      const id = textOf(Object(Reflect.get(dataset, 'texts')).id);
      if (id !== '') this.#store.add('named', datasetTextsObject(key, id));
    }
  }

  #addJob(item: Item, project_id: string | null): void {
    const size = numberOf(item['vcpus']) * numberOf(item['nodes']);
    const share = typeof item['limit_share'] === 'number' ? item['limit_share'] : null;
    const isCluster = typeof item['cluster_owner'] === 'string' ? 1 : 0;
    const { sk, user_id, status } = item;
    this.#store.add('owner', 'job', sk);
    // An experiment that a client records has no job and does not count as one.
    if (item['kind'] === 'logged') return;
    const waits = typeof item['line_ticket'] === 'number' ? 1 : 0;
    this.#store.add('job', sk, project_id, textOf(user_id), textOf(status), size, share, isCluster, waits);
  }

  #addPurge(item: Item): void {
    let purge: ReturnType<typeof parsePurge>;
    try {
      purge = parsePurge(item);
    } catch {
      return;
    }
    const { target, project_id } = purge;
    for (const { pk, prefix = '' } of target.partitions) this.#store.add('doomed_part', pk, prefix);
    const { prefixes, leftovers, packs_of, announced } = target;
    if (announced !== undefined) this.#store.add('doomed_prefix', announced.object);
    for (const prefix of prefixes) this.#store.add('doomed_prefix', prefix);
    if (leftovers !== undefined) this.#store.add('doomed_prefix', leftovers.prefix);
    if (packs_of !== undefined) this.#store.add('doomed_prefix', packsPrefix(packs_of));
    if (project_id !== undefined) this.#store.add('doomed_project', project_id);
  }
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Parsers by kind, for records that lists and details show. */
const parsers: Readonly<Record<string, (item: Item) => unknown>> = {
  project: parseProject,
  counters: parseCounters,
  config: parseConfig,
  environment: parseEnvironment,
  upload: parseUpload,
  experiment: parseExperiment,
  strategy: parseCompression,
  member: parseMember,
  model: parseModel,
  'logged-model': parseLoggedModel,
  'registered-model': parseRegisteredModel,
  'model-version': parseModelVersion,
  purge: parsePurge,
  user: parseUser,
  artifact: parseArtifact,
  checkpoint: (item) => parseArtifact(item, 'checkpoint'),
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const idIn = ({ pk }: Item): string => pk.split('#')[1] ?? '';

const listOf = (value: unknown): object[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : [];

/** Read all data of a deployment page by page, and change nothing. */
export async function searchStores({ accounts, records, bucket, ...configs }: Stores): Promise<OrphanSearch> {
  const dynamoDb = new DynamoDBClient(configs.dynamoDb ?? {});
  const s3 = new S3Client(configs.s3 ?? {});
  const tables = DynamoDBDocumentClient.from(dynamoDb);
  const search = new OrphanSearch();
  try {
    for await (const item of eachItem(tables, accounts)) search.addAccount(item);
    for await (const item of eachItem(tables, records)) search.addRecord(item);
    for await (const object of eachObject(objectReader(s3, bucket))) search.addObject(object);
    return search;
  } catch (error) {
    search[Symbol.dispose]();
    throw error;
  } finally {
    dynamoDb.destroy();
    s3.destroy();
  }
}

/** Names and client configurations of a deployment's tables and bucket. */
interface Stores {
  accounts: string;
  records: string;
  bucket: string;
  dynamoDb: ConstructorParameters<typeof DynamoDBClient>[0];
  s3: ConstructorParameters<typeof S3Client>[0];
}
