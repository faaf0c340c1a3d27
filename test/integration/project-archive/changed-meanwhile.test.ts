import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { ZipFile } from 'yazl';
import { endpoint as deleteExperiment } from '../../../functions/experiments/records/delete-experiment.endpoint.ts';
import { endpoint as putEnvironment } from '../../../functions/projects/environment/put-environment.endpoint.ts';
import { endpoint as putSource } from '../../../functions/projects/uploads/put-source.endpoint.ts';
import { endpoint as requestSource } from '../../../functions/projects/uploads/request-source-upload.endpoint.ts';
import { endpoint as putVariable } from '../../../functions/projects/variables/put-variable.endpoint.ts';
import { listExperiments } from '../../../shared/data/experiments/experiment.ts';
import { findEnvironment } from '../../../shared/data/projects/environment.ts';
import { countersKey } from '../../../shared/data/projects/project.ts';
import { findImport, type ProjectImport } from '../../../shared/data/projects/project-archives.ts';
import { findSource } from '../../../shared/data/projects/upload.ts';
import { readVariables } from '../../../shared/data/projects/variable.ts';
import { everySample } from '../../support/samples.ts';
import { testService } from '../../support/service.ts';
import { archiveLab, beginImporting, dyingAt, exported, passOverImport } from './archive-lab.ts';
import { recordProject } from './archived-project.ts';

const service = await testService();
const owner = await service.user('developer');
const lab = archiveLab(service, owner.user);
const archive = await exported(
  lab,
  await recordProject(lab, {
    description: 'Reads digits',
    configs: { 'train.yaml': ['lr: 0.1\n'] },
    hasEnvironment: true,
    source: Buffer.from('a source'),
    datasets: {},
    experiments: ['one', 'two'].map((line) => ({
      isTrained: true,
      tags: {},
      note: '',
      points: [],
      lines: [line],
      artifacts: { a: Buffer.from('a') },
      hasParent: false,
    })),
    models: [{ MLmodel: Buffer.from('flavors: {}') }],
  }),
);
/** `npm run proof -- fuzz` stops an import before each call that changes something, `npm test` before some. */
const every = process.env['FUZZ_SEED'] === undefined ? 3 : 1;

/** Imports with a crash before a call of each number, after which the owner may act; tells each import that had its project by then. */
async function interrupted(
  meanwhile: (project_id: string) => Promise<void>,
  judge: (value: ProjectImport, call: number) => Promise<void>,
): Promise<number> {
  let judged = 0;
  for (let call = 1; ; call += every) {
    const sha256 = await beginImporting(lab, archive);
    const dying = dyingAt(lab, call);
    await passOverImport(dying.lab, sha256).catch(() => undefined);
    const found = await findImport(lab.records, owner.user.user_id, sha256);
    const isThere = found?.stage === 'recording';
    if (isThere) await meanwhile(found.project_id);
    const value = await passOverImport(lab, sha256);
    expect([call, value.status, value.status_reason]).toEqual([call, 'SUCCEEDED', null]);
    if (isThere) {
      await judge(value, call);
      judged += 1;
    }
    if (!dying.died()) return judged;
    expect(call).toBeLessThan(200);
  }
}

const zip = new ZipFile();
zip.addBuffer(Buffer.from('of its owner'), 'train.py');
zip.end();
const own = await buffer(zip.outputStream);
const ownSha256 = createHash('sha256').update(own).digest('hex');

/** What an owner does who does not wait for the end of the import. */
async function store(project_id: string): Promise<void> {
  const of = { path: { project_id }, as: owner };
  const answers = [
    await service.call(putEnvironment, {
      ...of,
      query: { entry_point_command: 'python mine.py', env_type: 'system', dependencies: 'none' },
    }),
    await service.call(putVariable, {
      path: { project_id, name: 'MINE' },
      as: owner,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ value: 'a secret of its owner', secret: true }),
    }),
  ];
  const query = { sha256: ownSha256, size: String(own.length) };
  const { upload } = (await service.call(requestSource, { ...of, query })).json;
  const { 'content-length': _, ...headers } = upload.headers;
  await fetch(upload.url, { method: 'PUT', headers, body: new Uint8Array(own) });
  answers.push(await service.call(putSource, { ...of, query: { sha256: ownSha256 } }));
  expect(answers.filter(({ status }) => status >= 300).map(({ text }) => text)).toEqual([]);
}

test.runIf(everySample)('what its owner stores in a project while it is imported stays', async () => {
  const judged = await interrupted(store, async ({ project_id }, call) => {
    const environment = await findEnvironment(lab.records, project_id);
    const { variables } = await readVariables(lab.records, project_id);
    const source = await findSource(lab.records, project_id);

    expect([
      call,
      environment?.entry_point_command,
      variables.map(({ name }) => name).sort(),
      source?.sha256,
    ]).toEqual([call, 'python mine.py', ['MINE', 'REGION'], ownSha256]);
  });
  expect(judged).toBeGreaterThan(3);
});

test.runIf(everySample)(
  'an experiment that its owner deletes while it is imported does not come back',
  async () => {
    let deleted: string[] = [];
    const remove = async (project_id: string) => {
      const { items } = await listExperiments(lab.records, project_id, {});
      deleted = items.map(({ experiment_id }) => experiment_id);
      for (const experiment_id of deleted) {
        const answer = await service.call(deleteExperiment, {
          path: { project_id, experiment_id },
          as: owner,
        });
        expect(answer.status).toBeLessThan(300);
      }
    };
    const judged = await interrupted(remove, async ({ project_id }, call) => {
      const { items } = await listExperiments(lab.records, project_id, {});
      const counters = await lab.records.get(countersKey(project_id));

      const back = items.map(({ experiment_id }) => experiment_id).filter((id) => deleted.includes(id));
      const left = 2 - deleted.length;
      expect([call, back, items.length, counters?.['experiments']]).toEqual([call, [], left, left]);
    });
    expect(judged).toBeGreaterThan(3);
  },
);
