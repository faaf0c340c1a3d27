import { expect, test } from 'vitest';
import { listRegisteredModels, modelVersions } from '../../../shared/data/models/registered-model.ts';
import { canonicalJson } from '../../../shared/project-archive/canonical-json.ts';
import { testService } from '../../support/service.ts';
import { archiveLab, exported, imported } from './archive-lab.ts';
import { recordProject } from './archived-project.ts';
import { type ArchivedFiles, filesOf, packed } from './repacked-archive.ts';

const service = await testService();
const lab = archiveLab(service, (await service.user('developer')).user);
const good = await exported(
  lab,
  await recordProject(lab, {
    description: 'Reads digits',
    configs: {},
    hasEnvironment: false,
    source: Buffer.from('source'),
    datasets: {},
    experiments: [
      { isTrained: true, tags: {}, note: '', points: [], lines: [], artifacts: {}, hasParent: false },
    ],
    models: [],
    hasRegistry: true,
  }),
);
const elsewhere = archiveLab(await testService(), lab.user);

const model = 'registry/000001/model.json';
const versions = 'registry/000001/versions.ndjson';
const without = (path: string): ArchivedFiles => filesOf(good).filter(([name]) => name !== path);
const changed = (path: string, change: (text: string) => string): ArchivedFiles =>
  filesOf(good).map(([name, bytes, claimed = {}]) =>
    name === path ? [name, Buffer.from(change(bytes.toString('utf8'))), claimed] : [name, bytes, claimed],
  );
const ofModel = (change: object): ArchivedFiles =>
  changed(model, (text) => canonicalJson({ ...JSON.parse(text), ...change }));
const ofVersions = (change: (lines: string[]) => string[]): ArchivedFiles =>
  changed(versions, (text) => `${change(text.trimEnd().split('\n')).join('\n')}\n`);
const ofVersion = (change: object): ArchivedFiles =>
  ofVersions(([first = '', ...rest]) => [canonicalJson({ ...JSON.parse(first), ...change }), ...rest]);

const notThis = /does not match this format/;
const hostile: Readonly<Record<string, [files: ArchivedFiles, reason: RegExp, format?: 1 | 2]>> = {
  'a registry in an archive of the format before it': [filesOf(good), /format 1 has no file "registry/, 1],
  'a model without versions': [without(versions), /has no versions/],
  'versions without a model': [without(model), /cannot/],
  'a model with versions of none': [changed(versions, () => ''), /has no versions/],
  'models that leave out a number': [
    filesOf(good).map(([name, ...rest]) => [name.replace('registry/000002', 'registry/000003'), ...rest]),
    /cannot/,
  ],
  'a name that is a path': [ofModel({ name: '../digits' }), notThis],
  'a blank name': [ofModel({ name: ' ' }), notThis],
  'an alias of a version that is not contained': [
    ofModel({ aliases: { a: 2 } }),
    /an alias of a missing version/,
  ],
  'an alias that stands for a version': [ofModel({ aliases: { v4: 1 } }), notThis],
  'an owner': [ofModel({ owner_id: '01h00000000000000000000000' }), notThis],
  'a reference to nothing': [ofModel({ description: '~e9~' }), /refers to the missing number 9/],
  'versions in another order': [ofVersions((lines) => lines.toReversed()), /the line after version 4/],
  'a version twice': [
    ofVersions(([first = '', ...rest]) => [first, first, ...rest]),
    /the line after version 1/,
  ],
  'a version of no number': [ofVersion({ number: 0 }), /the line after version 0/],
  'files of the disk of who loads it': [
    ofVersion({ location: 'file:///etc/passwd' }),
    /the line after version \d+ in/,
  ],
  'files above its place': [
    ofVersion({ location: 'mlflow-artifacts:/~p~/../../x' }),
    /the line after version \d+ in/,
  ],
  'a source on a disk': [ofVersion({ source: '/etc/passwd' }), /the line after version \d+ in/],
  'a stage that is none': [ofVersion({ stage: 'Secret' }), /the line after version \d+ in/],
  'a version of an experiment that is not contained': [ofVersion({ run_id: '~p~-~e7~' }), /number 7/],
  'a version beyond all measure': [
    ofVersion({ tags: { a: '~e1~'.repeat(20_000) } }),
    /versions.ndjson exceeds the limit of one item/,
  ],
};

test.each(Object.entries(hostile))(
  'an archive is refused, and nothing is left of it, with %s',
  async (_, [files, reason, format]) => {
    const { status, status_reason } = await imported(elsewhere, packed(files, undefined, format));
    expect([status, status_reason]).toEqual(['FAILED', expect.stringMatching(reason)]);
    expect((await listRegisteredModels(elsewhere.records, {})).items).toEqual([]);
    expect((await elsewhere.records.query({ pk: modelVersions })).items).toEqual([]);
  },
);

test('two models of one name get two names', async () => {
  const there = archiveLab(await testService(), lab.user);
  await there.service.user('developer');
  const twice = filesOf(good).map(([name, bytes, claimed = {}]): ArchivedFiles[number] => {
    if (!name.endsWith('/model.json')) return [name, bytes, claimed];
    return [
      name,
      Buffer.from(canonicalJson({ ...JSON.parse(bytes.toString('utf8')), name: 'one' })),
      claimed,
    ];
  });
  const other = archiveLab(there.service, (await there.service.user('developer')).user);
  const { status, renamed } = await imported(other, packed(twice));
  expect([status, renamed]).toMatchObject(['SUCCEEDED', [{ name: 'one' }]]);
});
