import { beforeAll, expect, test } from 'vitest';
import { endpoint as logMetrics } from '../../../functions/experiments/metrics/log-metrics.endpoint.ts';
import { endpoint as downloadSharedFile } from '../../../functions/links/download-shared-file.endpoint.ts';
import { endpoint as listSharedFiles } from '../../../functions/links/list-shared-files.endpoint.ts';
import { endpoint as readShared } from '../../../functions/links/read-shared.endpoint.ts';
import { endpoint as readSharedChart } from '../../../functions/links/read-shared-chart.endpoint.ts';
import { endpoint as updateProject } from '../../../functions/projects/projects/update-project.endpoint.ts';
import { endpoint as putVariables } from '../../../functions/projects/variables/put-variables.endpoint.ts';
import { type PeopledService, type Person, peopledService } from '../access/people.ts';
import { json } from '../users/body.ts';
import { madeLink, reader, recordedRun, sentFile } from './shared-run.ts';

let service: PeopledService;
let owner: Person;
beforeAll(async () => {
  service = await peopledService();
  const made = await service.user('developer', 'ada-lovelace');
  owner = { ...service.people.developer, ...made };
});

const numbers = Array.from({ length: 10 }, (_, index) => index);
const hex = (index: number) => `${index}c0ffee${index}b${'0a1b2c3d4e5f'.slice(index)}${index}`;

/** Ten of each kind. */
const secrets = {
  variables: numbers.map((index) => `variable-secret-${index}`),
  users: [
    'ada-lovelace',
    'Ada-Lovelace',
    'grace.hopper',
    'u-turing',
    'ghopper',
    'kjohnson',
    'mhamilton',
    'blovelace',
    'emmy',
    'rfranklin',
  ],
  paths: numbers.map((index) => `/home/u${index}secret/runs-${index}`),
  hosts: numbers.map((index) => `gpu-node-${index}x.lab${index}.example.org`),
  commits: numbers.map(hex),
};

test('an anonymous link tells none of 50 secrets in any answer', async () => {
  const project_id = await service.projectOf(owner.user);
  await service.share(project_id, await service.user('viewer', 'grace.hopper'), 'viewer');
  const values = secrets.variables.map((value, index) => ({
    name: `V${index}`,
    value,
    secret: index % 2 === 0,
  }));
  await service.call(putVariables, { as: owner, path: { project_id }, ...json({ variables: values }) });
  const texts = {
    project_name: `Digits of ${secrets.users[1]}`,
    project_description: `${secrets.paths[9]} on ${secrets.hosts[9]}`,
  };
  await service.call(updateProject, { as: owner, path: { project_id }, ...json(texts) });
  const body = {
    name: `run of ${secrets.users[0]}`,
    note: [
      secrets.users[3],
      secrets.paths[0],
      secrets.hosts[0],
      secrets.commits[0],
      secrets.variables[0],
    ].join(' '),
    tags: {
      'mlflow.user': secrets.users[4],
      'mlflow.source.name': secrets.paths[1],
      'mlflow.source.git.commit': secrets.commits[1],
      'mlflow.source.git.repoURL': `git@${secrets.hosts[1]}:${secrets.users[5]}/repo.git`,
      hostname: secrets.hosts[2],
      reviewer: secrets.users[6],
      comment: `${secrets.commits[2]} ${secrets.paths[2]}`,
    },
    params: {
      lr: '0.1',
      epochs: '20',
      data: secrets.paths[3],
      output_dir: secrets.paths[4],
      author: secrets.users[7],
      owner: secrets.users[8],
      master: secrets.hosts[3],
      url: `https://${secrets.hosts[4]}/x`,
      mail: `x@${secrets.hosts[5]}`,
      revision: secrets.commits[3],
      checkpoint: `model-${secrets.commits[4]}.pt`,
      cmd: `python ${secrets.paths[5]}/train.py --user ${secrets.users[9]}`,
      tracker: `wandb ${secrets.hosts[6]}`,
      by: secrets.users[2],
      user: secrets.users[9],
    },
    git: { commit: '3f2a9c1', branch: `${secrets.users[9]}-branch`, dirty: false },
  };
  const experiment_id = await recordedRun(service, owner, project_id, body);
  const path = { project_id, experiment_id };
  const named = [
    `${secrets.users[7]}/loss`,
    `acc_${secrets.commits[5]}`,
    `io ${secrets.paths[6]}`,
    `time@${secrets.hosts[7]}`,
  ];
  const metrics = named.map((name) => ({ name, value: 1, step: 1 }));
  await service.call(logMetrics, { as: owner, path, ...json({ metrics }) });
  for (const file of [
    `home/${secrets.users[0]}/model.bin`,
    `runs/${secrets.commits[6]}.bin`,
    `${secrets.hosts[8]}/log.txt`,
    'weights.bin',
  ])
    await sentFile(service, owner, { ...path, path: file });
  const subject = { kind: 'experiment', experiment_id };

  const { secret } = await madeLink(service, owner, project_id, { subject, anonymous: true, files: true });
  const ask = await reader(service, secret);
  const query = { experiment: experiment_id };
  const shown = await ask(readShared);
  const answers = [
    shown,
    await ask(readSharedChart, query),
    await ask(listSharedFiles, query),
    await ask(downloadSharedFile, query, { path: 'weights.bin' }),
    await ask(downloadSharedFile, query, { path: `home/${secrets.users[0]}/model.bin` }),
  ];
  const open = await madeLink(service, owner, project_id, { subject });
  const openly = await (await reader(service, open.secret))(readShared);

  const said = answers
    .map(({ text, headers }) => `${text} ${JSON.stringify(headers)}`.toLowerCase())
    .join('\n');
  const found = Object.values(secrets)
    .flat()
    .filter((one) => said.includes(one.toLowerCase()));
  expect(found).toEqual([]);
  expect(Object.values(secrets).flat()).toHaveLength(50);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 302, 404]);
  expect(shown.json.experiments[0]).toMatchObject({
    name: 'Experiment 1',
    params: { lr: '0.1', epochs: '20' },
    metrics: { loss: { count: 3 } },
    tags: {},
  });
  expect(answers[2]?.json.map((one: { path: string }) => one.path)).toEqual(['weights.bin']);
  // Variables are in no link at all; the rest shows that the texts were there to be found.
  expect(
    secrets.variables.filter(
      (one) =>
        openly.json.experiments[0].params && JSON.stringify(openly.json.experiments[0].params).includes(one),
    ),
  ).toEqual([]);
  expect(openly.text).toContain(secrets.hosts[2]);
});

test('a link hides its params wherever their names and values are', async () => {
  const project_id = await service.projectOf(owner.user);
  const body = {
    name: 'run with secret-sauce of 42',
    note: 'The secret_sauce is 0.00037.',
    tags: { plain: 'yes', recipe: 'Secret_Sauce', scale: '0.00037', secret_sauce: '1' },
    params: {
      epochs: '20',
      secret_sauce: '0.00037',
      'cook.secret_sauce': '43',
      'secret_sauce.heat': '44',
      schedule: 'after secret_sauce',
      flags: '--secret-sauce 45',
      copy: 'is 0.00037',
    },
  };
  const experiment_id = await recordedRun(service, owner, project_id, body);
  const path = { project_id, experiment_id };
  const metrics = ['secret_sauce', 'train/secret_sauce'].map((name) => ({ name, value: 46, step: 1 }));
  await service.call(logMetrics, { as: owner, path, ...json({ metrics }) });
  for (const file of ['secret_sauce/a.bin', 'b.bin']) await sentFile(service, owner, { ...path, path: file });
  const subject = { kind: 'experiment', experiment_id };
  const { secret } = await madeLink(service, owner, project_id, {
    ...{ subject, files: true },
    hide: ['secret_sauce'],
  });
  const ask = await reader(service, secret);
  const query = { experiment: experiment_id };

  const shown = await ask(readShared);
  const answers = [shown, await ask(readSharedChart, query), await ask(listSharedFiles, query)];
  const download = await ask(downloadSharedFile, query, { path: 'secret_sauce/a.bin' });

  expect(shown.json.experiments[0]).toMatchObject({
    ...{ name: 'Experiment 1', note: null, tags: { plain: 'yes' } },
    ...{ params: { epochs: '20' }, metrics: { loss: { count: 3 } } },
  });
  expect(Object.keys(shown.json.experiments[0].params)).toEqual(['epochs']);
  expect(
    answers
      .map(({ text }) => text)
      .join()
      .match(/secret.sauce|0\.00037/gi),
  ).toBeNull();
  expect(download.status).toBe(404);
});
