import { createHash } from 'node:crypto';
import { findProjects } from '../../../../shared/data/projects/project.ts';
import type { ProjectImport } from '../../../../shared/data/projects/project-archives.ts';
import { beginImporting } from '../../../integration/project-archive/archive-lab.ts';
import { asking, type Plot, type Story, type StoryGround, told, unless } from '../kill/request-story.ts';
import type { Service } from '../world/service.ts';
import { brokenArchive, brokenRules, endedImport, fullArchive, labOf, lostFiles } from './archived.ts';

/** Made once for all lives of a process. */
let full: Promise<Buffer> | undefined;
const archiveOnce = (service: Service): Promise<Buffer> => {
  full ??= fullArchive(service);
  return full;
};

type Expect = (ground: StoryGround, ended: ProjectImport | undefined) => Promise<string[]>;

/** The import of an archive, whose request is killed. */
async function byRequest(ground: StoryGround, archive: Buffer, expect: Expect): Promise<Plot> {
  const { token } = ground;
  const sha256 = createHash('sha256').update(archive).digest('hex');
  const asked = { query: { sha256, size: String(archive.length) }, token };
  const { upload } = await told(ground, asking('requestImport', asked));
  const { 'content-length': _, ...headers } = upload.headers;
  const sent = await fetch(upload.url, { method: upload.method, headers, body: new Uint8Array(archive) });
  if (!sent.ok) throw new Error(await sent.text());
  return {
    deed: { request: asking('putImport', { query: { sha256 }, token }) },
    // It was refused before.
    alsoAnswers: [409],
    faults: async () => expect(ground, await endedImport(ground, sha256)),
  };
}

/** The same, where the worker is killed that goes on with it. */
async function byWorker(ground: StoryGround, archive: Buffer, expect: Expect): Promise<Plot> {
  const sha256 = await beginImporting(labOf(ground), archive);
  return {
    deed: { archives: true },
    faults: async () => expect(ground, await endedImport(ground, sha256)),
  };
}

/** The project is there whole, and exports to the same bytes. */
const whole: Expect = async (ground, ended) => {
  const faults = unless('the import', [ended?.status, ended?.status_reason], ['SUCCEEDED', null]);
  if (ended === undefined || faults.length > 0) return faults;
  return lostFiles(ground, ended.project_id, await archiveOnce(ground.service));
};

/** All rules that it breaks are named, and there is no project. */
const refused: Expect = async ({ service }, ended) => {
  const unnamed = brokenRules.filter((rule) => ended?.status_reason?.includes(rule) !== true);
  const { items } = await findProjects(service.records, [ended?.project_id ?? '']);
  return [
    ...unless('the status', ended?.status, 'FAILED'),
    ...unless(`rules that "${ended?.status_reason}" does not name`, unnamed, []),
    ...unless('projects', items, []),
  ];
};

const good = ({ service }: StoryGround): Promise<Buffer> => archiveOnce(service);
const bad = async (ground: StoryGround): Promise<Buffer> => brokenArchive(await good(ground));

/** What follows an upload of an archive, in the request that begins the import and in the worker. */
export const archiveStories: readonly Story[] = [
  {
    name: 'a project is imported',
    prepare: async (ground) => byRequest(ground, await good(ground), whole),
  },
  {
    name: 'the worker imports a project',
    prepare: async (ground) => byWorker(ground, await good(ground), whole),
  },
  {
    name: 'an archive that breaks rules is refused',
    prepare: async (ground) => byRequest(ground, await bad(ground), refused),
  },
  {
    name: 'the worker refuses an archive that breaks rules',
    prepare: async (ground) => byWorker(ground, await bad(ground), refused),
  },
];
