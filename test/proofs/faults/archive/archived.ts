import { findImport, type ProjectImport } from '../../../../shared/data/projects/project-archives.ts';
import { canonicalJson } from '../../../../shared/project-archive/canonical-json.ts';
import { type ArchiveTools, exported } from '../../../integration/project-archive/archive-lab.ts';
import { recordProject } from '../../../integration/project-archive/archived-project.ts';
import {
  type ArchivedFiles,
  filesOf,
  packed,
} from '../../../integration/project-archive/repacked-archive.ts';
import type { StoryGround } from '../kill/request-story.ts';
import { archivePass } from '../world/archive-pass.ts';
import { newDeveloper, newService, removeService, type Service } from '../world/service.ts';

/** Tools of the archives' tests on the engines of a proof. */
export const labOf = ({ service, user }: Pick<StoryGround, 'service' | 'user'>): ArchiveTools => ({
  records: service.records,
  objects: service.objects,
  user,
  service,
});

/** The archive of a project that a function records in a service of its own, which is removed afterwards. */
export async function archiveFrom(
  { environment }: Service,
  record: (ground: StoryGround) => Promise<string>,
): Promise<Buffer> {
  const { DYNAMODB_ENDPOINT = '', S3_ENDPOINT = '', BATCH_ENDPOINT = '' } = environment;
  const engines = { dynamoDbUrl: DYNAMODB_ENDPOINT, s3Url: S3_ENDPOINT, bucket: ownBucket };
  const service = await newService(engines, BATCH_ENDPOINT);
  try {
    const ground = { service, ...(await newDeveloper(service)) };
    return await exported(labOf(ground), await record(ground));
  } finally {
    await removeService(service);
  }
}

/** A bucket in which no life is lived: what is removed with the service is its own. */
const ownBucket = 'faults-3';

/** The archive of a project with a bit of everything. */
export const fullArchive = (service: Service): Promise<Buffer> =>
  archiveFrom(service, (ground) =>
    recordProject(labOf(ground), {
      description: 'Reads digits',
      configs: { 'train.yaml': ['lr: 0.1\n', 'lr: 0.2\n'] },
      hasEnvironment: true,
      source: Buffer.from('a source'),
      datasets: { digits: Buffer.from('digits') },
      experiments: [true, false].map((isTrained) => ({
        isTrained,
        tags: { stage: 'baseline' },
        note: 'a note',
        points: [{ name: 'loss', value: 0.5, step: 1, time: Date.parse('2026-01-02T03:04:05.006Z') }],
        lines: ['printed'],
        artifacts: { 'a.txt': Buffer.from('a'), 'b/c.bin': Buffer.from('bc') },
        hasParent: true,
      })),
      models: [{ MLmodel: Buffer.from('flavors: {}') }],
      hasRegistry: true,
    }),
  );

/** Fields that no request takes, by their document, and the words by which an import refuses each. */
const broken: Readonly<Record<string, object>> = {
  'project.json': {
    project_type: '',
    variables: [
      {
        name: 'LD_PRELOAD',
        value: '/x',
        created_at: '2026-02-03T04:05:06.007Z',
        updated_at: '2026-02-03T04:05:06.007Z',
        version: 1,
      },
    ],
  },
  'experiments/000001/experiment.json': { timeout: 0 },
  'experiments/000002/experiment.json': { vcpus: 4 },
};
export const brokenRules = [
  'project_type',
  'variables.0.name is reserved for the service',
  'timeout must be from 1',
  '000002/experiment.json',
];

/** The archive with fields that break the rules of `shared/data/…/…-rules.ts`. */
export const brokenArchive = (archive: Buffer): Buffer =>
  packed(
    filesOf(archive).map(([path, bytes, claimed = {}]): ArchivedFiles[number] => {
      const change = broken[path];
      if (change === undefined) return [path, bytes, claimed];
      const document: object = JSON.parse(bytes.toString('utf8'));
      return [path, Buffer.from(canonicalJson({ ...document, ...change })), claimed];
    }),
  );

/** The import once the worker has ended it, or after as many runs as it must not need. */
export async function endedImport(
  { service, user }: Pick<StoryGround, 'service' | 'user'>,
  sha256: string,
): Promise<ProjectImport | undefined> {
  for (let run = 0; ; run += 1) {
    const found = await findImport(service.records, user.user_id, sha256);
    if (found?.status !== 'RUNNING' || run === maxRuns) return found;
    await archivePass(service);
  }
}

const maxRuns = 5;

/** Files of the archive that the project, exported again, lacks or has with other bytes. */
export async function lostFiles(
  ground: Pick<StoryGround, 'service' | 'user'>,
  project_id: string,
  archive: Buffer,
): Promise<string[]> {
  const again = new Map(
    filesOf(await exported(labOf(ground), project_id)).map(([path, bytes]) => [path, bytes]),
  );
  return filesOf(archive)
    .filter(([path, bytes]) => again.get(path)?.equals(bytes) !== true)
    .map(([path]) => `lost: ${path}${again.has(path) ? ' has other bytes' : ''}`);
}
