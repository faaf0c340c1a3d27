import { canonicalJson } from '../../../shared/project-archive/canonical-json.ts';
import { layoutOf } from '../../../shared/project-archive/zip-layout.ts';
import { testService } from '../../support/service.ts';
import { archiveLab, exported } from './archive-lab.ts';
import { recordProject } from './archived-project.ts';
import { type ArchivedFiles as Files, filesOf, packed } from './repacked-archive.ts';

export const service = await testService();
const { user } = await service.user('developer');
export const lab = archiveLab(service, user);
export const good = await exported(
  lab,
  await recordProject(lab, {
    description: 'Reads digits',
    configs: { 'train.yaml': ['lr: 0.1\n'] },
    hasEnvironment: true,
    source: Buffer.from('source'),
    datasets: {},
    experiments: [
      {
        isTrained: true,
        tags: {},
        note: '',
        points: [{ name: 'loss', value: 1, step: 1, time: Date.parse('2026-01-02T03:04:05.006Z') }],
        lines: ['printed'],
        artifacts: { 'a.txt': Buffer.from('a') },
        hasParent: false,
      },
    ],
    models: [],
  }),
);

/** The files with one of them changed. */
const changed = (path: string, change: (text: string) => string): Files =>
  filesOf(good).map(([name, bytes, claimed = {}]) =>
    name === path ? [name, Buffer.from(change(bytes.toString('utf8'))), claimed] : [name, bytes, claimed],
  );
const experiment = 'experiments/000001/experiment.json';
const json = (path: string, change: object): Files =>
  changed(path, (text) => canonicalJson({ ...JSON.parse(text), ...change }));
const more = (path: string, text = 'x'): Files => [...filesOf(good), [path, Buffer.from(text)]];
const flipped = (at: number): Buffer => {
  const bytes = Buffer.from(good);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  return bytes;
};
const fields = (change: object): Files =>
  changed(experiment, (text) => {
    const document = JSON.parse(text);
    return canonicalJson({ ...document, fields: { ...document.fields, ...change } });
  });

export const hostile: Readonly<Record<string, [archive: Buffer, reason: RegExp]>> = {
  'no zip at all': [Buffer.from('hello'), /not an unchanged archive of this service/],
  'an empty zip': [
    layoutOf([]).segments.map((one) => (one.of === 'bytes' ? one.make() : Buffer.alloc(0)))[0] ??
      Buffer.alloc(22),
    /not an unchanged archive of this service/,
  ],
  'one that is cut short': [good.subarray(0, -1), /not an unchanged archive of this service/],
  'one with bytes behind its end': [
    Buffer.concat([good, Buffer.from('x')]),
    /not an unchanged archive of this service/,
  ],
  'a newer format': [
    packed(filesOf(good), (one) => ({ ...one, format: 4 })),
    /its format is 4, but this version .* reads formats up to 3/,
  ],
  'a format that is no number': [
    packed(filesOf(good), (one) => ({ ...one, format: '1' })),
    /not an unchanged archive of this service/,
  ],
  'a manifest that says more': [
    packed(filesOf(good), (one) => ({ ...one, more: true })),
    /not an unchanged archive of this service/,
  ],
  'a byte of the directory that is another': [flipped(good.length - 60), /directory does not match/],
  'a byte of a file that is another': [flipped(good.indexOf('printed')), /does not match its digest/],
  'a wrong digest': [
    packed(
      filesOf(good).map(([path, bytes], index) =>
        index === 3 ? [path, bytes, { sha256: 'a'.repeat(64) }] : [path, bytes],
      ),
    ),
    /digest/,
  ],
  'a path out of the archive': [
    packed(more('experiments/000001/artifacts/../../../etc/passwd')),
    /has no file/,
  ],
  'an absolute path': [packed(more('/etc/passwd')), /has no file/],
  'a file that no format knows': [packed(more('virus.exe')), /has no file "virus.exe"/],
  'a file twice': [packed([...filesOf(good), ...filesOf(good).slice(-1)]), /twice/],
  'a file of an experiment that is not there': [packed(more('experiments/000007/artifacts/x')), /cannot/],
  'experiments that leave out a number': [packed(more('experiments/000003/experiment.json', '{}')), /cannot/],
  'a source under the name of another': [
    packed(
      filesOf(good).map(([path, bytes]) =>
        path.startsWith('sources/') ? [`sources/${'b'.repeat(64)}`, bytes] : [path, bytes],
      ),
    ),
    /does not match its name/,
  ],
  'a project that names a source which is missing': [
    packed(filesOf(good).filter(([path]) => !path.startsWith('sources/'))),
    /is missing/,
  ],
  'a field that no document has': [
    packed(json(experiment, { owner_id: '01h00000000000000000000000' })),
    /does not match this format/,
  ],
  'the id of somebody else’s experiment': [
    packed(json(experiment, { rerun_of: '01h00000000000000000000000' })),
    /does not match this format/,
  ],
  'a number of no experiment': [packed(json(experiment, { rerun_of: 2 })), /refers to experiment 2/],
  'an experiment that never ends': [packed(json(experiment, { status: 'RUNNING' })), /RUNNING/],
  'a number that no table takes': [
    packed(json(experiment, { cost_estimate: 1e300 })),
    /does not match this format/,
  ],
  'half a character': [packed(fields({ note: '\ud800' })), /does not match this format/],
  'a reference to nothing': [packed(fields({ note: '~e9~' })), /refers to the missing number 9/],
  'JSON in another order': [
    packed(
      changed(experiment, (text) =>
        JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(text)).reverse())),
      ),
    ),
    /does not match this format/,
  ],
  'JSON of any depth': [packed(changed(experiment, () => '['.repeat(100_000))), /does not match this format/],
  'a document without an end': [
    packed(changed(experiment, (text) => text.padEnd(10_000_000))),
    /at most 9000000 are allowed/,
  ],
  'tags beyond all measure': [
    packed(
      fields({
        tags: { a: 'x'.repeat(99_000), b: 'x'.repeat(99_000), c: 'x'.repeat(99_000), d: 'x'.repeat(99_000) },
      }),
    ),
    /exceeds the limit of one item/,
  ],
  'a point that is none': [
    packed(
      changed('experiments/000001/metrics.ndjson', () => '["loss","much",1,"2026-01-02T03:04:05.006Z"]\n'),
    ),
    /line 1 of/,
  ],
  'a line without an end': [
    packed(changed('experiments/000001/log-0.ndjson', () => 'x'.repeat(300_000))),
    /a line has more than/,
  ],
  'a configuration that lacks its version': [
    packed(filesOf(good).filter(([path]) => path !== 'configs/train.yaml/1')),
    /no version|lacks/,
  ],
};
