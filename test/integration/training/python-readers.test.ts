import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { setValues } from '../../../shared/config/set-values/set-values.ts';
import { typedValue } from '../../../shared/config/set-values/typed-value.ts';
import { everySample } from '../../support/samples.ts';

const run = promisify(execFile);
const scratch = join(tmpdir(), `python-readers-${process.pid}`);
const python = join(scratch, 'venv/bin/python');

afterAll(() => rm(scratch, { recursive: true, force: true }));

/** Whether pip gets the readers. `npm test` asks no package index. */
async function canGetReaders(): Promise<boolean> {
  if (!everySample) return false;
  try {
    await run('python3', ['-m', 'venv', join(scratch, 'venv')]);
    const packages = ['pyyaml==6.0.3', 'ruamel.yaml', 'omegaconf'];
    await run(python, ['-m', 'pip', 'install', '--quiet', '--retries', '0', ...packages]);
    return true;
  } catch {
    return false;
  }
}

/** A value as typed after `-S k=`, and as Python writes it. */
const typed = [
  ...[
    '#ff0000',
    'run #3',
    '&a',
    '!tag',
    '@a',
    '%x',
    '*.csv',
    'a: b',
    '- a',
    '| x',
    '1:30',
    '2026-01-01',
    '1_000',
  ],
  ...[
    '0b11',
    'yes',
    'NO',
    'off',
    'y',
    '=',
    '<<',
    'inf',
    'nan',
    "it's",
    'a,b',
    '\u0085\u2028\u007f',
    ' a ',
    'a\tb',
    '😀',
  ],
].map((text) => [text, text] as const);
const others = [
  ...[
    ['1e-7', 1e-7],
    ['1e21', 1e21],
    ['5.', 5],
    ['-.5e3', -500],
    ['1.0', 1],
  ].map(([text, value]) => [text, { float: value }]),
  ...[
    ['007', '7'],
    ['0o10', '8'],
    ['0x1F', '31'],
    ['12345678901234567890', '12345678901234567890'],
  ].map(([text, value]) => [text, { int: value }]),
  ['True', true],
  ['"5"', '5'],
  ['["a: b", no, 1]', ['a: b', 'no', { int: '1' }]],
];

const script = `
import io, json, sys, tomllib, yaml
from omegaconf import OmegaConf
from ruamel.yaml import YAML
def ruamel(version):
    reader = YAML(typ='safe', pure=True)
    reader.version = version
    return reader.load
readers = {
    '.yaml': [yaml.safe_load, ruamel('1.1'), ruamel('1.2'), lambda text: OmegaConf.to_container(OmegaConf.load(io.StringIO(text)))],
    '.json': [json.loads],
    '.toml': [tomllib.loads],
}
def value(one):
    if isinstance(one, list): return [value(item) for item in one]
    if isinstance(one, dict): return float(one['float']) if 'float' in one else int(one['int'])
    return one
def same(a, b):
    return type(a) is type(b) and (all(map(same, a, b)) if isinstance(a, list) else a == b)
for name, text, expected in json.load(open(sys.argv[1])):
    for read in readers[name]:
        found = read(text)['k']
        if not same(found, value(expected)): print(name, repr(text), repr(found))
`;

test.runIf(await canGetReaders())(
  'a value of -S reads the same in PyYAML, ruamel, OmegaConf, json and tomllib',
  async () => {
    const texts = { '.yaml': 'k: 0\n', '.json': '{"k": 0}', '.toml': 'k = 0\n' };
    const written = [...typed, ...others].flatMap(([text, expected]) =>
      Object.entries(texts).map(([ending, before]) => [
        ending,
        setValues(`a${ending}`, before, [{ path: ['k'], value: typedValue(String(text)) }]),
        expected,
      ]),
    );
    await writeFile(join(scratch, 'written.json'), JSON.stringify(written));

    const { stdout } = await run(python, ['-c', script, join(scratch, 'written.json')]);

    expect(stdout).toBe('');
  },
);
